/** Operations: HeadObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { md5 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('headers of encryption are for who writes: GET, HEAD and GetObjectAttributes answer 400', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  const key = Buffer.alloc(32, 7)
  const customer = {
    'x-amz-server-side-encryption-customer-algorithm': 'AES256',
    'x-amz-server-side-encryption-customer-key': key.toString('base64'),
    'x-amz-server-side-encryption-customer-key-md5': md5(key),
  }
  for (const [code, headers] of [
    ['InvalidArgument', { 'x-amz-server-side-encryption': 'AES256' }],
    ['InvalidArgument', { 'x-amz-server-side-encryption': 'aws:kms' }],
    ['InvalidArgument', { 'x-amz-server-side-encryption-aws-kms-key-id': 'key' }],
    ['InvalidRequest', customer],
  ] as const) {
    await fails(bucket.head('key', headers), 400)
    await fails(bucket.get('key', headers), 400, code)
    const attributes = { ...headers, 'x-amz-object-attributes': 'ETag' }
    await fails(bucket.get('key', attributes, 'attributes'), 400, code)
  }
  await fails(bucket.get('absent', customer), 404, 'NoSuchKey')
})

test('it answers what GetObject answers, without the body', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', '0123456789', { 'content-type': 'text/plain', 'x-amz-meta-a': 'b' })
  const [got, head] = [await bucket.get('key'), await succeeds(bucket.head('key'))]
  const alike = ['content-length', 'content-type', 'etag', 'last-modified', 'accept-ranges', 'x-amz-meta-a']
  for (const name of alike) assert.equal(head.header(name), got.must(name), name)
  assert.equal(head.body.length, 0)
})

test('errors are the status alone, with request ids', async () => {
  const bucket = await s3.bucket()
  const { headers, body } = await fails(bucket.head('absent'), 404)
  assert.equal(body.length, 0)
  assert.ok(headers['x-amz-request-id'] !== undefined)
  await fails(bucket.call('HEAD', { key: 'absent', signing: 'anonymous' }), 403)
  await fails(s3.unmade().head('key'), 404)
})

test('conditions answer 304 and 412', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'x')
  await succeeds(bucket.head('key', { 'if-none-match': etag }), 304)
  await fails(bucket.head('key', { 'if-match': '"other"' }), 412)
})

test('a range answers 206 with the length of the range', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', '0123456789')
  const answer = await succeeds(bucket.head('key', { range: 'bytes=2-4' }), 206)
  assert.equal(answer.header('content-length'), '3')
  assert.equal(answer.header('content-range'), 'bytes 2-4/10')
  await fails(bucket.head('key', { range: 'bytes=10-' }), 416)
})

test('a given version is told, a delete marker answers 404, and its version 405', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const versionId = (await bucket.put('key', 'four')).must('x-amz-version-id')
  const marker = (await succeeds(bucket.delete('key'), 204)).must('x-amz-version-id')
  assert.equal((await succeeds(bucket.head('key', {}, { versionId }))).header('content-length'), '4')
  assert.equal((await fails(bucket.head('key'), 404)).header('x-amz-delete-marker'), 'true')
  await fails(bucket.head('key', {}, { versionId: marker }), 405)
})
