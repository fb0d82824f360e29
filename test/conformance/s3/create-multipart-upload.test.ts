/** Operations: CreateMultipartUpload, UploadPart, AbortMultipartUpload. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { crc32, md5, md5Hex, sha256 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('an upload begins with bucket, key and an id of its own', async () => {
  const bucket = await s3.bucket()
  const answer = await succeeds(bucket.call('POST', { key: 'a b', query: 'uploads' }))
  assert.equal(answer.element('Bucket'), bucket.name)
  assert.equal(answer.element('Key'), 'a b')
  assert.notEqual(answer.element('UploadId'), await bucket.begin('a b'))
})

test('description, metadata and tags that it begins with are those of the object', async () => {
  const bucket = await s3.bucket()
  const headers = { 'content-type': 'text/csv', 'x-amz-meta-a': 'b', 'cache-control': 'no-cache' }
  const id = await bucket.begin('key', { ...headers, 'x-amz-tagging': 'a=1' })
  await succeeds(bucket.complete('key', id, [await bucket.part('key', id, 1, 'x')]))
  const head = await bucket.head('key')
  for (const [name, value] of Object.entries(headers)) assert.equal(head.header(name), value)
  assert.equal(head.header('x-amz-tagging-count'), '1')
})

test('the algorithm and type of its checksum are echoed', async () => {
  const bucket = await s3.bucket()
  const headers = { 'x-amz-checksum-algorithm': 'SHA256', 'x-amz-checksum-type': 'COMPOSITE' }
  const answer = await succeeds(bucket.call('POST', { key: 'key', query: 'uploads', headers }))
  for (const [name, value] of Object.entries(headers)) assert.equal(answer.header(name), value)
})

test('CRC64NVME has no COMPOSITE, SHA256 no FULL_OBJECT: 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  for (const [algorithm, type] of [
    ['CRC64NVME', 'COMPOSITE'],
    ['SHA256', 'FULL_OBJECT'],
    ['SHA1', 'FULL_OBJECT'],
  ]) {
    const headers = { 'x-amz-checksum-algorithm': algorithm ?? '', 'x-amz-checksum-type': type ?? '' }
    await fails(bucket.call('POST', { key: 'key', query: 'uploads', headers }), 400, 'InvalidRequest')
  }
})

test('a part answers the MD5 of what was sent as its ETag', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key')
  assert.equal((await bucket.part('key', id, 1, 'body')).etag, `"${md5Hex('body')}"`)
})

test('the last part of a number wins', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key')
  const old = await bucket.part('key', id, 1, 'old')
  const part = await bucket.part('key', id, 1, 'new')
  await fails(bucket.complete('key', id, [old]), 400, 'InvalidPart')
  await succeeds(bucket.complete('key', id, [part]))
  assert.equal((await bucket.get('key')).text, 'new')
})

test('part numbers are from 1 to 10,000: others answer 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  const uploadId = await bucket.begin('key')
  await bucket.part('key', uploadId, 10_000, 'x')
  for (const partNumber of [0, 10_001, -1, 'x']) {
    await fails(bucket.call('PUT', { key: 'key', query: { partNumber, uploadId }, body: 'x' }), 400, 'InvalidArgument')
  }
})

test('a wrong Content-MD5 or checksum of a part answers 400 BadDigest', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key', { 'x-amz-checksum-algorithm': 'CRC32' })
  const md5s = { 'content-md5': md5('y'), 'x-amz-checksum-crc32': crc32('x') }
  await fails(bucket.uploadPart('key', id, 1, 'x', md5s), 400, 'BadDigest')
  await fails(bucket.uploadPart('key', id, 1, 'x', { 'x-amz-checksum-crc32': crc32('y') }), 400, 'BadDigest')
})

test('a checksum of another algorithm than the upload began with answers 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key', { 'x-amz-checksum-algorithm': 'CRC32' })
  const headers = { 'x-amz-checksum-sha256': sha256('x') }
  await fails(bucket.uploadPart('key', id, 1, 'x', headers), 400, 'InvalidRequest')
})

test('calls on an upload that is not there answer 404 NoSuchUpload [mp-no-such-upload]', async () => {
  const bucket = await s3.bucket()
  const part = { number: 1, etag: `"${md5Hex('x')}"` }
  await fails(bucket.uploadPart('key', 'nothing', 1, 'x'), 404, 'NoSuchUpload')
  await fails(bucket.complete('key', 'nothing', [part]), 404, 'NoSuchUpload')
  await fails(bucket.call('DELETE', { key: 'key', query: { uploadId: 'nothing' } }), 404, 'NoSuchUpload')
  const id = await bucket.begin('key')
  await fails(bucket.uploadPart('other', id, 1, 'x'), 404, 'NoSuchUpload')
})

test('an aborted upload is gone with its parts', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key')
  const part = await bucket.part('key', id, 1, 'x')
  await succeeds(bucket.call('DELETE', { key: 'key', query: { uploadId: id } }), 204)
  await fails(bucket.complete('key', id, [part]), 404, 'NoSuchUpload')
  await fails(bucket.uploadPart('key', id, 2, 'x'), 404, 'NoSuchUpload')
  await fails(bucket.head('key'), 404)
})
