import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { encodeChunked } from '../auth/aws-chunked.ts'
import { checksumAlgorithms, findChecksumAlgorithm } from '../checksums/algorithms.ts'
import type { ChecksumAlgorithm, ChecksumType } from '../checksums/algorithms.ts'
import { send, startTestPlane, volume } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'sums'
const MIB = 2 ** 20
const bodies = [Buffer.alloc(5 * MIB, 1), Buffer.alloc(1000, 2)]
const names = Object.keys(checksumAlgorithms) as ChecksumAlgorithm[]
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

type Answer = Awaited<ReturnType<typeof send>>
type Headers = Readonly<Record<string, string>>

/** Raw requests, as no SDK computes all the algorithms there are. */
function ask(method: string, target: string, headers: Headers = {}, body?: string | Buffer): Promise<Answer> {
  return send(t, method, `/${Bucket}/${target}`, { headers, ...(body === undefined ? {} : { body }) })
}

function refused(answer: Answer, status: number, code: string): void {
  assert.equal(/<Code>(.*)<\/Code>/.exec(answer.text)?.[1], code, answer.text)
  assert.equal(answer.status, status)
}

function sum(algorithm: ChecksumAlgorithm, ...pieces: readonly Uint8Array[]): string {
  const digest = checksumAlgorithms[algorithm].begin()
  for (const piece of pieces) digest.update(piece)
  return digest.value().toString('base64')
}

async function begin(key: string, headers: Headers): Promise<string> {
  const { text, status } = await ask('POST', `${key}?uploads`, headers)
  assert.equal(status, 200, text)
  return /<UploadId>(.*)<\/UploadId>/.exec(text)?.[1] ?? ''
}

/** Parts as a Complete names them: `inner` is what each has beside number and ETag. */
function completion(pieces: readonly Buffer[], inner: (piece: Buffer) => string = () => ''): string {
  const parts = pieces.map((piece, at) => {
    const etag = createHash('md5').update(piece).digest('hex')
    return `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag>${inner(piece)}</Part>`
  })
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

async function upload(key: string, headers: Headers, pieces: readonly Buffer[] = bodies): Promise<string> {
  const id = await begin(key, headers)
  for (const [at, piece] of pieces.entries()) {
    const algorithm = findChecksumAlgorithm(headers['x-amz-checksum-algorithm'] ?? '')
    const checksum = algorithm === undefined ? {} : { [checksumAlgorithms[algorithm].header]: sum(algorithm, piece) }
    const { status, text } = await ask('PUT', `${key}?partNumber=${at + 1}&uploadId=${id}`, checksum, piece)
    assert.equal(status, 200, text)
  }
  return id
}

for (const algorithm of names) {
  for (const type of ['COMPOSITE', 'FULL_OBJECT'] as const) testAlgorithm(algorithm, type)
}

function testAlgorithm(algorithm: ChecksumAlgorithm, type: ChecksumType): void {
  const { header, element, multipartTypes } = checksumAlgorithms[algorithm]
  const key = `${algorithm}-${type}`
  const chosen = { 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': type }
  if (!multipartTypes.includes(type)) {
    test(`an upload cannot have ${algorithm} as ${type}`, async () => {
      refused(await ask('POST', `${key}?uploads`, chosen), 400, 'InvalidRequest')
    })
    return
  }
  test(`${algorithm} as ${type} is verified of each part and of the whole, and told wherever checksums are`, async () => {
    const id = await begin(key, chosen)
    for (const [at, piece] of bodies.entries()) {
      const part = `${key}?partNumber=${at + 1}&uploadId=${id}`
      refused(await ask('PUT', part, { [header]: sum(algorithm) }, piece), 400, 'BadDigest')
      const value = sum(algorithm, piece)
      const named = { [header]: value, 'x-amz-sdk-checksum-algorithm': algorithm }
      const { status, headers } = await ask('PUT', part, named, piece)
      assert.deepEqual([status, headers[header]], [200, value])
    }
    const listed = await ask('GET', `${key}?uploadId=${id}`)
    for (const expected of [
      `<ChecksumAlgorithm>${algorithm}</ChecksumAlgorithm>`,
      `<ChecksumType>${type}</ChecksumType>`,
      ...bodies.map((piece) => `<${element}>${sum(algorithm, piece)}</${element}>`),
    ]) {
      assert.ok(listed.text.includes(expected), expected)
    }

    const values = bodies.map((piece) => Buffer.from(sum(algorithm, piece), 'base64'))
    const whole = type === 'COMPOSITE' ? `${sum(algorithm, ...values)}-2` : sum(algorithm, ...bodies)
    const document = completion(bodies, (piece) => `<${element}>${sum(algorithm, piece)}</${element}>`)
    const finish = (value: string): Promise<Answer> =>
      ask(
        'POST',
        `${key}?uploadId=${id}`,
        { [header]: value, 'x-amz-checksum-type': type, 'x-amz-mp-object-size': String(5 * MIB + 1000) },
        document,
      )
    refused(await finish(sum(algorithm)), 400, 'BadDigest')
    const done = await finish(whole)
    assert.equal(done.status, 200, done.text)
    assert.ok(done.text.includes(`<${element}>${whole}</${element}><ChecksumType>${type}</ChecksumType>`), done.text)
    const head = await ask('HEAD', key, { 'x-amz-checksum-mode': 'ENABLED' })
    assert.deepEqual([head.headers[header], head.headers['x-amz-checksum-type']], [whole, type])
  })
}

test('a checksum of the XXHASH family may come in a trailer, and be computed of a copy', async () => {
  const [, body = Buffer.alloc(0)] = bodies
  const { header } = checksumAlgorithms.XXHASH3
  const put = (value: string): Promise<Answer> =>
    send(t, 'PUT', `/${Bucket}/trailed`, {
      hash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      headers: { 'x-amz-decoded-content-length': String(body.length), 'x-amz-trailer': header },
      body: Buffer.concat([...encodeChunked([body], { trailers: { [header]: value } })]),
    })
  refused(await put(sum('XXHASH3')), 400, 'BadDigest')
  const value = sum('XXHASH3', body)
  assert.equal((await put(value)).headers[header], value)
  const from = { 'x-amz-copy-source': `/${Bucket}/trailed`, 'x-amz-checksum-algorithm': 'XXHASH128' }
  const { text } = await ask('PUT', 'copied', from)
  assert.ok(text.includes(`<ChecksumXXHASH128>${sum('XXHASH128', body)}</ChecksumXXHASH128>`), text)
})

test('Complete refuses checksums of parts that are wrong, no base64, of another algorithm, or two at once', async () => {
  const id = await upload('bad-parts', { 'x-amz-checksum-algorithm': 'CRC32' })
  const attempt = (inner: string): Promise<Answer> =>
    ask(
      'POST',
      `bad-parts?uploadId=${id}`,
      {},
      completion(bodies, () => inner),
    )
  const wrong = '<ChecksumCRC32>AAAAAA==</ChecksumCRC32>'
  refused(await attempt(wrong), 400, 'InvalidPart')
  refused(await attempt('<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>'), 400, 'BadDigest')
  refused(await attempt('<ChecksumCRC32>AAAAAB==</ChecksumCRC32>'), 400, 'InvalidArgument')
  refused(await attempt('<ChecksumCRC99>AAAAAA==</ChecksumCRC99>'), 400, 'InvalidArgument')
  const two = await attempt(`${wrong}<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>`)
  refused(two, 400, 'InvalidArgument')
  assert.match(two.text, /<ArgumentValue>CRC32:AAAAAA==;CRC32C:AAAAAA==;<\/ArgumentValue>/)
  const right = completion(bodies, (piece) => `<ChecksumCRC32>${sum('CRC32', piece)}</ChecksumCRC32>`)
  assert.equal((await ask('POST', `bad-parts?uploadId=${id}`, {}, right)).status, 200)
})

test('Complete refuses a checksum, type or size that the object would not have, and leaves the upload open', async () => {
  const id = await upload('bad-whole', { 'x-amz-checksum-algorithm': 'CRC32' })
  const whole = sum('CRC32', ...bodies.map((piece) => Buffer.from(sum('CRC32', piece), 'base64')))
  const attempt = (headers: Headers): Promise<Answer> =>
    ask(
      'POST',
      `bad-whole?uploadId=${id}`,
      headers,
      completion(bodies, (piece) => `<ChecksumCRC32>${sum('CRC32', piece)}</ChecksumCRC32>`),
    )
  const cases = [
    [{ 'x-amz-checksum-crc32': 'AAAAAA==' }, 'BadDigest'],
    [{ 'x-amz-checksum-crc32': `${whole}-3` }, 'BadDigest'],
    [{ 'x-amz-checksum-crc32': `${whole}-a` }, 'InvalidRequest'],
    [{ 'x-amz-checksum-crc32': 'AAAA' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-crc99': whole }, 'InvalidRequest'],
    [{ 'x-amz-checksum-crc32c': whole }, 'InvalidRequest'],
    [{ 'x-amz-checksum-crc32': whole, 'x-amz-checksum-crc32c': whole }, 'InvalidRequest'],
    [{ 'x-amz-checksum-type': 'FULL_OBJECT' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-type': 'NONE' }, 'InvalidRequest'],
    [{ 'x-amz-mp-object-size': '5' }, 'InvalidRequest'],
    [{ 'x-amz-mp-object-size': '-5' }, 'InvalidRequest'],
    [{ 'x-amz-mp-object-size': 'five' }, 'InvalidRequest'],
  ] as const
  for (const [headers, code] of cases) refused(await attempt(headers), 400, code)
  assert.equal((await attempt({ 'x-amz-checksum-crc32': whole })).status, 200)
  assert.equal((await attempt({ 'x-amz-checksum-crc32': whole })).status, 200)
})

test('Complete refuses parts that together are larger than an object may be', async () => {
  const bucket = await t.addBucket('huge')
  await t.catalog.commit([{ do: 'resize-volume', volume, sizeBytes: 2 ** 40 }])
  const { text } = await send(t, 'POST', '/huge/key?uploads')
  const id = /<UploadId>(.*)<\/UploadId>/.exec(text)?.[1] ?? ''
  const sizeBytes = 3 * 2 ** 30
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' } as const
  // UploadPart would refuse the second, so the rows are written as if it had not.
  for (const number of [1, 2]) {
    const blob = String(number).repeat(32)
    const part = { number, sizeBytes, etag: blob, modifiedMs: 1, checksum, blobs: [{ blob, sizeBytes }] }
    await t.catalog.commit([{ do: 'put-part', bucket, upload: id, maxTotalBytes: 2 ** 50, part }])
  }
  const complete = (numbers: readonly number[]): Promise<Answer> => {
    const parts = numbers.map((n) => `<Part><PartNumber>${n}</PartNumber><ETag>${String(n).repeat(32)}</ETag></Part>`)
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    return send(t, 'POST', `/huge/key?uploadId=${id}`, { body })
  }
  const answer = await complete([1, 2])
  refused(answer, 400, 'EntityTooLarge')
  assert.match(answer.text, new RegExp(`<ProposedSize>${2 * sizeBytes}</ProposedSize>`))
  assert.equal((await send(t, 'GET', `/huge/key?uploadId=${id}`)).status, 200)
  assert.equal((await complete([2])).status, 200)
})

test('a repeated Complete is answered as the first one while its object is there, whatever it made conditions of', async () => {
  const small = [Buffer.from('only')]
  const id = await upload('repeated', {}, small)
  const again = (headers: Headers = {}): Promise<Answer> =>
    ask('POST', `repeated?uploadId=${id}`, headers, completion(small))
  const first = await again({ 'if-none-match': '*' })
  assert.equal(first.status, 200)
  assert.equal((await again({ 'if-none-match': '*' })).text, first.text)
  await ask('DELETE', 'repeated')
  refused(await again(), 404, 'NoSuchUpload')
})

test('ListParts tells the storage class that the object will have', async () => {
  const id = await begin('cold', { 'x-amz-storage-class': 'STANDARD_IA' })
  const { text } = await ask('GET', `cold?uploadId=${id}`)
  assert.match(text, /<StorageClass>STANDARD_IA<\/StorageClass>/)
})

test('a checksum mode that there is not is refused', async () => {
  await ask('PUT', 'mode', {}, 'body')
  refused(await ask('GET', 'mode', { 'x-amz-checksum-mode': 'DISABLED' }), 400, 'InvalidRequest')
  assert.equal((await ask('HEAD', 'mode', { 'x-amz-checksum-mode': 'x' })).status, 400)
  assert.equal((await ask('GET', 'mode', { 'x-amz-checksum-mode': 'enabled' })).status, 200)
})
