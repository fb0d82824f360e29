/** Operations: GetObjectAttributes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { composite, crc32, md5Hex } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const all = 'ETag,Checksum,ObjectParts,StorageClass,ObjectSize'

function attributes(bucket: Bucket, wanted: string, headers = {}, query = {}): Promise<Answer> {
  return bucket.call('GET', {
    key: 'key',
    query: { attributes: '', ...query },
    headers: { 'x-amz-object-attributes': wanted, ...headers },
  })
}

async function inParts(): Promise<Bucket> {
  const bucket = await s3.bucket()
  const headers = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'COMPOSITE' }
  const id = await bucket.begin('key', headers)
  const bodies = [Buffer.alloc(5 * 2 ** 20, 'a'), Buffer.alloc(5 * 2 ** 20, 'b'), Buffer.from('c')]
  const parts = []
  for (const [at, body] of bodies.entries()) {
    const part = await bucket.part('key', id, at + 1, body, { 'x-amz-checksum-crc32': crc32(body) })
    parts.push({ ...part, checksum: `<ChecksumCRC32>${crc32(body)}</ChecksumCRC32>` })
  }
  await succeeds(bucket.complete('key', id, parts))
  return bucket
}

test('ETag, Checksum, StorageClass and ObjectSize are told of any object [get-object-attributes]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', '123456789', { 'x-amz-checksum-crc32': crc32('123456789') })
  const answer = await succeeds(attributes(bucket, all))
  // Without quotes, other than everywhere else.
  assert.equal(answer.element('ETag'), md5Hex('123456789'))
  assert.equal(answer.block('Checksum').element('ChecksumCRC32'), crc32('123456789'))
  assert.equal(answer.block('Checksum').element('ChecksumType'), 'FULL_OBJECT')
  assert.equal(answer.element('StorageClass'), 'STANDARD')
  assert.equal(answer.element('ObjectSize'), '9')
  assert.deepEqual(answer.blocks('ObjectParts'), [])
  assert.ok(answer.must('last-modified') !== '')
})

test('what was not asked for is not told', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  const answer = await succeeds(attributes(bucket, 'ObjectSize'))
  assert.equal(answer.element('ObjectSize'), '1')
  for (const name of ['ETag', 'Checksum', 'StorageClass']) assert.equal(answer.element(name), undefined, name)
})

test('parts are told with number, size and checksum', async () => {
  const bucket = await inParts()
  const told = (await succeeds(attributes(bucket, all))).block('ObjectParts')
  // The element of the count is called PartsCount on the wire and TotalPartsCount in SDKs.
  assert.equal(told.element('PartsCount'), '3')
  assert.equal(told.element('IsTruncated'), 'false')
  assert.deepEqual(
    told.blocks('Part').map((part) => [part.element('PartNumber'), part.element('Size')]),
    [
      ['1', String(5 * 2 ** 20)],
      ['2', String(5 * 2 ** 20)],
      ['3', '1'],
    ],
  )
  assert.equal(told.blocks('Part')[2]?.element('ChecksumCRC32'), crc32('c'))
})

test('a composite checksum is told with the number of parts, as HEAD tells it', async () => {
  const bucket = await inParts()
  const value = (await succeeds(attributes(bucket, 'Checksum'))).block('Checksum').element('ChecksumCRC32')
  const parts = [Buffer.alloc(5 * 2 ** 20, 'a'), Buffer.alloc(5 * 2 ** 20, 'b'), Buffer.from('c')]
  assert.equal(value, `${composite(crc32, parts.map(crc32))}-3`)
  const head = await bucket.head('key', { 'x-amz-checksum-mode': 'ENABLED' })
  assert.equal(head.header('x-amz-checksum-crc32'), value)
})

test('ListParts, UploadPart, GET and HEAD by part number and the attributes tell the same checksum of a part', async () => {
  const bodies = [Buffer.alloc(5 * 2 ** 20, 'a'), Buffer.from('b')]
  const [first = '', second = ''] = bodies.map(crc32)
  for (const type of ['COMPOSITE', 'FULL_OBJECT']) {
    const bucket = await s3.bucket()
    const uploadId = await bucket.begin('key', { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': type })
    const parts = []
    for (const [at, body] of bodies.entries()) {
      // Of a checksum of the full object the parts need none: the server computes and tells it.
      const headers = type === 'COMPOSITE' ? { 'x-amz-checksum-crc32': crc32(body) } : {}
      const put = await succeeds(bucket.uploadPart('key', uploadId, at + 1, body, headers))
      assert.equal(put.header('x-amz-checksum-crc32'), crc32(body))
      const checksum = `<ChecksumCRC32>${crc32(body)}</ChecksumCRC32>`
      parts.push({ number: at + 1, etag: put.must('etag'), checksum })
    }
    const listed = await succeeds(bucket.call('GET', { key: 'key', query: { uploadId } }))
    assert.deepEqual(listed.elements('ChecksumCRC32'), [first, second])
    await succeeds(bucket.complete('key', uploadId, parts))
    const told = (await succeeds(attributes(bucket, 'ObjectParts'))).block('ObjectParts')
    assert.deepEqual(told.elements('ChecksumCRC32'), [first, second])
    for (const [partNumber, value] of [
      [1, first],
      [2, second],
    ] as const) {
      for (const read of [bucket.get.bind(bucket), bucket.head.bind(bucket)]) {
        const part = await succeeds(read('key', { 'x-amz-checksum-mode': 'ENABLED' }, { partNumber }), 206)
        assert.equal(part.header('x-amz-checksum-crc32'), value)
        assert.equal(part.header('x-amz-checksum-type'), type)
      }
    }
  }
})

test('x-amz-max-parts and x-amz-part-number-marker page through the parts', async () => {
  const bucket = await inParts()
  const first = (await succeeds(attributes(bucket, all, { 'x-amz-max-parts': '2' }))).block('ObjectParts')
  assert.deepEqual(first.elements('PartNumber'), ['1', '2'])
  assert.equal(first.element('IsTruncated'), 'true')
  assert.equal(first.element('NextPartNumberMarker'), '2')
  assert.equal(first.element('MaxParts'), '2')
  const headers = { 'x-amz-max-parts': '2', 'x-amz-part-number-marker': '2' }
  const second = (await succeeds(attributes(bucket, all, headers))).block('ObjectParts')
  assert.deepEqual(second.elements('PartNumber'), ['3'])
  assert.equal(second.element('IsTruncated'), 'false')
})

test('a given version is told', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const versionId = (await bucket.put('key', 'four')).must('x-amz-version-id')
  await bucket.hold('key', 'x')
  const answer = await succeeds(attributes(bucket, 'ObjectSize', {}, { versionId }))
  assert.equal(answer.element('ObjectSize'), '4')
  assert.equal(answer.header('x-amz-version-id'), versionId)
})

test('no attributes answer 400 InvalidRequest, unknown ones InvalidArgument', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await fails(bucket.call('GET', { key: 'key', query: 'attributes' }), 400, 'InvalidRequest')
  await fails(attributes(bucket, 'Colour'), 400, 'InvalidArgument')
})

test('an absent key answers 404 NoSuchKey, a delete marker 404 with x-amz-delete-marker', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await fails(attributes(bucket, all), 404, 'NoSuchKey')
  await bucket.hold('key', 'x')
  await bucket.delete('key')
  const gone = await fails(attributes(bucket, all), 404, 'NoSuchKey')
  assert.equal(gone.header('x-amz-delete-marker'), 'true')
})
