/** Operations: ListParts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { crc32, md5Hex } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('parts are listed by number, with size, ETag, time and checksum', async () => {
  const bucket = await s3.bucket()
  const uploadId = await bucket.begin('key', { 'x-amz-checksum-algorithm': 'CRC32' })
  for (const [number, body] of [
    [7, 'seven'],
    [2, 'two'],
  ] as const) {
    await bucket.part('key', uploadId, number, body, { 'x-amz-checksum-crc32': crc32(body) })
  }
  const answer = await succeeds(bucket.call('GET', { key: 'key', query: { uploadId } }))
  assert.deepEqual(
    answer
      .blocks('Part')
      .map((part) => ['PartNumber', 'Size', 'ETag', 'ChecksumCRC32'].map((name) => part.element(name))),
    [
      ['2', '3', `"${md5Hex('two')}"`, crc32('two')],
      ['7', '5', `"${md5Hex('seven')}"`, crc32('seven')],
    ],
  )
  assert.equal(answer.element('Bucket'), bucket.name)
  assert.equal(answer.element('Key'), 'key')
  assert.equal(answer.element('UploadId'), uploadId)
  assert.equal(answer.element('IsTruncated'), 'false')
  assert.equal(answer.element('MaxParts'), '1000')
  assert.equal(answer.element('StorageClass'), 'STANDARD')
  assert.equal(answer.element('ChecksumAlgorithm'), 'CRC32')
  assert.ok((answer.block('Initiator').element('ID') ?? '') !== '')
})

test('max-parts and part-number-marker page through the parts', async () => {
  const bucket = await s3.bucket()
  const uploadId = await bucket.begin('key')
  for (const number of [1, 3, 5]) await bucket.part('key', uploadId, number, 'x')
  const list = (query: Record<string, number>) =>
    succeeds(bucket.call('GET', { key: 'key', query: { uploadId, ...query } }))
  const first = await list({ 'max-parts': 2 })
  assert.deepEqual(first.elements('PartNumber'), ['1', '3'])
  assert.equal(first.element('IsTruncated'), 'true')
  assert.equal(first.element('NextPartNumberMarker'), '3')
  const second = await list({ 'max-parts': 2, 'part-number-marker': 3 })
  assert.deepEqual(second.elements('PartNumber'), ['5'])
  assert.equal(second.element('IsTruncated'), 'false')
})

test('an upload that is not there answers 404 NoSuchUpload', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.call('GET', { key: 'key', query: { uploadId: 'nothing' } }), 404, 'NoSuchUpload')
  const uploadId = await bucket.begin('key')
  await fails(bucket.call('GET', { key: 'other', query: { uploadId } }), 404, 'NoSuchUpload')
})

test('wrong numbers answer 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  const uploadId = await bucket.begin('key')
  for (const query of [{ 'max-parts': 'x' }, { 'max-parts': -1 }, { 'part-number-marker': 'x' }]) {
    await fails(bucket.call('GET', { key: 'key', query: { uploadId, ...query } }), 400, 'InvalidArgument')
  }
})
