/** Operations: PutObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('If-None-Match * writes where no object is [put-if-none-match-new]', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.put('key', 'first', { 'if-none-match': '*' }))
  assert.equal((await bucket.get('key')).text, 'first')
})

test('If-None-Match * answers 412 PreconditionFailed where one is, which stays [put-if-none-match-412]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'first')
  const refused = await fails(bucket.put('key', 'second', { 'if-none-match': '*' }), 412, 'PreconditionFailed')
  assert.equal(refused.element('Condition'), 'If-None-Match')
  assert.equal((await bucket.get('key')).text, 'first')
})

test('of eight writers with If-None-Match * at once exactly one writes [put-if-none-match-race]', async () => {
  const bucket = await s3.bucket()
  for (let round = 0; round < 5; round += 1) {
    const key = `key-${round}`
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => bucket.put(key, `writer ${at}`, { 'if-none-match': '*' })),
    )
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
    assert.ok(
      statuses.every((status) => [200, 409, 412].includes(status)),
      statuses.join(),
    )
    const winner = statuses.indexOf(200)
    assert.equal((await bucket.get(key)).text, `writer ${winner}`)
  }
})

test('If-Match with another ETag answers 412 PreconditionFailed [put-if-match-wrong-412]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'first')
  const other = await bucket.hold('other', 'other')
  await fails(bucket.put('key', 'second', { 'if-match': other }), 412, 'PreconditionFailed')
  assert.equal((await bucket.get('key')).text, 'first')
})

test('If-Match with the ETag of the object, with or without quotes, replaces it [put-if-match-right]', async () => {
  const bucket = await s3.bucket()
  const first = await bucket.hold('key', 'first')
  const { headers } = await succeeds(bucket.put('key', 'second', { 'if-match': first }))
  await succeeds(bucket.put('key', 'third', { 'if-match': String(headers.etag).replaceAll('"', '') }))
  assert.equal((await bucket.get('key')).text, 'third')
})

test('If-Match where no object is answers 404 NoSuchKey [put-if-match-missing-404]', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('other', 'x')
  await fails(bucket.put('key', 'x', { 'if-match': etag }), 404, 'NoSuchKey')
  await fails(bucket.head('key'), 404)
})

test('of writers who replace one version at once exactly one does', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'start')
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => bucket.put('key', `writer ${at}`, { 'if-match': etag })),
  )
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
  assert.equal((await bucket.get('key')).text, `writer ${statuses.indexOf(200)}`)
})

test('with versions the conditions look at the current one', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const first = await bucket.hold('key', 'first')
  const second = await bucket.hold('key', 'second')
  await fails(bucket.put('key', 'x', { 'if-match': first }), 412, 'PreconditionFailed')
  await succeeds(bucket.put('key', 'third', { 'if-match': second }))
})

test('a key whose current version is a delete marker counts as absent', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const etag = await bucket.hold('key', 'first')
  await succeeds(bucket.delete('key'), 204)
  await fails(bucket.put('key', 'x', { 'if-match': etag }), 404, 'NoSuchKey')
  await succeeds(bucket.put('key', 'again', { 'if-none-match': '*' }))
})

test('a condition that cannot hold is told before the body is sent', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'first')
  const body = Buffer.alloc(4 * 2 ** 20)
  const headers = { 'if-none-match': '*', expect: '100-continue' }
  await fails(bucket.put('key', body, headers), 412, 'PreconditionFailed')
})
