import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { QuotaLimits } from '../ports/catalog.ts'
import { send, startTestPlane, svm, volume } from './test-plane.ts'
import type { TestPlane } from './test-plane.ts'

const Bucket = 'limited'
const anna = { accessKeyId: 'A'.repeat(20), secretAccessKey: 'a'.repeat(40) }
const KB = 1024
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addUser('anna', anna)
  await t.addBucket(Bucket, {
    statements: [{ effect: 'allow', principals: ['anna'], actions: ['*'], resources: [Bucket, `${Bucket}/*`] }],
  })
})
after(() => t.close())

const limit = (limits: QuotaLimits) =>
  t.catalog.commit([{ do: 'set-quota', volume, quota: { type: 'user', name: 'anna' }, limits }])
const held = async () => {
  const quota = (await t.catalog.quotas(volume)).find(({ name }) => name === 'anna')
  return [quota?.usedBytes, quota?.usedFiles]
}
const isQuotaExceeded = (failure: unknown) => {
  assert.ok(failure instanceof Error)
  assert.deepEqual([failure.name, failure.message], ['QuotaExceeded', MESSAGE])
  return true
}
const MESSAGE = 'The quota of the user is used up. Delete objects or raise its hard limit, then try again.'

test('who has used up a quota is told so, nothing is left of the write, and others go on', async () => {
  await limit({ hardBytes: 10 * KB })
  const client = t.client(anna)
  const put = (Key: string, size: number) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(size) }))
  await put('a', 6 * KB)
  const blobs = await t.blobs()
  await assert.rejects(put('b', 5 * KB), isQuotaExceeded)
  assert.deepEqual(await t.blobs(), blobs)
  await t.client().send(new PutObjectCommand({ Bucket, Key: 'b', Body: Buffer.alloc(50 * KB) }))
  // A copy belongs to who makes it.
  await assert.rejects(
    client.send(new CopyObjectCommand({ Bucket, Key: 'c', CopySource: `${Bucket}/b` })),
    isQuotaExceeded,
  )
  await put('b', 4 * KB)
  assert.deepEqual(await held(), [10 * KB, 2])
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'a' }))
  await put('c', 6 * KB)
  assert.deepEqual(await held(), [10 * KB, 2])
})

test('parts count to who opened the upload, until they are an object of his', async () => {
  await limit({ hardBytes: 20 * KB, hardFiles: 2 })
  const client = t.client(anna)
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }))
  const part = (PartNumber: number, size: number) =>
    client.send(new UploadPartCommand({ Bucket, Key: 'm', UploadId, PartNumber, Body: Buffer.alloc(size) }))
  await assert.rejects(part(1, 11 * KB), isQuotaExceeded)
  const { ETag } = await part(1, 10 * KB)
  assert.deepEqual(await held(), [20 * KB, 2])
  const complete = () =>
    client.send(
      new CompleteMultipartUploadCommand({
        Bucket,
        Key: 'm',
        UploadId,
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] },
      }),
    )
  await assert.rejects(complete(), isQuotaExceeded)
  await limit({ hardBytes: 20 * KB, hardFiles: 3 })
  await complete()
  assert.deepEqual(await held(), [20 * KB, 3])
})

test('writes over a quota that is on take nothing of the disk, however many there are', async () => {
  const body = { uuid: volume, name: 'vol1', 'svm.uuid': svm, aggregates: [{ uuid: 'aggr1' }], state: 'online' }
  await t.put('storage/volumes', volume, { ...body, 'quota.enabled': true })
  await limit({ hardBytes: 100 * KB, hardFiles: 4 })
  const client = t.client(anna)
  const put = (Key: string, size: number) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(size) }))
  await put('small', 10 * KB)
  const diskBytes = () =>
    readdirSync(t.volumes.place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  const before = diskBytes()
  for (let times = 0; times < 6; times++) {
    await assert.rejects(put('too many', KB), isQuotaExceeded)
    await assert.rejects(put('small', 60 * KB + 64 * KB), isQuotaExceeded)
  }
  await limit({ hardBytes: 40 * KB })
  for (let times = 0; times < 6; times++) await assert.rejects(put('too large', 40 * KB), isQuotaExceeded)
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }))
  const part = new UploadPartCommand({ Bucket, Key: 'm', UploadId, PartNumber: 1, Body: Buffer.alloc(40 * KB) })
  await assert.rejects(client.send(part), isQuotaExceeded)
  assert.equal(diskBytes(), before)
  // What is replaced makes room.
  await limit({ hardBytes: 100 * KB, hardFiles: 4 })
  await put('small', 11 * KB)
  await limit({})
  assert.equal((await send(t, 'PUT', `/${Bucket}/of-another`, { body: 'x' })).status, 200)
})
