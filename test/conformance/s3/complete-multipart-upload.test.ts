/** Operations: CompleteMultipartUpload. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket, Headers, Part } from './bucket.ts'
import { fails, succeeds } from './http.ts'
import { composite, crc32, crc64nvme, md5Hex, sha1, sha256 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const MIN = 5 * 2 ** 20
const first = Buffer.alloc(MIN, 'a')
const last = Buffer.from('the last part')
const whole = Buffer.concat([first, last])

/** An upload of two parts, with what `checksumOf` says of each. */
async function uploaded(
  bucket: Bucket,
  begin: Headers = {},
  checksumOf: (body: Buffer) => readonly [header: string, element: string, value: string] | undefined = () => undefined,
): Promise<{ id: string; parts: Part[] }> {
  const id = await bucket.begin('key', begin)
  const parts: Part[] = []
  for (const [at, body] of [first, last].entries()) {
    const [header, element, value] = checksumOf(body) ?? ['', '', '']
    const part = await bucket.part('key', id, at + 1, body, header === '' ? {} : { [header]: value })
    parts.push(header === '' ? part : { ...part, checksum: `<${element}>${value}</${element}>` })
  }
  return { id, parts }
}

test('the parts become one object, whose ETag is the MD5 of their MD5s and how many they are', async () => {
  const bucket = await s3.bucket()
  const { id, parts } = await uploaded(bucket)
  const answer = await succeeds(bucket.complete('key', id, parts))
  const md5s = Buffer.concat([first, last].map((body) => Buffer.from(md5Hex(body), 'hex')))
  assert.equal(answer.element('ETag'), `"${md5Hex(md5s)}-2"`)
  assert.equal(answer.element('Key'), 'key')
  assert.equal(answer.element('Bucket'), bucket.name)
  assert.match(answer.element('Location') ?? '', /key$/)
  const got = await succeeds(bucket.get('key'))
  assert.ok(got.body.equals(whole))
  assert.equal(got.header('etag'), answer.element('ETag'))
})

test('parts that are not named are left out, and numbers may have gaps', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key')
  const parts = [await bucket.part('key', id, 3, first), await bucket.part('key', id, 900, last)]
  await bucket.part('key', id, 5, 'not named')
  await succeeds(bucket.complete('key', id, parts))
  assert.ok((await bucket.get('key')).body.equals(whole))
})

test('If-None-Match * answers 412 PreconditionFailed when the key is there [complete-if-none-match-412]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'old')
  const { id, parts } = await uploaded(bucket)
  await fails(bucket.complete('key', id, parts, { 'if-none-match': '*' }), 412, 'PreconditionFailed')
  assert.equal((await bucket.get('key')).text, 'old')
  await succeeds(bucket.complete('key', id, parts))
})

test('If-Match wants the object as it is', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'old')
  const { id, parts } = await uploaded(bucket)
  await fails(bucket.complete('key', id, parts, { 'if-match': '"other"' }), 412, 'PreconditionFailed')
  await succeeds(bucket.complete('key', id, parts, { 'if-match': etag }))
})

test('COMPOSITE SHA256 is the checksum of the checksums of the parts, and how many [mp-composite-sha256]', async () => {
  const bucket = await s3.bucket()
  const begin = { 'x-amz-checksum-algorithm': 'SHA256', 'x-amz-checksum-type': 'COMPOSITE' }
  const { id, parts } = await uploaded(bucket, begin, (body) => [
    'x-amz-checksum-sha256',
    'ChecksumSHA256',
    sha256(body),
  ])
  const answer = await succeeds(bucket.complete('key', id, parts, { 'x-amz-checksum-type': 'COMPOSITE' }))
  const expected = `${composite(sha256, [sha256(first), sha256(last)])}-2`
  assert.equal(answer.element('ChecksumSHA256'), expected)
  assert.equal(answer.element('ChecksumType'), 'COMPOSITE')
  const head = await bucket.head('key', { 'x-amz-checksum-mode': 'ENABLED' })
  assert.equal(head.header('x-amz-checksum-sha256'), expected)
  assert.equal(head.header('x-amz-checksum-type'), 'COMPOSITE')
})

test('FULL_OBJECT CRC32 is that of the whole object, put together from the parts [mp-full-object-crc32]', async () => {
  const bucket = await s3.bucket()
  const begin = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' }
  const { id, parts } = await uploaded(bucket, begin, (body) => ['x-amz-checksum-crc32', 'ChecksumCRC32', crc32(body)])
  const headers = { 'x-amz-checksum-type': 'FULL_OBJECT' }
  const wrong = { ...headers, 'x-amz-checksum-crc32': crc32('other') }
  await fails(bucket.complete('key', id, parts, wrong), 400, 'BadDigest')
  const right = { ...headers, 'x-amz-checksum-crc32': crc32(whole) }
  const answer = await succeeds(bucket.complete('key', id, parts, right))
  assert.equal(answer.element('ChecksumCRC32'), crc32(whole))
  assert.equal(answer.element('ChecksumType'), 'FULL_OBJECT')
})

test('without an algorithm the object has the CRC64NVME of the whole', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key')
  const answer = await succeeds(bucket.complete('key', id, [await bucket.part('key', id, 1, 'small')]))
  assert.equal(answer.element('ChecksumCRC64NVME'), crc64nvme('small'))
  assert.equal(answer.element('ChecksumType'), 'FULL_OBJECT')
})

test('a checksum of a part that is not the part’s answers 400 InvalidPart', async () => {
  const bucket = await s3.bucket()
  const begin = { 'x-amz-checksum-algorithm': 'CRC32' }
  const { id, parts } = await uploaded(bucket, begin, (body) => ['x-amz-checksum-crc32', 'ChecksumCRC32', crc32(body)])
  const checksum = `<ChecksumCRC32>${crc32('other')}</ChecksumCRC32>`
  const wrong = parts.map(({ number, etag }) => ({ number, etag, checksum }))
  await fails(bucket.complete('key', id, wrong), 400, 'InvalidPart')
})

test('COMPOSITE demands the checksum of each part, with the part and again at the end: 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  const begin = { 'x-amz-checksum-algorithm': 'SHA1', 'x-amz-checksum-type': 'COMPOSITE' }
  const { id, parts } = await uploaded(bucket, begin, (body) => ['x-amz-checksum-sha1', 'ChecksumSHA1', sha1(body)])
  await fails(bucket.uploadPart('key', id, 1, first), 400, 'InvalidRequest')
  const [one, two] = parts.map(({ number, etag }) => ({ number, etag }))
  for (const named of [
    [one, parts[1]],
    [parts[0], two],
    [one, two],
  ]) {
    const some = named.filter((part) => part !== undefined)
    await fails(bucket.complete('key', id, some), 400, 'InvalidRequest')
  }
  await fails(bucket.head('key'), 404)
  await succeeds(bucket.complete('key', id, parts))
})

test('FULL_OBJECT takes parts without checksums', async () => {
  const bucket = await s3.bucket()
  const begin = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' }
  const { id, parts } = await uploaded(bucket, begin)
  assert.equal((await succeeds(bucket.complete('key', id, parts))).element('ChecksumCRC32'), crc32(whole))
})

test('another x-amz-checksum-type than the upload began with answers 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  const begin = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'COMPOSITE' }
  const { id, parts } = await uploaded(bucket, begin, (body) => ['x-amz-checksum-crc32', 'ChecksumCRC32', crc32(body)])
  await fails(bucket.complete('key', id, parts, { 'x-amz-checksum-type': 'FULL_OBJECT' }), 400, 'InvalidRequest')
})

test('a wrong x-amz-mp-object-size answers 400 InvalidRequest, the right one is taken [mp-object-size]', async () => {
  const bucket = await s3.bucket()
  const { id, parts } = await uploaded(bucket)
  for (const size of ['1', '-1', 'x']) {
    await fails(bucket.complete('key', id, parts, { 'x-amz-mp-object-size': size }), 400, 'InvalidRequest')
  }
  await succeeds(bucket.complete('key', id, parts, { 'x-amz-mp-object-size': String(whole.length) }))
})

test('a part under 5 MiB that is not the last answers 400 EntityTooSmall [mp-entity-too-small]', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('key')
  const parts = [await bucket.part('key', id, 1, Buffer.alloc(MIN - 1)), await bucket.part('key', id, 2, 'x')]
  await fails(bucket.complete('key', id, parts), 400, 'EntityTooSmall')
  await fails(bucket.head('key'), 404)
})

test('parts that are not in ascending order answer 400 InvalidPartOrder [mp-part-order]', async () => {
  const bucket = await s3.bucket()
  const { id, parts } = await uploaded(bucket)
  await fails(bucket.complete('key', id, parts.toReversed()), 400, 'InvalidPartOrder')
})

test('a part that was not uploaded, or with another ETag, answers 400 InvalidPart', async () => {
  const bucket = await s3.bucket()
  const { id, parts } = await uploaded(bucket)
  await fails(bucket.complete('key', id, [...parts, { number: 3, etag: '"x"' }]), 400, 'InvalidPart')
  const wrong = parts.map((part) => ({ ...part, etag: `"${md5Hex('other')}"` }))
  await fails(bucket.complete('key', id, wrong), 400, 'InvalidPart')
  await succeeds(bucket.complete('key', id, parts))
})

test('a part number that there is not answers 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  const { id, parts } = await uploaded(bucket)
  for (const number of [-4, 0, 10_001]) {
    const wrong = parts.map(({ etag }) => ({ number, etag }))
    await fails(bucket.complete('key', id, wrong), 400, 'InvalidArgument')
  }
})

test('a checksum of another algorithm than the upload began with answers 400 BadDigest', async () => {
  const bucket = await s3.bucket()
  const begin = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' }
  const { id, parts } = await uploaded(bucket, begin)
  const other = parts.map(({ number, etag }) => ({
    number,
    etag,
    checksum: `<ChecksumSHA256>${sha256('x')}</ChecksumSHA256>`,
  }))
  await fails(bucket.complete('key', id, other), 400, 'BadDigest')
})

test('no part, or no XML, answers 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  const { id: uploadId } = await uploaded(bucket)
  await fails(bucket.complete('key', uploadId, []), 400, 'MalformedXML')
  await fails(bucket.call('POST', { key: 'key', query: { uploadId }, body: 'x' }), 400, 'MalformedXML')
})

test('a client that repeats it after a lost answer gets the same 200', async () => {
  const bucket = await s3.bucket()
  const { id, parts } = await uploaded(bucket)
  const once = await succeeds(bucket.complete('key', id, parts))
  const again = await succeeds(bucket.complete('key', id, parts))
  assert.equal(again.element('ETag'), once.element('ETag'))
})

test('of two who complete one upload at once neither breaks the object', async () => {
  const bucket = await s3.bucket()
  const { id, parts } = await uploaded(bucket)
  const answers = await Promise.all([bucket.complete('key', id, parts), bucket.complete('key', id, parts)])
  for (const { status } of answers) assert.ok([200, 404, 409].includes(status), `${status}`)
  assert.ok((await bucket.get('key')).body.equals(whole))
})

test('with versions the answer tells the version', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const id = await bucket.begin('key')
  const answer = await succeeds(bucket.complete('key', id, [await bucket.part('key', id, 1, 'x')]))
  assert.equal(answer.must('x-amz-version-id'), (await bucket.head('key')).header('x-amz-version-id'))
})
