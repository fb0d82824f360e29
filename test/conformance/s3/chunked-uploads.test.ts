/** Operations: PutObject, UploadPart. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer, type Request, type Sent, type Signing } from './http.ts'
import * as sums from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const body = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7) % 251))
const small = '123456789'

function upload(bucket: Bucket, data: string | Buffer, signing: Signing, more: Request = {}): Promise<Answer> {
  return bucket.put('key', data, {}, { signing, ...more })
}

async function holds(bucket: Bucket, data: string | Buffer): Promise<Answer> {
  const answer = await succeeds(bucket.get('key', { 'x-amz-checksum-mode': 'ENABLED' }))
  assert.ok(answer.body.equals(Buffer.from(data)), `${answer.body.length} bytes, of ${data.length}`)
  return answer
}

test('signed chunks are put together, and aws-chunked is not kept as an encoding [chunk-signed]', async () => {
  const bucket = await s3.bucket()
  await succeeds(upload(bucket, body, 'chunked-signed', { chunked: { chunkBytes: 8192 } }))
  const { headers } = await holds(bucket, body)
  assert.equal(headers['content-encoding'], undefined)
  assert.equal(headers['content-length'], String(body.length))
})

test('signed chunks with a signed trailer are put together, and its checksum is kept [chunk-signed-trailer]', async () => {
  const bucket = await s3.bucket()
  const trailer = { 'x-amz-checksum-crc32': sums.crc32(body) }
  await succeeds(upload(bucket, body, 'chunked-signed-trailer', { chunked: { trailer } }))
  assert.equal((await holds(bucket, body)).header('x-amz-checksum-crc32'), trailer['x-amz-checksum-crc32'])
})

test('unsigned chunks with a CRC32 trailer, as SDKs send them over TLS [chunk-unsigned-trailer-crc32]', async () => {
  const bucket = await s3.bucket()
  const trailer = { 'x-amz-checksum-crc32': sums.crc32(body) }
  const put = await succeeds(upload(bucket, body, 'chunked-unsigned-trailer', { chunked: { trailer } }))
  assert.equal(put.header('x-amz-checksum-crc32'), trailer['x-amz-checksum-crc32'])
  const { headers } = await holds(bucket, body)
  assert.equal(headers['x-amz-checksum-crc32'], trailer['x-amz-checksum-crc32'])
  assert.equal(headers['content-encoding'], undefined)
})

test('unsigned chunks with a CRC64NVME trailer, as the AWS CLI sends them [chunk-unsigned-trailer-crc64nvme]', async () => {
  const bucket = await s3.bucket()
  const trailer = { 'x-amz-checksum-crc64nvme': sums.crc64nvme(small) }
  await succeeds(upload(bucket, small, 'chunked-unsigned-trailer', { chunked: { trailer } }))
  assert.equal((await holds(bucket, small)).header('x-amz-checksum-crc64nvme'), sums.crc64nvme(small))
})

test('trailers of all other algorithms are verified and kept', async () => {
  const trailers = {
    crc32c: sums.crc32c(small),
    sha1: sums.sha1(small),
    sha256: sums.sha256(small),
    sha512: sums.sha512(small),
    md5: sums.md5(small),
    xxhash64: sums.xxhash64of123456789,
    xxhash3: sums.xxhash3of123456789,
    xxhash128: sums.xxhash128of123456789,
  }
  const bucket = await s3.bucket()
  for (const [algorithm, value] of Object.entries(trailers)) {
    const name = `x-amz-checksum-${algorithm}`
    await succeeds(upload(bucket, small, 'chunked-unsigned-trailer', { chunked: { trailer: { [name]: value } } }))
    assert.equal((await holds(bucket, small)).header(name), value)
  }
})

test('with Transfer-Encoding: chunked around it the length that counts is the decoded one, as SDKs send streams', async () => {
  const bucket = await s3.bucket()
  const headers = { 'transfer-encoding': 'chunked' }
  const chunked = { trailer: { 'x-amz-checksum-crc32': sums.crc32(body) } }
  await succeeds(bucket.put('key', body, headers, { signing: 'chunked-unsigned-trailer', chunked }))
  await holds(bucket, body)
})

test('an empty body in chunks is an object of no bytes', async () => {
  const bucket = await s3.bucket()
  const trailer = { 'x-amz-checksum-crc32': sums.crc32('') }
  for (const signing of ['chunked-signed', 'chunked-unsigned-trailer'] as const) {
    await succeeds(upload(bucket, '', signing, signing === 'chunked-signed' ? {} : { chunked: { trailer } }))
    await holds(bucket, '')
  }
})

test('a wrong checksum in the trailer answers 400 BadDigest and stores nothing [chunk-bad-trailer-400]', async () => {
  const bucket = await s3.bucket()
  const chunked = { trailer: { 'x-amz-checksum-crc32': sums.crc32('other') } }
  for (const signing of ['chunked-unsigned-trailer', 'chunked-signed-trailer'] as const) {
    await fails(upload(bucket, body, signing, { chunked }), 400, 'BadDigest')
  }
  await fails(bucket.head('key'), 404)
})

test('a wrong signature of a chunk answers 403 SignatureDoesNotMatch, stores nothing [chunk-bad-signature-403]', async () => {
  const bucket = await s3.bucket()
  for (const forgedChunk of [0, 1, 2]) {
    const chunked = { chunkBytes: 65_536, forgedChunk }
    await fails(upload(bucket, body, 'chunked-signed', { chunked }), 403, 'SignatureDoesNotMatch')
  }
  await fails(bucket.head('key'), 404)
})

test('a wrong signature of the trailer answers 403 SignatureDoesNotMatch and stores nothing', async () => {
  const bucket = await s3.bucket()
  const chunked = { trailer: { 'x-amz-checksum-crc32': sums.crc32(body) }, isTrailerForged: true }
  await fails(upload(bucket, body, 'chunked-signed-trailer', { chunked }), 403, 'SignatureDoesNotMatch')
  await fails(bucket.head('key'), 404)
})

test('a trailer that was announced and does not come, or another than announced, is refused', async () => {
  const bucket = await s3.bucket()
  const announced = { 'x-amz-trailer': 'x-amz-checksum-crc32' }
  const missing = { signing: 'chunked-unsigned-trailer', chunked: {}, headers: announced } as const
  await fails(bucket.call('PUT', { key: 'key', body: small, ...missing }), 400)
  const other = { ...missing, chunked: { trailer: { 'x-amz-checksum-crc32c': sums.crc32c(small) } } }
  await fails(
    bucket.call('PUT', {
      key: 'key',
      body: small,
      ...other,
      tamper: (sent) => ({
        ...sent,
        body: Buffer.from(sent.body.toString('latin1').replace('crc32c', 'sha256'), 'latin1'),
      }),
    }),
    400,
  )
  await fails(bucket.head('key'), 404)
})

test('gzip,aws-chunked is kept as gzip [chunk-keeps-gzip-only]', async () => {
  const bucket = await s3.bucket()
  const trailer = { 'x-amz-checksum-crc32': sums.crc32(body) }
  for (const encoding of ['gzip,aws-chunked', 'aws-chunked, gzip']) {
    const request = { key: 'key', body, headers: { 'content-encoding': encoding }, chunked: { trailer } }
    await succeeds(bucket.call('PUT', { ...request, signing: 'chunked-unsigned-trailer' }))
    assert.equal((await bucket.head('key')).header('content-encoding'), 'gzip')
  }
})

const trailing = { trailer: { 'x-amz-checksum-crc32': sums.crc32(body) } }
const variants = [
  ['chunked-signed', {}],
  ['chunked-signed-trailer', trailing],
  ['chunked-unsigned-trailer', trailing],
] as const

test('more or fewer bytes than x-amz-decoded-content-length says answer 400 IncompleteBody, nothing is stored', async () => {
  const bucket = await s3.bucket()
  for (const [signing, chunked] of variants) {
    for (const decodedLength of [body.length - 1, body.length + 1]) {
      await fails(upload(bucket, body, signing, { chunked: { ...chunked, decodedLength } }), 400, 'IncompleteBody')
    }
  }
  await fails(bucket.head('key'), 404)
})

test('a body that breaks off, or is not in chunks, answers 400 IncompleteBody, and nothing is stored', async () => {
  const bucket = await s3.bucket()
  const headers = { 'transfer-encoding': 'chunked' }
  const ways: readonly ((sent: Buffer) => Buffer)[] = [
    (sent) => sent.subarray(0, 10),
    (sent) => sent.subarray(0, 70_000),
    // Without the blank line at its end, and without all that follows the data.
    (sent) => sent.subarray(0, -2),
    (sent) => sent.subarray(0, -6),
    () => body,
    () => Buffer.alloc(0),
  ]
  for (const [signing, chunked] of variants) {
    for (const cut of ways) {
      const tamper = (sent: Sent): Sent => ({ ...sent, body: cut(sent.body) })
      await fails(bucket.put('key', body, headers, { signing, chunked, tamper }), 400, 'IncompleteBody')
    }
  }
  await fails(bucket.head('key'), 404)
})

test('an x-amz-decoded-content-length that is no number counts as none: 411 MissingContentLength', async () => {
  const bucket = await s3.bucket()
  for (const length of ['x', '12x', '-1']) {
    const headers = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': length }
    const request = { key: 'key', body: '0\r\n\r\n', headers, contentSha256: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }
    await fails(bucket.call('PUT', request), 411, 'MissingContentLength')
  }
})

test('without x-amz-decoded-content-length it answers 411 MissingContentLength', async () => {
  const bucket = await s3.bucket()
  const headers = { 'content-encoding': 'aws-chunked' }
  const request = { key: 'key', body: '0\r\n\r\n', headers, contentSha256: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }
  await fails(bucket.call('PUT', request), 411, 'MissingContentLength')
})

test('parts of multipart uploads come in chunks too', async () => {
  const bucket = await s3.bucket()
  const uploadId = await bucket.begin('key')
  const query = { partNumber: 1, uploadId }
  const trailer = { 'x-amz-checksum-crc32': sums.crc32(body) }
  const request = { key: 'key', query, body, signing: 'chunked-unsigned-trailer', chunked: { trailer } } as const
  const etag = (await succeeds(bucket.call('PUT', request))).must('etag')
  await succeeds(bucket.complete('key', uploadId, [{ number: 1, etag }]))
  await holds(bucket, body)
})
