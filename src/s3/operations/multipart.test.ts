import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import type { CompletedPart, CompleteMultipartUploadCommandOutput, S3ServiceException } from '@aws-sdk/client-s3'
import { send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'parts'
const MIB = 2 ** 20
const [five, last] = [Buffer.alloc(5 * MIB, 1), Buffer.alloc(1000, 2)]
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

async function begin(Key: string, more: object = {}): Promise<string> {
  const { UploadId = '' } = await t.s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))
  return UploadId
}

async function upload(
  Key: string,
  UploadId: string,
  bodies: readonly Buffer[],
  more: object = {},
): Promise<CompletedPart[]> {
  return Promise.all(
    bodies.map(async (Body, index) => {
      const PartNumber = index + 1
      const { $metadata: _, ...part } = await t.s3.send(
        new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ...more }),
      )
      return { ...part, PartNumber }
    }),
  )
}

function complete(
  Key: string,
  UploadId: string,
  Parts: CompletedPart[],
  more: object = {},
): Promise<CompleteMultipartUploadCommandOutput> {
  return t.s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts }, ...more }))
}

function failing(code: string, status: number): (failure: S3ServiceException) => true {
  return (failure) => {
    assert.equal(failure.name, code)
    assert.equal(failure.$metadata.httpStatusCode, status)
    return true
  }
}

test('the ETag is the MD5 of the MD5s, and a part can be read by its number', async () => {
  const id = await begin('two', { Metadata: { a: 'b' } })
  const parts = await upload('two', id, [five, last])
  const { ETag } = await complete('two', id, parts)
  const md5 = createHash('md5')
  for (const body of [five, last]) md5.update(createHash('md5').update(body).digest())
  assert.equal(ETag, `"${md5.digest('hex')}-2"`)
  const second = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'two', PartNumber: 2 }))
  assert.deepEqual(Buffer.from((await second.Body?.transformToByteArray()) ?? []), last)
  assert.deepEqual([second.PartsCount, second.ContentRange], [2, `bytes ${5 * MIB}-${5 * MIB + 999}/${5 * MIB + 1000}`])
  const across = await t.s3.send(
    new GetObjectCommand({ Bucket, Key: 'two', Range: `bytes=${5 * MIB - 2}-${5 * MIB + 1}` }),
  )
  assert.deepEqual(Buffer.from((await across.Body?.transformToByteArray()) ?? []), Buffer.from([1, 1, 2, 2]))
  assert.deepEqual((await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'two' }))).Metadata, { a: 'b' })
})

test('a full-object CRC is combined from those of the parts, a composite one is made of them', async () => {
  const full = await begin('full', { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' })
  const fullParts = await upload('full', full, [five, last], { ChecksumAlgorithm: 'CRC32' })
  const whole = Buffer.alloc(4)
  whole.writeUInt32BE(crc32(Buffer.concat([five, last])))
  const done = await complete('full', full, fullParts, {
    ChecksumType: 'FULL_OBJECT',
    ChecksumCRC32: whole.toString('base64'),
  })
  assert.deepEqual([done.ChecksumCRC32, done.ChecksumType], [whole.toString('base64'), 'FULL_OBJECT'])

  const composite = await begin('composite', { ChecksumAlgorithm: 'SHA256' })
  const parts = await upload('composite', composite, [five, last], { ChecksumAlgorithm: 'SHA256' })
  const made = await complete('composite', composite, parts)
  const sha = createHash('sha256')
  for (const body of [five, last]) sha.update(createHash('sha256').update(body).digest())
  assert.deepEqual([made.ChecksumSHA256, made.ChecksumType], [`${sha.digest('base64')}-2`, 'COMPOSITE'])
  const head = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'composite', ChecksumMode: 'ENABLED' }))
  assert.equal(head.ChecksumSHA256, made.ChecksumSHA256)
})

test('an upload that chose no algorithm takes parts with any and keeps CRC64NVME', async () => {
  const created = await send(t, 'POST', `/${Bucket}/any?uploads`)
  const id = /<UploadId>(.*)<\/UploadId>/.exec(created.text)?.[1] ?? ''
  const parts = await upload('any', id, [last], { ChecksumAlgorithm: 'CRC32' })
  assert.ok(parts[0]?.ChecksumCRC32)
  const done = await complete('any', id, parts)
  assert.deepEqual([typeof done.ChecksumCRC64NVME, done.ChecksumType], ['string', 'FULL_OBJECT'])
})

test('Complete tells what is wrong with the list of parts and leaves the upload open', async () => {
  const id = await begin('wrong', { ChecksumAlgorithm: 'CRC32' })
  const parts = await upload('wrong', id, [last, five, last])
  const [one = {}, two = {}, three = {}] = parts
  await assert.rejects(complete('wrong', id, parts), failing('EntityTooSmall', 400))
  await assert.rejects(complete('wrong', id, [three, two]), failing('InvalidPartOrder', 400))
  await assert.rejects(complete('wrong', id, [two, two]), failing('InvalidPartOrder', 400))
  await assert.rejects(complete('wrong', id, [{ ...two, ETag: '"0"' }]), failing('InvalidPart', 400))
  await assert.rejects(complete('wrong', id, [{ ...two, PartNumber: 9 }]), failing('InvalidPart', 400))
  await assert.rejects(complete('wrong', id, [{ ...two, ChecksumCRC32: 'AAAAAA==' }]), failing('InvalidPart', 400))
  await assert.rejects(complete('wrong', id, []), failing('MalformedXML', 400))
  await assert.rejects(complete('wrong', id, [one], { MpuObjectSize: 5 }), failing('InvalidRequest', 400))
  await assert.rejects(complete('wrong', id, [one], { ChecksumType: 'FULL_OBJECT' }), failing('InvalidRequest', 400))
  await complete('wrong', id, [two, three], { MpuObjectSize: 5 * MIB + 1000 })
})

test('Complete can be repeated, also many times at once, and answers the same', async () => {
  const id = await begin('again')
  const parts = await upload('again', id, [last])
  const all = await Promise.all(Array.from({ length: 4 }, () => complete('again', id, parts)))
  assert.equal(new Set(all.map((one) => one.ETag)).size, 1)
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'again', Body: 'new' }))
  await assert.rejects(complete('again', id, parts), failing('NoSuchUpload', 404))
})

test('Complete with If-None-Match: * does not replace an object', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'there', Body: 'x' }))
  const id = await begin('there')
  const parts = await upload('there', id, [last])
  await assert.rejects(complete('there', id, parts, { IfNoneMatch: '*' }), failing('PreconditionFailed', 412))
})

test('parts are copied from an object or from a range of one', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'whole', Body: five, ChecksumAlgorithm: 'CRC64NVME' }))
  const id = await begin('copied', { ChecksumAlgorithm: 'CRC64NVME' })
  const blobs = (await t.blobs()).length
  const copy = async (PartNumber: number, more: object = {}): Promise<CompletedPart> => {
    const { CopyPartResult } = await t.s3.send(
      new UploadPartCopyCommand({
        Bucket,
        Key: 'copied',
        UploadId: id,
        PartNumber,
        CopySource: `${Bucket}/whole`,
        ...more,
      }),
    )
    return { ETag: CopyPartResult?.ETag, PartNumber }
  }
  const first = await copy(1)
  assert.equal((await t.blobs()).length, blobs)
  const second = await copy(2, { CopySourceRange: 'bytes=10-19' })
  assert.equal((await t.blobs()).length, blobs + 1)
  await assert.rejects(copy(3, { CopySourceRange: `bytes=0-${5 * MIB}` }), failing('InvalidArgument', 400))
  await complete('copied', id, [first, second])
  assert.equal((await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'copied' }))).ContentLength, 5 * MIB + 10)
})

test('the sum of the parts is bounded by 5 GiB, before the bytes of the part that is too much', async () => {
  const id = await begin('sum')
  await upload('sum', id, [five, five])
  const { text } = await send(t, 'PUT', `/${Bucket}/sum?partNumber=3&uploadId=${id}`, {
    headers: { 'content-length': String(5 * 2 ** 30 - MIB), expect: '100-continue' },
  })
  // The volume of this test is smaller than that.
  assert.match(text, /<Code>(EntityTooLarge|QuotaExceeded)<\/Code>/)
})

test('a part can be sent again when the bucket is full', async () => {
  await t.addBucket('full', { limitBytes: 1500 })
  const where = { Bucket: 'full', Key: 'x' }
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand(where))
  const part = (PartNumber: number): Promise<unknown> =>
    t.s3.send(new UploadPartCommand({ ...where, UploadId, PartNumber, Body: last }))
  await part(1)
  await assert.rejects(part(2), failing('QuotaExceeded', 403))
  await part(1)
})

test('Abort lets go of the parts, and what is named afterwards is NoSuchUpload', async () => {
  const id = await begin('gone')
  const parts = await upload('gone', id, [last])
  const used = (await t.catalog.volumes()).values().next().value?.usedBytes ?? 0
  await t.s3.send(new AbortMultipartUploadCommand({ Bucket, Key: 'gone', UploadId: id }))
  assert.equal(((await t.catalog.volumes()).values().next().value?.usedBytes ?? 0) <= used, true)
  await assert.rejects(complete('gone', id, parts), failing('NoSuchUpload', 404))
  await assert.rejects(upload('gone', id, [last]), failing('NoSuchUpload', 404))
  await assert.rejects(
    t.s3.send(new ListPartsCommand({ Bucket, Key: 'gone', UploadId: id })),
    failing('NoSuchUpload', 404),
  )
  await assert.rejects(
    t.s3.send(new AbortMultipartUploadCommand({ Bucket, Key: 'gone', UploadId: id })),
    failing('NoSuchUpload', 404),
  )
  // An id of another key is none.
  const other = await begin('other')
  await assert.rejects(upload('gone', other, [last]), failing('NoSuchUpload', 404))
})

test('parts are listed page by page', async () => {
  const id = await begin('paged', { ChecksumAlgorithm: 'CRC32' })
  await upload('paged', id, [last, last, last])
  const list = (more: object): Promise<{ Parts?: { PartNumber?: number | undefined }[] | undefined }> =>
    t.s3.send(new ListPartsCommand({ Bucket, Key: 'paged', UploadId: id, ...more }))
  const first = await t.s3.send(new ListPartsCommand({ Bucket, Key: 'paged', UploadId: id, MaxParts: 2 }))
  assert.deepEqual([first.IsTruncated, first.NextPartNumberMarker], [true, '2'])
  assert.ok(first.Parts?.[0]?.ChecksumCRC32)
  assert.deepEqual(
    (await list({ PartNumberMarker: '2' })).Parts?.map((one) => one.PartNumber),
    [3],
  )
})

test('open uploads are listed in order, with prefixes and markers', async () => {
  await t.addBucket('uploads')
  const ids: string[] = []
  for (const Key of ['a', 'a', 'd/1', 'd/2', 'e']) {
    const { UploadId = '' } = await t.s3.send(new CreateMultipartUploadCommand({ Bucket: 'uploads', Key }))
    ids.push(UploadId)
  }
  const list = (more: object) => t.s3.send(new ListMultipartUploadsCommand({ Bucket: 'uploads', ...more }))
  assert.deepEqual(
    (await list({})).Uploads?.map((one) => one.UploadId),
    [...ids.slice(0, 2).toSorted(), ...ids.slice(2)],
  )
  const folded = await list({ Delimiter: '/', MaxUploads: 3 })
  assert.deepEqual([folded.Uploads?.length, folded.CommonPrefixes, folded.IsTruncated], [2, [{ Prefix: 'd/' }], true])
  const rest = await list({ Delimiter: '/', KeyMarker: folded.NextKeyMarker })
  assert.deepEqual(
    rest.Uploads?.map((one) => one.Key),
    ['e'],
  )
  const page = await list({ MaxUploads: 1 })
  const next = await list({ KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker, MaxUploads: 1 })
  assert.deepEqual([next.Uploads?.[0]?.Key, next.Uploads?.[0]?.UploadId === page.Uploads?.[0]?.UploadId], ['a', false])
  assert.deepEqual(
    (await list({ Prefix: 'd/' })).Uploads?.map((one) => one.Key),
    ['d/1', 'd/2'],
  )
})
