/** Operations: presigned requests of all operations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds, type Sent } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const presigned = { signing: 'presigned' } as const

test('whoever has the address reads, with response- parameters that were signed [presigned-get]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('a b', 'x')
  const query = { 'response-content-type': 'text/csv' }
  const answer = await succeeds(bucket.call('GET', { key: 'a b', query, ...presigned }))
  assert.equal(answer.text, 'x')
  assert.equal(answer.header('content-type'), 'text/csv')
})

test('PUT, HEAD and DELETE are presigned too', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.call('PUT', { key: 'key', body: 'x', ...presigned }))
  await succeeds(bucket.call('HEAD', { key: 'key', ...presigned }))
  await succeeds(bucket.call('DELETE', { key: 'key', ...presigned }), 204)
  await fails(bucket.head('key'), 404)
})

test('after it expired it answers 403 AccessDenied [presigned-expired]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  const request = { key: 'key', now: new Date(Date.now() - 120_000), expiresSeconds: 60, ...presigned }
  const answer = await fails(bucket.call('GET', request), 403, 'AccessDenied')
  assert.match(answer.element('Message') ?? '', /expired/)
  await succeeds(bucket.call('GET', { ...request, expiresSeconds: 180 }))
})

test('one for later than now answers 403', async () => {
  const bucket = await s3.bucket()
  const now = new Date(Date.now() + 20 * 60_000)
  await fails(bucket.call('GET', { now, ...presigned }), 403)
})

test('it is good for a week at most: longer answers 400 AuthorizationQueryParametersError', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.call('GET', { expiresSeconds: 604_800, ...presigned }))
  for (const expiresSeconds of [604_801, -1]) {
    await fails(bucket.call('GET', { expiresSeconds, ...presigned }), 400, 'AuthorizationQueryParametersError')
  }
})

test('the method, the key and the parameters cannot be changed', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await bucket.hold('kex', 'y')
  const changed = (tamper: (sent: Sent) => Sent) => bucket.call('GET', { key: 'key', tamper, ...presigned })
  await fails(
    changed((sent) => ({ ...sent, path: sent.path.replace('/key', '/kex') })),
    403,
    'SignatureDoesNotMatch',
  )
  await fails(
    changed((sent) => ({ ...sent, path: sent.path.replace('Expires=60', 'Expires=999') })),
    403,
    'SignatureDoesNotMatch',
  )
  await fails(
    changed((sent) => ({ ...sent, path: `${sent.path}&versionId=null` })),
    403,
    'SignatureDoesNotMatch',
  )
})

test('headers that were signed must come, as they were signed', async () => {
  const bucket = await s3.bucket()
  const request = { key: 'key', body: 'x', headers: { 'x-amz-meta-a': 'b' }, ...presigned }
  const without = (sent: Sent) => {
    const { 'x-amz-meta-a': _, ...headers } = sent.headers
    return { ...sent, headers }
  }
  assert.equal((await bucket.call('PUT', { ...request, tamper: without })).status, 403)
  await succeeds(bucket.call('PUT', request))
  assert.equal((await bucket.head('key')).header('x-amz-meta-a'), 'b')
})

test('conditions are kept: a presigned PUT with If-None-Match writes once', async () => {
  const bucket = await s3.bucket()
  const request = { key: 'key', body: 'x', headers: { 'if-none-match': '*' }, ...presigned }
  await succeeds(bucket.call('PUT', request))
  await fails(bucket.call('PUT', request), 412, 'PreconditionFailed')
})
