/** Operations: PutObject, GetObject, HeadObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import * as sums from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const body = '123456789'

/** A checksum of `body` is verified, kept, echoed on PUT, and told by reads in checksum mode and by them alone. */
async function isKept(algorithm: string, value: string): Promise<void> {
  const bucket = await s3.bucket()
  const name = `x-amz-checksum-${algorithm}`
  const put = await succeeds(bucket.put('key', body, { [name]: value }))
  assert.equal(put.header(name), value)
  assert.equal(put.header('x-amz-checksum-type'), 'FULL_OBJECT')
  const mode = { 'x-amz-checksum-mode': 'ENABLED' }
  for (const answer of [await bucket.get('key', mode), await bucket.head('key', mode)]) {
    assert.equal(answer.header(name), value)
  }
  assert.equal((await bucket.head('key')).header(name), undefined)
  const wrong = Buffer.from(value, 'base64').map((byte) => byte ^ 1)
  await fails(bucket.put('key', 'other', { [name]: Buffer.from(wrong).toString('base64') }), 400, 'BadDigest')
  assert.equal((await bucket.get('key')).text, body)
}

test('CRC32 is verified, kept and told [sum-crc32]', () => isKept('crc32', sums.crc32(body)))
test('CRC32C is verified, kept and told [sum-crc32c]', () => isKept('crc32c', sums.crc32c(body)))
test('CRC64NVME is verified, kept and told [sum-crc64nvme]', () => isKept('crc64nvme', sums.crc64nvme(body)))
test('SHA1 is verified, kept and told [sum-sha1]', () => isKept('sha1', sums.sha1(body)))
test('SHA256 is verified, kept and told [sum-sha256]', () => isKept('sha256', sums.sha256(body)))
test('SHA512 is verified, kept and told', () => isKept('sha512', sums.sha512(body)))
test('MD5 as a checksum is verified, kept and told', () => isKept('md5', sums.md5(body)))
test('XXHASH64 is verified, kept and told', () => isKept('xxhash64', sums.xxhash64of123456789))
test('XXHASH3 is verified, kept and told', () => isKept('xxhash3', sums.xxhash3of123456789))
test('XXHASH128 is verified, kept and told', () => isKept('xxhash128', sums.xxhash128of123456789))

test('a wrong checksum answers 400 BadDigest and stores nothing [sum-bad-400]', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.put('key', 'other', { 'x-amz-checksum-crc32': sums.crc32(body) }), 400, 'BadDigest')
  await fails(bucket.put('key', 'other', { 'x-amz-checksum-sha256': sums.sha256(body) }), 400, 'BadDigest')
  await fails(bucket.head('key'), 404)
})

test('a value that no checksum of its algorithm can have answers 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  for (const wrong of ['nonsense', 'AAAA', '']) {
    await fails(bucket.put('key', body, { 'x-amz-checksum-crc32': wrong }), 400, 'InvalidRequest')
  }
})

test('two checksums at once answer 400 InvalidRequest [sum-two-400]', async () => {
  const bucket = await s3.bucket()
  const headers = { 'x-amz-checksum-crc32': sums.crc32(body), 'x-amz-checksum-sha256': sums.sha256(body) }
  await fails(bucket.put('key', body, headers), 400, 'InvalidRequest')
})

test('without a checksum the server computes and keeps CRC64NVME [sum-default-crc64nvme]', async () => {
  const bucket = await s3.bucket()
  const put = await succeeds(bucket.put('key', body))
  assert.equal(put.header('x-amz-checksum-crc64nvme'), sums.crc64nvme(body))
  const { headers } = await bucket.head('key', { 'x-amz-checksum-mode': 'ENABLED' })
  assert.equal(headers['x-amz-checksum-crc64nvme'], sums.crc64nvme(body))
})

test('HEAD in checksum mode tells the type FULL_OBJECT [sum-type-header]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', body, { 'x-amz-checksum-crc32': sums.crc32(body) })
  const { headers } = await bucket.head('key', { 'x-amz-checksum-mode': 'ENABLED' })
  assert.equal(headers['x-amz-checksum-type'], 'FULL_OBJECT')
})

test('a range of an object comes without the checksum of the whole', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', body, { 'x-amz-checksum-crc32': sums.crc32(body) })
  const headers = { 'x-amz-checksum-mode': 'ENABLED', range: 'bytes=0-3' }
  const answer = await succeeds(bucket.get('key', headers), 206)
  assert.equal(answer.header('x-amz-checksum-crc32'), undefined)
})

test('x-amz-sdk-checksum-algorithm alone names the algorithm that the server computes', async () => {
  const bucket = await s3.bucket()
  const headers = { 'x-amz-sdk-checksum-algorithm': 'SHA256', 'x-amz-checksum-sha256': sums.sha256(body) }
  const put = await succeeds(bucket.put('key', body, headers))
  assert.equal(put.header('x-amz-checksum-sha256'), sums.sha256(body))
})

test('an unknown x-amz-sdk-checksum-algorithm answers 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.put('key', body, { 'x-amz-sdk-checksum-algorithm': 'ROT13' }), 400, 'InvalidRequest')
})

test('the listing tells the algorithm of each object [list-checksum-algorithm]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('a', body, { 'x-amz-checksum-crc32': sums.crc32(body) })
  await bucket.hold('b', body, { 'x-amz-checksum-sha256': sums.sha256(body) })
  await bucket.hold('c', body)
  const listed = [await bucket.list(), await bucket.call('GET'), await bucket.versions()]
  for (const answer of listed) assert.deepEqual(answer.elements('ChecksumAlgorithm'), ['CRC32', 'SHA256', 'CRC64NVME'])
  assert.deepEqual((await bucket.list()).elements('ChecksumType'), ['FULL_OBJECT', 'FULL_OBJECT', 'FULL_OBJECT'])
})
