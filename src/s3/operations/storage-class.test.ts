import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { StorageClass } from '@aws-sdk/client-s3'
import { refused, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'classes'
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

async function classOf(Key: string): Promise<string | undefined> {
  const head = await t.s3.send(new HeadObjectCommand({ Bucket, Key }))
  const got = await t.s3.send(new GetObjectCommand({ Bucket, Key }))
  await got.Body?.transformToString()
  assert.equal(head.StorageClass, got.StorageClass)
  return head.StorageClass
}

function put(StorageClass: StorageClass | undefined): Promise<unknown> {
  return t.s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x', StorageClass }))
}

function copy(source: string, Key: string, more: object = {}): Promise<unknown> {
  return t.s3.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${source}`, ...more }))
}

async function upload(StorageClass: StorageClass): Promise<void> {
  const of = { Bucket, Key: 'parts' }
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ ...of, StorageClass }))
  const { ETag } = await t.s3.send(new UploadPartCommand({ ...of, UploadId, PartNumber: 1, Body: 'x' }))
  const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
  await t.s3.send(new CompleteMultipartUploadCommand({ ...of, UploadId, MultipartUpload }))
}

test('a class is told as it was given, and that of an ordinary object is not told', async () => {
  const classes = ['STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING', 'GLACIER_IR', 'REDUCED_REDUNDANCY'] as const
  for (const one of classes) {
    await put(one)
    assert.equal(await classOf('k'), one)
    await copy('k', 'copy', { StorageClass: one })
    assert.equal(await classOf('copy'), one)
    await upload(one)
    assert.equal(await classOf('parts'), one)
    const { Contents } = await t.s3.send(new ListObjectsV2Command({ Bucket }))
    const { Versions } = await t.s3.send(new ListObjectVersionsCommand({ Bucket }))
    for (const rows of [Contents, Versions])
      assert.deepEqual(new Set(rows?.map((row) => row.StorageClass)), new Set([one]))
  }
  // A copy has the class that is asked for with it, whatever its source has.
  await copy('k', 'copy')
  assert.equal(await classOf('copy'), undefined)
  await put('STANDARD')
  assert.equal(await classOf('k'), undefined)
})

test('an object is moved to another class by a copy onto itself, back to the ordinary one too', async () => {
  await put('STANDARD_IA')
  await assert.rejects(copy('k', 'k'), refused('InvalidRequest', 400))
  await copy('k', 'k', { StorageClass: 'STANDARD' })
  assert.equal(await classOf('k'), undefined)
  await copy('k', 'k', { StorageClass: 'STANDARD_IA' })
  assert.equal(await classOf('k'), 'STANDARD_IA')
})

test('classes that must be restored before they are read there are not', async () => {
  await put(undefined)
  for (const one of ['GLACIER', 'DEEP_ARCHIVE', 'OUTPOSTS', 'EXPRESS_ONEZONE', 'COLD'] as StorageClass[]) {
    await assert.rejects(put(one), refused('InvalidStorageClass', 400))
    await assert.rejects(copy('k', 'copy', { StorageClass: one }), refused('InvalidStorageClass', 400))
    await assert.rejects(upload(one), refused('InvalidStorageClass', 400))
  }
})
