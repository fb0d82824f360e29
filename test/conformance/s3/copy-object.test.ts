/** Operations: CopyObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { crc32, md5Hex, sha256 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const past = 'Thu, 01 Dec 2011 16:00:00 GMT'

test('an object is copied with its content, its description and its metadata', async () => {
  const bucket = await s3.bucket()
  const headers = { 'content-type': 'text/csv', 'cache-control': 'no-cache', 'x-amz-meta-a': 'b' }
  await bucket.hold('from', 'content', headers)
  const answer = await succeeds(bucket.copy('from', 'to'))
  assert.equal(answer.block('CopyObjectResult').element('ETag'), `"${md5Hex('content')}"`)
  assert.match(answer.element('LastModified') ?? '', /^\d{4}-\d\d-\d\dT/)
  const copied = await succeeds(bucket.get('to'))
  assert.equal(copied.text, 'content')
  for (const [name, value] of Object.entries(headers)) assert.equal(copied.header(name), value)
})

test('copies go between buckets, with or without a slash before the source', async () => {
  const [from, to] = [await s3.bucket(), await s3.bucket()]
  await from.hold('key', 'content')
  await succeeds(to.copy(`/${from.name}/key`, 'a'))
  await succeeds(to.call('PUT', { key: 'b', headers: { 'x-amz-copy-source': `${from.name}/key` } }))
  for (const key of ['a', 'b']) assert.equal((await to.get(key)).text, 'content')
})

test('the source is percent-encoded, where a plus sign is a plus sign', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('a b+c/ä?', 'odd')
  await succeeds(bucket.copy('a%20b%2Bc/%C3%A4%3F', 'to'))
  assert.equal((await bucket.get('to')).text, 'odd')
})

test('metadata directive REPLACE takes description and metadata from the request', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('from', 'x', { 'content-type': 'text/csv', 'x-amz-meta-a': 'old' })
  const headers = { 'x-amz-metadata-directive': 'REPLACE', 'content-type': 'text/html', 'x-amz-meta-b': 'new' }
  await succeeds(bucket.copy('from', 'to', headers))
  const copied = await bucket.head('to')
  assert.equal(copied.header('content-type'), 'text/html')
  assert.equal(copied.header('x-amz-meta-a'), undefined)
  assert.equal(copied.header('x-amz-meta-b'), 'new')
  await fails(bucket.copy('from', 'to', { 'x-amz-metadata-directive': 'MAYBE' }), 400, 'InvalidArgument')
})

test('tags are copied, and with tagging directive REPLACE taken from the request', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('from', 'x', { 'x-amz-tagging': 'a=1' })
  await succeeds(bucket.copy('from', 'same'))
  assert.deepEqual((await bucket.read('tagging', 'same')).elements('Key'), ['a'])
  const headers = { 'x-amz-tagging-directive': 'REPLACE', 'x-amz-tagging': 'b=2' }
  await succeeds(bucket.copy('from', 'other', headers))
  assert.deepEqual((await bucket.read('tagging', 'other')).elements('Key'), ['b'])
})

test('an object onto itself answers 400 InvalidRequest unless something changes [copy-to-self-400]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await fails(bucket.copy('key', 'key'), 400, 'InvalidRequest')
  const headers = { 'x-amz-metadata-directive': 'REPLACE', 'x-amz-meta-a': 'b' }
  await succeeds(bucket.copy('key', 'key', headers))
  assert.equal((await bucket.head('key')).header('x-amz-meta-a'), 'b')
})

test('If-None-Match * answers 412 PreconditionFailed when the destination is there [copy-if-none-match-412]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('from', 'new')
  await bucket.hold('to', 'old')
  await fails(bucket.copy('from', 'to', { 'if-none-match': '*' }), 412, 'PreconditionFailed')
  assert.equal((await bucket.get('to')).text, 'old')
  await succeeds(bucket.copy('from', 'fresh', { 'if-none-match': '*' }))
})

test('If-Match wants the destination as it is', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('from', 'new')
  const old = await bucket.hold('to', 'old')
  await fails(bucket.copy('from', 'to', { 'if-match': etag }), 412, 'PreconditionFailed')
  await succeeds(bucket.copy('from', 'to', { 'if-match': old }))
  await fails(bucket.copy('from', 'absent', { 'if-match': old }), 404, 'NoSuchKey')
})

test('conditions on the source that do not hold answer 412 PreconditionFailed', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('from', 'x')
  const when = 'x-amz-copy-source-if'
  const wrong = [
    { [`${when}-match`]: '"other"' },
    { [`${when}-none-match`]: etag },
    { [`${when}-unmodified-since`]: past },
    { [`${when}-modified-since`]: new Date(Date.now() - 1000).toUTCString(), [`${when}-none-match`]: etag },
  ]
  for (const headers of wrong) await fails(bucket.copy('from', 'to', headers), 412, 'PreconditionFailed')
  await fails(bucket.head('to'), 404)
  const right = { [`${when}-match`]: etag, [`${when}-unmodified-since`]: past }
  await succeeds(bucket.copy('from', 'to', right))
  await succeeds(bucket.copy('from', 'to', { [`${when}-none-match`]: '"other"', [`${when}-modified-since`]: past }))
})

test('a source that is not there answers 404 NoSuchKey, or NoSuchBucket', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.copy('absent', 'to'), 404, 'NoSuchKey')
  await fails(bucket.copy(`/${s3.freshName()}/key`, 'to'), 404, 'NoSuchBucket')
})

test('a source that names no key answers 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  for (const source of ['nothing', '/', '']) {
    await fails(bucket.call('PUT', { key: 'to', headers: { 'x-amz-copy-source': source } }), 400, 'InvalidArgument')
  }
})

test('any version is copied, and the answer tells of both versions', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const old = (await bucket.put('key', 'old')).must('x-amz-version-id')
  await bucket.hold('key', 'new')
  const answer = await succeeds(bucket.copy(`key?versionId=${old}`, 'to'))
  assert.equal(answer.header('x-amz-copy-source-version-id'), old)
  assert.equal(answer.header('x-amz-version-id'), (await bucket.head('to')).header('x-amz-version-id'))
  assert.equal((await bucket.get('to')).text, 'old')
})

test('an older version is made the current one by a copy onto its key', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const old = (await bucket.put('key', 'old')).must('x-amz-version-id')
  await bucket.hold('key', 'new')
  await succeeds(bucket.copy(`key?versionId=${old}`, 'key'))
  assert.equal((await bucket.get('key')).text, 'old')
  assert.equal((await bucket.versions()).elements('VersionId').length, 3)
})

test('a delete marker cannot be copied: 404 by its key, 400 by its version', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await bucket.hold('key', 'x')
  const marker = (await bucket.delete('key')).must('x-amz-version-id')
  await fails(bucket.copy('key', 'to'), 404, 'NoSuchKey')
  await fails(bucket.copy(`key?versionId=${marker}`, 'to'), 400, 'InvalidRequest')
})

test('the checksum is copied, or computed anew with x-amz-checksum-algorithm', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('from', '123456789', { 'x-amz-checksum-crc32': crc32('123456789') })
  const same = await succeeds(bucket.copy('from', 'same'))
  assert.equal(same.element('ChecksumCRC32'), crc32('123456789'))
  assert.equal(same.element('ChecksumType'), 'FULL_OBJECT')
  const anew = await succeeds(bucket.copy('from', 'anew', { 'x-amz-checksum-algorithm': 'SHA256' }))
  assert.equal(anew.element('ChecksumSHA256'), sha256('123456789'))
  const { headers } = await bucket.head('anew', { 'x-amz-checksum-mode': 'ENABLED' })
  assert.equal(headers['x-amz-checksum-sha256'], sha256('123456789'))
})

test('who may not read the source gets 403 AccessDenied', { skip: s3.lacksOther }, async () => {
  const [from, to] = [await s3.bucket(), await s3.bucket()]
  await from.hold('key', 'secret')
  const statement = { Effect: 'Allow', Principal: { AWS: s3.other.principal }, Action: 's3:*' }
  const Resource = [`arn:aws:s3:::${to.name}/*`, `arn:aws:s3:::${to.name}`]
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...statement, Resource }] })
  await succeeds(to.call('PUT', { query: 'policy', body: policy }), [200, 204])
  const headers = { 'x-amz-copy-source': `/${from.name}/key` }
  await fails(to.call('PUT', { key: 'to', headers, as: s3.other }), 403, 'AccessDenied')
  await fails(to.head('to'), 404)
})

test('a source that is not percent-encoded as it should be answers 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  for (const source of [`${bucket.name}/%ZZ`, '100%/key', `${bucket.name}/%A`, '%']) {
    const headers = { 'x-amz-copy-source': source }
    await fails(bucket.call('PUT', { key: 'key', headers }), 400, 'InvalidArgument')
    const uploadId = await bucket.begin('key')
    await fails(bucket.uploadPart('key', uploadId, 1, '', headers), 400, 'InvalidArgument')
  }
})

test('directives that there are not answer 400 InvalidArgument, also where nothing would change', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  for (const name of ['x-amz-metadata-directive', 'x-amz-tagging-directive']) {
    await fails(bucket.copy('key', 'key', { [name]: 'other' }), 400, 'InvalidArgument')
  }
})
