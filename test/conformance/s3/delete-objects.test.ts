/** Operations: DeleteObjects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { crc32, crc64nvme, sha256 } from './sums.ts'
import { openEndpoint } from './target.ts'
import { escaped, type Xml } from './xml.ts'

const s3 = await openEndpoint()
const object = (key: string, more = '') => `<Key>${escaped(key)}</Key>${more}`
const keysOf = (blocks: readonly Xml[]) => blocks.flatMap((one) => one.elements('Key'))

test('all that are named go, absent ones too, and each is told', async () => {
  const bucket = await s3.bucket()
  for (const key of ['a', 'b', 'c']) await bucket.hold(key)
  const answer = await succeeds(bucket.deleteMany([object('a'), object('b'), object('absent')]))
  assert.deepEqual(keysOf(answer.blocks('Deleted')), ['a', 'b', 'absent'])
  assert.deepEqual(await bucket.keys(), ['c'])
})

test('quiet tells of errors alone', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('a')
  const answer = await succeeds(bucket.deleteMany([object('a')], {}, true))
  assert.deepEqual(answer.blocks('Deleted'), [])
  assert.deepEqual(await bucket.keys(), [])
})

test('keys with characters of XML are taken as they are', async () => {
  const bucket = await s3.bucket()
  const keys = ['<&>', '"quoted"', ' blanks ', 'ä/日本', 'a+b%20c']
  for (const key of keys) await bucket.hold(key)
  const answer = await succeeds(bucket.deleteMany(keys.map((key) => object(key))))
  assert.deepEqual(keysOf(answer.blocks('Deleted')), keys)
  assert.deepEqual(await bucket.keys(), [])
})

test('a wrong ETag is an error of its key, the others go [deleteobjects-etag]', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('right', 'x')
  await bucket.hold('wrong', 'y')
  const answer = await succeeds(
    bucket.deleteMany([
      object('right', `<ETag>${escaped(etag)}</ETag>`),
      object('wrong', `<ETag>${escaped(etag)}</ETag>`),
    ]),
  )
  assert.deepEqual(keysOf(answer.blocks('Deleted')), ['right'])
  assert.equal(answer.block('Error').element('Key'), 'wrong')
  assert.equal(answer.block('Error').element('Code'), 'PreconditionFailed')
  assert.deepEqual(await bucket.keys(), ['wrong'])
})

test('Size and LastModifiedTime are conditions of their key', async () => {
  const bucket = await s3.bucket()
  for (const key of ['size', 'time', 'both']) await bucket.hold(key, 'four')
  const modified = (await bucket.head('both')).must('last-modified')
  const answer = await succeeds(
    bucket.deleteMany([
      object('size', '<Size>5</Size>'),
      object('time', '<LastModifiedTime>Thu, 01 Dec 2011 16:00:00 GMT</LastModifiedTime>'),
      object('both', `<Size>4</Size><LastModifiedTime>${modified}</LastModifiedTime>`),
    ]),
  )
  assert.deepEqual(keysOf(answer.blocks('Deleted')), ['both'])
  assert.deepEqual(answer.elements('Code'), ['PreconditionFailed', 'PreconditionFailed'])
})

test('with versions markers are made, and told by their version', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await bucket.hold('key', 'x')
  const answer = await succeeds(bucket.deleteMany([object('key')]))
  const deleted = answer.block('Deleted')
  assert.equal(deleted.element('DeleteMarker'), 'true')
  assert.equal(
    deleted.element('DeleteMarkerVersionId'),
    (await bucket.versions()).block('DeleteMarker').element('VersionId'),
  )
})

test('given versions go for good, markers among them', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const version = (await bucket.put('key', 'x')).must('x-amz-version-id')
  const marker = (await bucket.delete('key')).must('x-amz-version-id')
  const both = [version, marker].map((id) => object('key', `<VersionId>${id}</VersionId>`))
  const answer = await succeeds(bucket.deleteMany(both))
  const [first, second] = answer.blocks('Deleted')
  assert.equal(first?.element('VersionId'), version)
  assert.equal(second?.element('DeleteMarkerVersionId'), marker)
  assert.deepEqual((await bucket.versions()).elements('VersionId'), [])
})

test('what cannot be the name of a version is an error of its key, and one that is not there counts as deleted', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await bucket.put('key', 'x')
  const gone = (await bucket.put('gone', 'x')).must('x-amz-version-id')
  await succeeds(bucket.call('DELETE', { key: 'gone', query: { versionId: gone } }), 204)
  const asked = ['no-version', gone].map((id) => object('key', `<VersionId>${id}</VersionId>`))
  const answer = await succeeds(bucket.deleteMany(asked))
  assert.equal(answer.block('Deleted').element('VersionId'), gone)
  assert.equal(answer.block('Error').element('VersionId'), 'no-version')
  assert.equal(answer.block('Error').element('Code'), 'NoSuchVersion')
  assert.equal((await bucket.get('key')).text, 'x')
})

test('a checksum header is as good as Content-MD5 [deleteobjects-checksum]', async () => {
  const bucket = await s3.bucket()
  const document = `<Delete><Object>${object('a')}</Object></Delete>`
  const sums = { crc32: crc32(document), crc64nvme: crc64nvme(document), sha256: sha256(document) }
  for (const [algorithm, value] of Object.entries(sums)) {
    await bucket.hold('a')
    const headers = { [`x-amz-checksum-${algorithm}`]: value }
    await succeeds(bucket.call('POST', { query: 'delete', body: document, headers }))
    assert.deepEqual(await bucket.keys(), [])
  }
})

test('without Content-MD5 or checksum it answers 400 InvalidRequest, with a wrong one BadDigest', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('a')
  const document = `<Delete><Object>${object('a')}</Object></Delete>`
  const request = { query: 'delete', body: document, signing: 'unsigned' } as const
  await fails(bucket.call('POST', request), 400, 'InvalidRequest')
  const wrong = { ...request, headers: { 'x-amz-checksum-crc32': crc32('other') } }
  await fails(bucket.call('POST', wrong), 400, 'BadDigest')
  assert.deepEqual(await bucket.keys(), ['a'])
})

test('1,000 keys are taken', async () => {
  const bucket = await s3.bucket()
  const keys = Array.from({ length: 1000 }, (_, at) => `key-${at}`)
  const answer = await succeeds(bucket.deleteMany(keys.map((key) => object(key))))
  assert.equal(answer.blocks('Deleted').length, 1000)
})

test('more than 1,000 keys, no key, or no XML answer 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  const many = Array.from({ length: 1001 }, (_, at) => object(`key-${at}`))
  await fails(bucket.deleteMany(many), 400, 'MalformedXML')
  await fails(bucket.deleteMany([]), 400, 'MalformedXML')
  await fails(bucket.deleteMany(['']), 400, 'MalformedXML')
})

test('a key that may not be deleted is an error of that key', { skip: s3.lacksOther }, async () => {
  const bucket = await s3.bucket()
  for (const key of ['own/a', 'foreign/a']) await bucket.hold(key)
  const statement = {
    Effect: 'Allow',
    Principal: { AWS: s3.other.principal },
    Action: 's3:DeleteObject',
    Resource: `arn:aws:s3:::${bucket.name}/own/*`,
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await succeeds(bucket.call('PUT', { query: 'policy', body: policy }), [200, 204])
  const document = `<Delete><Object>${object('own/a')}</Object><Object>${object('foreign/a')}</Object></Delete>`
  const headers = { 'x-amz-checksum-crc32': crc32(document) }
  const answer = await succeeds(bucket.call('POST', { query: 'delete', body: document, headers, as: s3.other }))
  assert.deepEqual(keysOf(answer.blocks('Deleted')), ['own/a'])
  assert.equal(answer.block('Error').element('Key'), 'foreign/a')
  assert.equal(answer.block('Error').element('Code'), 'AccessDenied')
})
