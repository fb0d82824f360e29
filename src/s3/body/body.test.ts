import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { encodeChunked } from '../auth/aws-chunked.ts'
import { readPayload, unsignedPayload } from '../auth/payload.ts'
import { sign } from '../auth/sign.ts'
import { planBody } from './body.ts'
import type { BodyOutcome, BodyPlan, BodyRequest } from './body.ts'
import { headersOf } from '../request/headers.ts'

const body = Buffer.from('123456789')
const md5 = createHash('md5').update(body).digest()
const sha256 = createHash('sha256').update(body).digest('hex')
const trailed = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

function plan(headers: Record<string, string>, options: Partial<BodyRequest> & { hash?: string } = {}): BodyPlan {
  return planBody({
    headers: headersOf({ 'Content-Length': '9', ...headers }),
    payload: readPayload(options.hash ?? unsignedPayload),
    maxBytes: 1000,
    ...options,
  })
}

async function receive(made: BodyPlan, sent: Iterable<Buffer> = [body]): Promise<BodyOutcome> {
  const bytes = await made.receiveAll(Readable.from(sent, { objectMode: true }))
  assert.deepEqual(bytes, body)
  return made.outcome()
}

function chunked(trailers: Record<string, string>): Buffer[] {
  return [...encodeChunked([body.subarray(0, 4), body.subarray(4)], { trailers })]
}

test('a body without a checksum gets its MD5 and a CRC64NVME', async () => {
  const made = plan({})
  assert.equal(made.sizeBytes, 9)
  assert.equal(made.hasIntegrity, false)
  assert.deepEqual(await receive(made), {
    sizeBytes: 9,
    md5,
    checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'rosUhgp5mIg=' },
  })
})

test('a part gets the algorithm of its upload when it has no checksum', async () => {
  const { checksum } = await receive(plan({}, { fallbackAlgorithm: 'CRC32' }))
  assert.deepEqual(checksum, { algorithm: 'CRC32', type: 'FULL_OBJECT', value: 'y/Q5Jg==' })
})

test('a checksum header of each algorithm is verified and kept', async () => {
  const values = {
    crc32: 'y/Q5Jg==',
    crc32c: '4waSgw==',
    crc64nvme: 'rosUhgp5mIg=',
    sha1: createHash('sha1').update(body).digest('base64'),
    sha256: createHash('sha256').update(body).digest('base64'),
    sha512: createHash('sha512').update(body).digest('base64'),
    md5: md5.toString('base64'),
    xxhash64: 'jLhB20DmroM=',
    xxhash3: 'ctyxi2ehff8=',
    xxhash128: 'MxGUd+3l3NXpcWQnaB1YYA==',
  }
  for (const [name, value] of Object.entries(values)) {
    const made = plan({ [`x-amz-checksum-${name}`]: value, 'x-amz-sdk-checksum-algorithm': name.toUpperCase() })
    assert.equal(made.hasIntegrity, true)
    const { checksum } = await receive(made)
    assert.deepEqual(checksum, { algorithm: name.toUpperCase(), type: 'FULL_OBJECT', value })
  }
})

test('a wrong checksum, MD5 or SHA-256 is refused at the end, and there is no outcome', async () => {
  const wrong = [
    [plan({ 'x-amz-checksum-crc32': 'AAAAAA==' }), 'BadDigest'],
    [plan({ 'Content-MD5': createHash('md5').digest('base64') }), 'BadDigest'],
    [plan({}, { hash: '0'.repeat(64) }), 'XAmzContentSHA256Mismatch'],
  ] as const
  for (const [made, code] of wrong) {
    await assert.rejects(receive(made), { code, status: 400 })
    assert.throws(() => made.outcome())
  }
  assert.ok(await receive(plan({ 'Content-MD5': md5.toString('base64') }, { hash: sha256 })))
})

test('a Content-MD5 that is not base64 of 16 bytes is InvalidDigest', () => {
  for (const value of ['', 'abc', 'AAAA', md5.toString('hex')]) {
    assert.throws(() => plan({ 'Content-MD5': value }), { code: 'InvalidDigest' }, value)
  }
})

test('checksum headers that contradict each other are InvalidRequest', () => {
  const bad: Record<string, string>[] = [
    { 'x-amz-checksum-crc32': 'y/Q5Jg==', 'x-amz-checksum-crc32c': '4waSgw==' },
    { 'x-amz-checksum-crc32': 'x' },
    { 'x-amz-checksum-crc32': 'rosUhgp5mIg=' },
    { 'x-amz-checksum-crc99': 'y/Q5Jg==' },
    { 'x-amz-checksum-crc32': 'y/Q5Jg==', 'x-amz-sdk-checksum-algorithm': 'SHA256' },
    { 'x-amz-sdk-checksum-algorithm': 'CRC32' },
    { 'x-amz-trailer': 'x-amz-checksum-crc32' },
  ]
  for (const headers of bad) assert.throws(() => plan(headers), { code: 'InvalidRequest' }, JSON.stringify(headers))
  assert.doesNotThrow(() => plan({ 'x-amz-checksum-mode': 'ENABLED', 'x-amz-checksum-type': 'FULL_OBJECT' }))
})

test('a checksum in the trailer is verified and kept', async () => {
  const headers = {
    'x-amz-decoded-content-length': '9',
    'x-amz-trailer': 'x-amz-checksum-crc32c',
    'x-amz-sdk-checksum-algorithm': 'CRC32C',
    'Content-Length': '1',
  }
  const good = plan(headers, { hash: trailed })
  assert.equal((await receive(good, chunked({ 'x-amz-checksum-crc32c': '4waSgw==' }))).checksum.value, '4waSgw==')
  const wrong = plan(headers, { hash: trailed })
  await assert.rejects(receive(wrong, chunked({ 'x-amz-checksum-crc32c': 'AAAAAA==' })), { code: 'BadDigest' })
  const bad = plan(headers, { hash: trailed })
  await assert.rejects(receive(bad, chunked({ 'x-amz-checksum-crc32c': 'AAAA' })), { code: 'InvalidRequest' })
  const missing = plan(headers, { hash: trailed })
  await assert.rejects(receive(missing, chunked({})), { code: 'MalformedTrailerError' })
})

test('a header checksum may come with a body in signed chunks', async () => {
  const identity = { accessKey: 'a', secret: 'b', region: 'c' }
  const hash = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
  const signing = sign({ method: 'PUT', rawPath: '/', headers: { host: 'h' } }, identity, new Date(0), hash)
  const headers = { 'x-amz-decoded-content-length': '9', 'x-amz-checksum-crc32': 'y/Q5Jg==' }
  const { checksum } = await receive(plan(headers, { hash, signing }), encodeChunked([body], { signing }))
  assert.equal(checksum.value, 'y/Q5Jg==')
  assert.throws(() => plan(headers, { hash }), { code: 'InvalidRequest' })
})

test('trailers that are no checksums are refused', () => {
  const headers = { 'x-amz-decoded-content-length': '9', 'x-amz-trailer': 'x-amz-meta-a' }
  assert.throws(() => plan(headers, { hash: trailed }), { code: 'InvalidRequest' })
})

test('a body without a length is MissingContentLength', () => {
  const headers = headersOf({ 'transfer-encoding': 'chunked' })
  assert.throws(() => planBody({ headers, payload: { kind: 'unsigned' }, maxBytes: 9 }), {
    code: 'MissingContentLength',
    status: 411,
  })
  for (const given of [{}, ...['', 'x', '9x', '-9'].map((length) => ({ 'x-amz-decoded-content-length': length }))]) {
    assert.throws(() => plan(given, { hash: trailed }), { code: 'MissingContentLength', status: 411 })
  }
  assert.throws(() => plan({ 'Content-Length': '-1' }), { code: 'InvalidArgument' })
})

test('a body longer than allowed is refused by its length', () => {
  assert.throws(() => plan({ 'Content-Length': '1001' }), { code: 'EntityTooLarge' })
  assert.throws(() => plan({ 'x-amz-decoded-content-length': '1001' }, { hash: trailed }), { code: 'EntityTooLarge' })
  assert.equal(plan({ 'Content-Length': '1000' }).sizeBytes, 1000)
})

test('a body shorter or longer than announced is IncompleteBody', async () => {
  await assert.rejects(receive(plan({ 'Content-Length': '10' })), { code: 'IncompleteBody' })
  await assert.rejects(receive(plan({ 'Content-Length': '8' })), { code: 'IncompleteBody' })
})

test('an empty body is a body', async () => {
  const made = plan({ 'Content-Length': '0' })
  assert.deepEqual(await made.receiveAll(Readable.from([])), Buffer.alloc(0))
  assert.equal(made.outcome().checksum.value, 'AAAAAAAAAAA=')
})
