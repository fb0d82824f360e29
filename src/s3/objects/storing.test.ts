import assert from 'node:assert/strict'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { VolumeCounters } from '../../ports/catalog.ts'
import { textOf } from '../../ports/volumes.suite.ts'
import { refused, startTestPlane, svm, volume } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'bucket'
const MIB = 2 ** 20
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

async function store(how: { compression?: string; dedupe?: string }): Promise<void> {
  await t.put('storage/volumes', volume, {
    uuid: volume,
    name: 'vol2',
    'svm.uuid': svm,
    aggregates: [{ uuid: 'aggr1' }],
    state: 'online',
    'efficiency.compression': how.compression ?? 'none',
    'efficiency.dedupe': how.dedupe ?? 'none',
  })
}

const put = (Key: string, Body: Buffer) => t.s3.send(new PutObjectCommand({ Bucket, Key, Body }))
const remove = (Key: string) => t.s3.send(new DeleteObjectCommand({ Bucket, Key }))

async function get(Key: string, Range?: string): Promise<Buffer> {
  const { Body } = await t.s3.send(new GetObjectCommand({ Bucket, Key, ...(Range === undefined ? {} : { Range }) }))
  return Buffer.from((await Body?.transformToByteArray()) ?? [])
}

async function counters(): Promise<VolumeCounters> {
  const found = await t.catalog.volume(volume)
  assert.ok(found)
  return found
}

/** Bytes of all blobs as the disk has them: those of each file once. */
async function storedBytes(): Promise<number> {
  const { blobs } = await t.catalog.storedBlobs(volume, '', 1000)
  const files = new Map<string, number>()
  for (const { blob, group } of blobs) {
    const reader = await t.volumes.open(volume, blob)
    files.set(group ?? blob, reader.storedBytes)
    await reader.close()
  }
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0)
}

test('an object of compressed parts gives any range as it was sent', async () => {
  await store({ compression: 'inline' })
  const bodies = [
    textOf(5 * MIB + 77),
    Buffer.concat([textOf(3 * MIB), randomBytes(3 * MIB)]),
    randomBytes(5 * MIB),
    textOf(100_000),
  ]
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }))
  const Parts = await Promise.all(
    bodies.map(async (Body, index) => {
      const part = { PartNumber: index + 1, Body }
      const { ETag } = await t.s3.send(new UploadPartCommand({ Bucket, Key: 'parts', UploadId, ...part }))
      return { ETag, PartNumber: part.PartNumber }
    }),
  )
  const done = { Bucket, Key: 'parts', UploadId, MultipartUpload: { Parts } }
  await t.s3.send(new CompleteMultipartUploadCommand(done))
  const whole = Buffer.concat(bodies)
  assert.ok((await get('parts')).equals(whole))
  for (let n = 0; n < 40; n++) {
    const start = randomInt(whole.length)
    const end = Math.min(whole.length - 1, start + randomInt(n % 2 === 0 ? 3 * MIB : 200))
    assert.ok((await get('parts', `bytes=${start}-${end}`)).equals(whole.subarray(start, end + 1)), `${start}-${end}`)
  }
  assert.ok((await get('parts', 'bytes=-1000')).equals(whole.subarray(-1000)))
  const { usedBytes, savedByCompressionBytes } = await counters()
  assert.ok(usedBytes < whole.length * 0.7)
  assert.equal(usedBytes + savedByCompressionBytes, whole.length)
  assert.equal(usedBytes, await storedBytes())
  await remove('parts')
})

test('the same bytes put twice are stored once, and each object lives on without the other', async () => {
  await store({ compression: 'inline', dedupe: 'inline' })
  const { usedBytes: before } = await counters()
  const bytes = textOf(MIB)
  await put('one', bytes)
  const { usedBytes: once } = await counters()
  await put('two', bytes)
  await put('three', bytes)
  const { usedBytes, savedByDedupeBytes } = await counters()
  assert.deepEqual([usedBytes, savedByDedupeBytes], [once, 2 * MIB])
  assert.equal(usedBytes - before, await storedBytes())
  await remove('one')
  await t.volumes.unlink(volume, (await t.catalog.unneededBlobs(volume, 1))[0] ?? '')
  assert.ok((await get('two')).equals(bytes))
  await t.s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/two` }))
  await remove('two')
  await remove('three')
  assert.ok((await get('copy')).equals(bytes))
  assert.equal((await counters()).savedByDedupeBytes, 0)
  await remove('copy')
  assert.equal((await counters()).usedBytes, before)
})

test('bytes of the same digest that are others do not share anything', async () => {
  await store({ dedupe: 'inline' })
  const bytes = textOf(10_000)
  await put('mine', bytes)
  const { blobs } = await t.catalog.storedBlobs(volume, '', 1000)
  const mine = blobs.find(({ sizeBytes }) => sizeBytes === 10_000)
  // As if somebody had made other bytes of the same digest.
  const forged = randomBytes(10_000)
  const digest = createHash('md5').update(forged).digest('hex')
  await t.catalog.commit([{ do: 'note-blob', volume, blob: mine?.blob ?? '', digest }])
  await put('forged', forged)
  assert.ok((await get('forged')).equals(forged))
  assert.ok((await get('mine')).equals(bytes))
  assert.equal((await counters()).savedByDedupeBytes, 0)
  await remove('mine')
  await remove('forged')
})

test('what fits when it is compressed is taken by a volume that has no room for it otherwise', async () => {
  await store({ compression: 'inline' })
  await t.catalog.commit([{ do: 'resize-volume', volume, sizeBytes: MIB }])
  const bytes = textOf(2 * MIB)
  await put('fits', bytes)
  assert.ok((await get('fits')).equals(bytes))
  await assert.rejects(put('noise', randomBytes(2 * MIB)), refused('QuotaExceeded', 403))
  await store({})
  await assert.rejects(put('plain', bytes), refused('QuotaExceeded', 403))
  assert.ok((await get('fits', 'bytes=1000000-1000009')).equals(bytes.subarray(1_000_000, 1_000_010)))
})
