/** Operations: errors of all operations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('every answer has x-amz-request-id and x-amz-id-2, no two the same [request-ids]', async () => {
  const bucket = await s3.bucket()
  const answers = [
    await bucket.put('key', 'x'),
    await bucket.get('key'),
    await bucket.get('absent'),
    await bucket.head('absent'),
    await bucket.delete('key'),
    await bucket.call('GET', { signing: 'anonymous' }),
    await s3.call('GET'),
  ]
  const ids = answers.map((answer) => answer.must('x-amz-request-id'))
  assert.equal(new Set(ids).size, ids.length)
  for (const answer of answers) assert.ok(answer.must('x-amz-id-2') !== '')
})

test('an error is XML with Code, Message, Key or BucketName, RequestId and HostId [error-fields]', async () => {
  const bucket = await s3.bucket()
  const answer = await fails(bucket.get('a & b'), 404, 'NoSuchKey')
  assert.match(answer.must('content-type'), /^application\/xml/)
  assert.match(answer.text, /^<\?xml version="1\.0" encoding="UTF-8"\?>/)
  assert.ok((answer.element('Message') ?? '') !== '')
  assert.equal(answer.element('Key'), 'a & b')
  assert.equal(answer.element('RequestId'), answer.header('x-amz-request-id'))
  assert.equal(answer.element('HostId'), answer.header('x-amz-id-2'))
  const gone = s3.unmade()
  assert.equal((await fails(gone.call('GET'), 404, 'NoSuchBucket')).element('BucketName'), gone.name)
})

test('InvalidArgument names the argument and its value', async () => {
  const bucket = await s3.bucket()
  const answer = await fails(bucket.call('GET', { query: { 'max-keys': 'many' } }), 400, 'InvalidArgument')
  assert.equal(answer.element('ArgumentName'), 'max-keys')
  assert.equal(answer.element('ArgumentValue'), 'many')
})

test('a method that a resource does not have answers 405 MethodNotAllowed', async () => {
  const bucket = await s3.bucket()
  for (const [method, request] of [
    ['PATCH', { key: 'key' }],
    ['DELETE', { query: 'logging' }],
    ['PUT', { query: 'versions' }],
    ['POST', { key: 'key' }],
  ] as const) {
    const answer = await fails(bucket.call(method, request), 405, 'MethodNotAllowed')
    assert.ok(answer.must('allow') !== '')
  }
  await succeeds(bucket.call('HEAD'))
})

test('parameters that nobody knows change nothing', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  assert.equal((await succeeds(bucket.get('key', {}, { utm_source: 'mail' }))).text, 'x')
})

test('XML with entities or of another shape is refused, not run', async () => {
  const bucket = await s3.bucket()
  const bomb =
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' +
    '<VersioningConfiguration><Status>&x;</Status></VersioningConfiguration>'
  const answer = await fails(bucket.configure('versioning', bomb), 400, 'MalformedXML')
  assert.doesNotMatch(answer.text, /root:/)
})

test('a date and a server are told', async () => {
  const { headers } = await succeeds(s3.call('GET'))
  assert.ok(Math.abs(Date.parse(String(headers.date)) - Date.now()) < 60_000)
  assert.ok(headers.server !== undefined)
})
