import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { send, startTestPlane, svm, volume } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

let plane: TestPlane
before(async () => {
  plane = await startTestPlane()
})
after(() => plane.close())

async function snapshot(name: string): Promise<void> {
  const uuid = crypto.randomUUID()
  const type = 'storage/volumes/{volume.uuid}/snapshots'
  const body = { uuid, name, 'volume.uuid': volume, 'svm.uuid': svm }
  await plane.catalog.commit([
    { do: 'take-snapshot', volume, snapshot: uuid, nowMs: Date.now() },
    { do: 'put-record', type, key: uuid, parent: volume, body, unique: { [`${type}:name`]: `${volume}/${name}` } },
  ])
}

async function put(Bucket: string, Key: string, Body: string, more: object = {}): Promise<void> {
  await plane.s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))
}

async function read(Bucket: string, Key: string): Promise<string | undefined> {
  const { Body } = await plane.s3.send(new GetObjectCommand({ Bucket, Key }))
  return Body?.transformToString()
}

test('a snapshot is a bucket that shows what there was', async () => {
  await plane.addBucket('papers')
  await put('papers', 'a', 'first')
  await put('papers', 'b/c', 'kept', { WebsiteRedirectLocation: '/d' })
  await snapshot('daily.2026-11-21_0010')
  await put('papers', 'a', 'second')
  await plane.s3.send(new DeleteObjectCommand({ Bucket: 'papers', Key: 'b/c' }))
  await put('papers', 'later', 'x')

  const Bucket = 'papers-s3snap-daily.2026-11-21_0010'
  await plane.s3.send(new HeadBucketCommand({ Bucket }))
  const { Contents, Name } = await plane.s3.send(new ListObjectsV2Command({ Bucket }))
  assert.deepEqual([Name, Contents?.map(({ Key }) => Key)], [Bucket, ['a', 'b/c']])
  const { CommonPrefixes } = await plane.s3.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }))
  assert.deepEqual(CommonPrefixes, [{ Prefix: 'b/' }])
  assert.equal(await read(Bucket, 'a'), 'first')
  assert.equal(await read(Bucket, 'b/c'), 'kept')
  const head = await plane.s3.send(new HeadObjectCommand({ Bucket, Key: 'b/c' }))
  assert.equal(head.WebsiteRedirectLocation, '/d')
  assert.equal(await read('papers', 'a'), 'second')
  await assert.rejects(read(Bucket, 'later'), { name: 'NoSuchKey' })
  const { Versions } = await plane.s3.send(new ListObjectVersionsCommand({ Bucket }))
  assert.equal(Versions?.length, 2)
})

test('nothing of it can be changed, whatever the policies say', async () => {
  const Bucket = 'papers-s3snap-daily.2026-11-21_0010'
  await assert.rejects(put(Bucket, 'a', 'third'), { name: 'AccessDenied' })
  await assert.rejects(plane.s3.send(new DeleteObjectCommand({ Bucket, Key: 'a' })), { name: 'AccessDenied' })
  assert.equal((await send(plane, 'PUT', `/${Bucket}?versioning`, { body: '<x/>' })).status, 403)
  assert.equal((await send(plane, 'DELETE', `/${Bucket}`)).status, 403)
})

test('a copy out of it brings an object back without moving its bytes', async () => {
  const blobs = await plane.blobs()
  await plane.s3.send(
    new CopyObjectCommand({
      Bucket: 'papers',
      Key: 'b/c',
      CopySource: 'papers-s3snap-daily.2026-11-21_0010/b/c',
    }),
  )
  assert.equal(await read('papers', 'b/c'), 'kept')
  assert.deepEqual(await plane.blobs(), blobs)
})

test('it is no bucket of its own: it is not listed, and there is none of what was not there', async () => {
  const { Buckets } = await plane.s3.send(new ListBucketsCommand({}))
  assert.ok(Buckets?.every(({ Name }) => Name?.includes('s3snap') !== true))
  await plane.addBucket('younger')
  for (const name of ['papers-s3snap-none', 'younger-s3snap-daily.2026-11-21_0010', 'none-s3snap-x']) {
    assert.equal((await send(plane, 'HEAD', `/${name}`)).status, 404, name)
  }
})

test('who may not read the bucket may not read its snapshots', async () => {
  const Bucket = 'papers-s3snap-daily.2026-11-21_0010'
  assert.equal((await send(plane, 'GET', `/${Bucket}/a`, { isAnonymous: true })).status, 403)
  const statements = [{ effect: 'allow', principals: ['*'], actions: ['GetObject'], resources: ['papers/a'] }]
  const holder = await plane.catalog.holder('protocols/s3/buckets:name', `${svm}/papers`)
  const record = await plane.catalog.record('protocols/s3/buckets', holder?.key ?? '')
  const body = { ...record?.body, 'policy.statements': statements }
  await plane.catalog.commit([{ do: 'put-record', type: 'protocols/s3/buckets', key: holder?.key ?? '', body }])
  assert.equal((await send(plane, 'GET', `/${Bucket}/a`, { isAnonymous: true })).text, 'first')
  assert.equal((await send(plane, 'GET', `/${Bucket}/b/c`, { isAnonymous: true })).status, 403)
})

test('policies about tags look at those that the object had then', async () => {
  await plane.addBucket('labels', {
    statements: [
      {
        effect: 'allow',
        principals: ['*'],
        actions: ['GetObject'],
        resources: ['labels/*'],
        conditions: [{ operator: 'string_equals', key: 's3:ExistingObjectTag/open', values: ['yes'] }],
      },
    ],
  })
  const tag = (Key: string, Tagging: string): Promise<unknown> =>
    plane.s3.send(new PutObjectCommand({ Bucket: 'labels', Key, Body: Key, Tagging }))
  await tag('opened', 'open=no')
  await tag('closed', 'open=yes')
  await snapshot('tagged')
  await tag('opened', 'open=yes')
  await tag('closed', 'open=no')
  const status = async (bucket: string, key: string): Promise<number> =>
    (await send(plane, 'GET', `/${bucket}/${key}`, { isAnonymous: true })).status
  assert.deepEqual([await status('labels', 'opened'), await status('labels', 'closed')], [200, 403])
  const then = 'labels-s3snap-tagged'
  assert.deepEqual([await status(then, 'opened'), await status(then, 'closed')], [403, 200])
})
