import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketTaggingCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3'
import { startTestPlane, svm, volume } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

let plane: TestPlane
before(async () => {
  plane = await startTestPlane()
  await plane.addBucket('mirror')
  await plane.s3.send(new PutObjectCommand({ Bucket: 'mirror', Key: 'a', Body: 'first' }))
})
after(() => plane.close())
beforeEach(() => setType('rw'))

/** What the record says is what requests are told early; what the catalog has been told is what holds. */
async function setType(type: string, isTold = true): Promise<void> {
  const record = await plane.catalog.record('storage/volumes', volume)
  await plane.catalog.commit([
    { do: 'protect-volume', volume, isReadOnly: type !== 'rw' },
    ...(isTold
      ? [
          {
            do: 'put-record',
            type: 'storage/volumes',
            key: volume,
            parent: svm,
            body: { ...record?.body, type },
          } as const,
        ]
      : []),
  ])
}

async function changes(): Promise<(() => Promise<unknown>)[]> {
  const of = { Bucket: 'mirror', Key: 'a' }
  const { UploadId } = await plane.s3.send(new CreateMultipartUploadCommand(of))
  const TagSet = [{ Key: 'k', Value: 'v' }]
  return [
    () => plane.s3.send(new PutObjectCommand({ ...of, Body: 'second' })),
    () => plane.s3.send(new PutObjectCommand({ Bucket: 'mirror', Key: 'b', Body: 'new' })),
    () => plane.s3.send(new DeleteObjectCommand(of)),
    () => plane.s3.send(new PutObjectTaggingCommand({ ...of, Tagging: { TagSet } })),
    () => plane.s3.send(new CreateMultipartUploadCommand(of)),
    () => plane.s3.send(new AbortMultipartUploadCommand({ ...of, UploadId })),
  ]
}

async function insistOnUnchanged(): Promise<void> {
  const { Body } = await plane.s3.send(new GetObjectCommand({ Bucket: 'mirror', Key: 'a' }))
  assert.equal(await Body?.transformToString(), 'first')
  const { Contents } = await plane.s3.send(new ListObjectsV2Command({ Bucket: 'mirror' }))
  assert.deepEqual(
    Contents?.map(({ Key }) => Key),
    ['a'],
  )
}

for (const type of ['dp', 'ls']) {
  test(`clients read a bucket in a volume of type ${type}, and are denied every change of it`, async () => {
    const attempts = await changes()
    await setType(type)
    attempts.push(
      () => plane.s3.send(new DeleteObjectsCommand({ Bucket: 'mirror', Delete: { Objects: [{ Key: 'a' }] } })),
      () => plane.s3.send(new PutBucketTaggingCommand({ Bucket: 'mirror', Tagging: { TagSet: [] } })),
    )
    for (const attempt of attempts) {
      await assert.rejects(attempt(), { name: 'AccessDenied', message: /destination of a replication/ })
    }
    await insistOnUnchanged()
  })
}

test('a write that was let in before its volume became read-only is denied by its commit, and leaves nothing', async () => {
  const attempts = await changes()
  const blobs = (await plane.blobs()).length
  await setType('dp', false)
  for (const attempt of attempts) {
    await assert.rejects(attempt(), { name: 'AccessDenied', message: /destination of a replication/ })
  }
  await insistOnUnchanged()
  assert.equal((await plane.blobs()).length, blobs)
})

test('a volume that is broken off takes writes at once', async () => {
  await setType('dp')
  await setType('rw')
  await plane.s3.send(new PutObjectCommand({ Bucket: 'mirror', Key: 'b', Body: 'new' }))
  await plane.s3.send(new DeleteObjectCommand({ Bucket: 'mirror', Key: 'b' }))
})
