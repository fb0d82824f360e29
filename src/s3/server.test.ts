import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CreateBucketCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { startTestPlane } from './test-plane.ts'
import type { TestPlane } from './test-plane.ts'

let t: TestPlane
before(async () => {
  t = await startTestPlane()
})
after(() => t.close())

test('a bucket is made, an object is put, read and listed', async () => {
  await t.s3.send(new CreateBucketCommand({ Bucket: 'first' }))
  assert.equal((await t.s3.send(new HeadBucketCommand({ Bucket: 'first' }))).BucketRegion, 'us-east-1')
  const put = await t.s3.send(
    new PutObjectCommand({
      Bucket: 'first',
      Key: 'a/b',
      Body: 'hello',
      ContentType: 'text/plain',
      Metadata: { colour: 'blue' },
    }),
  )
  assert.equal(put.ETag, '"5d41402abc4b2a76b9719d911017c592"')
  const got = await t.s3.send(new GetObjectCommand({ Bucket: 'first', Key: 'a/b', ChecksumMode: 'ENABLED' }))
  assert.equal(await got.Body?.transformToString(), 'hello')
  assert.equal(got.ContentType, 'text/plain')
  assert.deepEqual(got.Metadata, { colour: 'blue' })
  assert.equal(got.ChecksumCRC32, put.ChecksumCRC32)
  const listed = await t.s3.send(new ListObjectsV2Command({ Bucket: 'first' }))
  assert.deepEqual(
    listed.Contents?.map((one) => one.Key),
    ['a/b'],
  )
  const { Buckets } = await t.s3.send(new ListBucketsCommand({}))
  assert.deepEqual(
    Buckets?.map((one) => one.Name),
    ['first'],
  )
})

test('parts become one object', async () => {
  const where = { Bucket: 'first', Key: 'big' }
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand(where))
  const bodies = [Buffer.alloc(5 * 2 ** 20, 1), Buffer.alloc(1000, 2)]
  const parts = []
  for (const [index, Body] of bodies.entries()) {
    const { ETag, ChecksumCRC32 } = await t.s3.send(
      new UploadPartCommand({ ...where, UploadId, PartNumber: index + 1, Body }),
    )
    parts.push({ ETag, ChecksumCRC32, PartNumber: index + 1 })
  }
  const done = await t.s3.send(
    new CompleteMultipartUploadCommand({ ...where, UploadId, MultipartUpload: { Parts: parts } }),
  )
  assert.match(done.ETag ?? '', /^"[0-9a-f]{32}-2"$/)
  const got = await t.s3.send(new GetObjectCommand(where))
  assert.deepEqual(Buffer.from((await got.Body?.transformToByteArray()) ?? []), Buffer.concat(bodies))
})
