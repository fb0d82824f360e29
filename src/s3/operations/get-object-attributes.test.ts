import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type {
  ChecksumAlgorithm,
  ChecksumType,
  GetObjectAttributesCommandOutput,
  HeadObjectCommandOutput,
  ObjectAttributes,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { checksumAlgorithms } from '../checksums/algorithms.ts'
import { send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'attributes'
const MIB = 2 ** 20
const [five, last] = [Buffer.alloc(5 * MIB, 1), Buffer.alloc(1000, 2)]
const all: ObjectAttributes[] = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize']
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

function attributes(Key: string, more: object = {}): Promise<GetObjectAttributesCommandOutput> {
  return t.s3.send(new GetObjectAttributesCommand({ Bucket, Key, ObjectAttributes: all, ...more }))
}

function raw(target: string, headers: Readonly<Record<string, string>> = {}) {
  return send(t, 'GET', target, { headers: { 'x-amz-object-attributes': all.join(','), ...headers } })
}

async function putParts(
  Key: string,
  bodies: Readonly<Record<number, Buffer>>,
  made: { readonly ChecksumAlgorithm: ChecksumAlgorithm; readonly ChecksumType?: ChecksumType },
): Promise<void> {
  const where = { Bucket, Key }
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ ...where, ...made }))
  const { ChecksumAlgorithm } = made
  const Parts = []
  for (const [number, Body] of Object.entries(bodies)) {
    const PartNumber = Number(number)
    const part = new UploadPartCommand({ ...where, UploadId, PartNumber, Body, ChecksumAlgorithm })
    const { $metadata: _, ...answered } = await t.s3.send(part)
    Parts.push({ PartNumber, ...answered })
  }
  await t.s3.send(new CompleteMultipartUploadCommand({ ...where, UploadId, MultipartUpload: { Parts } }))
}

function sha256(...pieces: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('base64')
}

const failing = (name: string, status: number) => (failure: S3ServiceException) => {
  assert.deepEqual([failure.name, failure.$metadata.httpStatusCode], [name, status])
  return true
}

test('an object that was put at once has no parts, and its ETag comes without quotes', async () => {
  const { ETag } = await t.s3.send(
    new PutObjectCommand({ Bucket, Key: 'one', Body: last, ChecksumAlgorithm: 'SHA256' }),
  )
  const { $metadata: _, LastModified, ...found } = await attributes('one')
  assert.deepEqual(found, {
    ETag: ETag?.replaceAll('"', ''),
    Checksum: { ChecksumSHA256: sha256(last), ChecksumType: 'FULL_OBJECT' },
    StorageClass: 'STANDARD',
    ObjectSize: 1000,
  })
  const head = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'one' }))
  assert.deepEqual(LastModified, head.LastModified)
})

test('the storage class is the one the object was given', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'cold', Body: last, StorageClass: 'STANDARD_IA' }))
  assert.equal((await attributes('cold')).StorageClass, 'STANDARD_IA')
})

test('only what is named is answered', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'some', Body: last }))
  const { $metadata: _, LastModified: __, ...found } = await attributes('some', { ObjectAttributes: ['ObjectSize'] })
  assert.deepEqual(found, { ObjectSize: 1000 })
})

test('parts are told with sizes and checksums, page by page', async () => {
  await putParts('parts', { 2: five, 5: five, 9: last }, { ChecksumAlgorithm: 'SHA256' })
  const whole = await attributes('parts')
  const [big, small] = [sha256(five), sha256(last)]
  const composite = sha256(...[big, big, small].map((value) => Buffer.from(value, 'base64')))
  assert.deepEqual(whole.Checksum, { ChecksumSHA256: `${composite}-3`, ChecksumType: 'COMPOSITE' })
  assert.match(whole.ETag ?? '', /^[0-9a-f]{32}-3$/)
  assert.deepEqual(whole.ObjectParts, {
    TotalPartsCount: 3,
    PartNumberMarker: '0',
    NextPartNumberMarker: '9',
    MaxParts: 1000,
    IsTruncated: false,
    Parts: [
      { PartNumber: 2, Size: 5 * MIB, ChecksumSHA256: big },
      { PartNumber: 5, Size: 5 * MIB, ChecksumSHA256: big },
      { PartNumber: 9, Size: 1000, ChecksumSHA256: small },
    ],
  })
  const numbers: (number | undefined)[] = []
  let marker: string | undefined
  for (let pages = 1; ; pages += 1) {
    const { ObjectParts: page } = await attributes('parts', { MaxParts: 2, PartNumberMarker: marker })
    assert.deepEqual([page?.MaxParts, page?.TotalPartsCount], [2, 3])
    numbers.push(...(page?.Parts ?? []).map((part) => part.PartNumber))
    marker = page?.NextPartNumberMarker
    if (page?.IsTruncated === true) continue
    assert.equal(pages, 2)
    break
  }
  assert.deepEqual(numbers, [2, 5, 9])
})

test('parts of an object with a full-object checksum are told too', async () => {
  await putParts('full', { 1: five, 2: last }, { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' })
  const { ObjectParts, Checksum } = await attributes('full')
  assert.equal(Checksum?.ChecksumType, 'FULL_OBJECT')
  assert.deepEqual(
    ObjectParts?.Parts?.map((part) => [part.PartNumber, part.Size]),
    [
      [1, 5 * MIB],
      [2, 1000],
    ],
  )
})

test('versions, delete markers and absent keys are told apart', async () => {
  await t.addBucket('versioned')
  const where = { Bucket: 'versioned', Key: 'k' }
  const Status = { Status: 'Enabled' } as const
  await t.s3.send(new PutBucketVersioningCommand({ Bucket: 'versioned', VersioningConfiguration: Status }))
  const first = await t.s3.send(new PutObjectCommand({ ...where, Body: last }))
  const second = await t.s3.send(new PutObjectCommand({ ...where, Body: 'second' }))
  const newest = await attributes('k', where)
  assert.deepEqual([newest.VersionId, newest.ObjectSize], [second.VersionId, 6])
  const older = await attributes('k', { ...where, VersionId: first.VersionId })
  assert.deepEqual([older.VersionId, older.ObjectSize], [first.VersionId, 1000])
  const marker = await t.s3.send(new DeleteObjectCommand(where))
  const gone = await raw('/versioned/k?attributes')
  assert.deepEqual([gone.status, gone.headers['x-amz-delete-marker']], [404, 'true'])
  const ofMarker = await raw(`/versioned/k?attributes&versionId=${marker.VersionId}`)
  assert.deepEqual([ofMarker.status, ofMarker.headers['x-amz-delete-marker']], [405, 'true'])
  await assert.rejects(attributes('absent'), failing('NoSuchKey', 404))
  await assert.rejects(attributes('k', { ...where, VersionId: 'f'.repeat(32) }), failing('NoSuchVersion', 404))
})

test('conditions hold as they do for GET', async () => {
  const { ETag = '' } = await t.s3.send(new PutObjectCommand({ Bucket, Key: 'if', Body: last }))
  assert.equal((await raw(`/${Bucket}/if?attributes`, { 'if-match': '"0"' })).status, 412)
  assert.equal((await raw(`/${Bucket}/if?attributes`, { 'if-match': ETag })).status, 200)
  assert.equal((await raw(`/${Bucket}/if?attributes`, { 'if-none-match': ETag })).status, 304)
})

test('attributes must be named, and be some that there are', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'bad', Body: last }))
  const cases = [
    [{ 'x-amz-object-attributes': '' }, 'InvalidRequest'],
    [{ 'x-amz-object-attributes': 'ETag,Colour' }, 'InvalidArgument'],
    [{ 'x-amz-object-attributes': 'etag' }, 'InvalidArgument'],
    [{ 'x-amz-max-parts': '-1' }, 'InvalidArgument'],
    [{ 'x-amz-part-number-marker': 'x' }, 'InvalidArgument'],
  ] as const
  for (const [headers, code] of cases) {
    const { status, text } = await raw(`/${Bucket}/bad?attributes`, headers)
    assert.equal(status, 400)
    assert.match(text, new RegExp(`<Code>${code}</Code>`), JSON.stringify(headers))
  }
  assert.equal((await raw(`/${Bucket}/bad?attributes`, { 'x-amz-object-attributes': 'ETag, ObjectSize' })).status, 200)
})

test('the right to read the attributes is not enough without the right to read the object', async () => {
  const statement = (actions: string[]) => ({ effect: 'allow', actions, resources: ['half', 'half/*'] })
  const other = { accessKeyId: 'AKIDHALFEXAMPLE', secretAccessKey: 'half/of/the/rights' }
  await t.addUser('half', other)
  const principals = ['half']
  await t.addBucket('half', {
    statements: [
      { ...statement(['GetObjectAttributes']), principals },
      { ...statement(['GetObject']), principals, resources: ['half/readable'] },
    ],
  })
  const order = { Bucket: 'half', ObjectAttributes: all }
  for (const Key of ['readable', 'hidden']) await t.s3.send(new PutObjectCommand({ Bucket: 'half', Key, Body: last }))
  const client = t.client(other)
  assert.equal((await client.send(new GetObjectAttributesCommand({ ...order, Key: 'readable' }))).ObjectSize, 1000)
  await assert.rejects(
    client.send(new GetObjectAttributesCommand({ ...order, Key: 'hidden' })),
    failing('AccessDenied', 403),
  )
})

test('a part is answered with its own checksum, whatever type that of the whole is', async () => {
  const read = async (Key: string, more: object): Promise<HeadObjectCommandOutput> => {
    const order = { Bucket, Key, ChecksumMode: 'ENABLED', ...more } as const
    // The client compares what it reads with the checksum it is told.
    const found = await t.s3.send(new GetObjectCommand(order))
    await found.Body?.transformToByteArray()
    const { ChecksumSHA256, ChecksumCRC32, ChecksumType: type, PartsCount } = found
    const head = await t.s3.send(new HeadObjectCommand(order))
    assert.deepEqual(
      [head.ChecksumSHA256, head.ChecksumCRC32, head.ChecksumType, head.PartsCount],
      [ChecksumSHA256, ChecksumCRC32, type, PartsCount],
    )
    return head
  }
  await putParts('composite', { 1: five, 2: last }, { ChecksumAlgorithm: 'SHA256' })
  for (const [PartNumber, body] of [
    [1, five],
    [2, last],
  ] as const) {
    const part = await read('composite', { PartNumber })
    assert.deepEqual([part.ChecksumSHA256, part.ChecksumType, part.PartsCount], [sha256(body), 'COMPOSITE', 2])
  }
  assert.match((await read('composite', {})).ChecksumSHA256 ?? '', /-2$/)
  assert.equal((await read('composite', { Range: 'bytes=0-9' })).ChecksumSHA256, undefined)
  // A range that is a part is still a range.
  assert.equal((await read('composite', { Range: `bytes=0-${5 * MIB - 1}` })).ChecksumType, undefined)

  await putParts('whole', { 1: five, 2: last }, { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' })
  const told = (await attributes('whole')).ObjectParts?.Parts
  for (const [PartNumber, body] of [
    [1, five],
    [2, last],
  ] as const) {
    const { ChecksumCRC32, ChecksumType, PartsCount } = await read('whole', { PartNumber })
    const value = checksumAlgorithms.CRC32.begin()
    value.update(body)
    assert.deepEqual([ChecksumCRC32, ChecksumType, PartsCount], [value.value().toString('base64'), 'FULL_OBJECT', 2])
    assert.equal(told?.[PartNumber - 1]?.ChecksumCRC32, ChecksumCRC32)
  }

  await putParts('single', { 3: last }, { ChecksumAlgorithm: 'SHA256' })
  assert.equal((await read('single', { PartNumber: 3 })).ChecksumSHA256, sha256(last))
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'put', Body: last, ChecksumAlgorithm: 'SHA256' }))
  const put = await read('put', { PartNumber: 1 })
  assert.deepEqual([put.ChecksumSHA256, put.ChecksumType, put.PartsCount], [sha256(last), 'FULL_OBJECT', undefined])
})
