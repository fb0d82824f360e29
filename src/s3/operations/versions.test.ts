import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { startTestPlane, type TestPlane } from '../test-plane.ts'

let plane: TestPlane
let client: S3Client
let count = 0

before(async () => {
  plane = await startTestPlane()
  client = plane.client()
})
after(() => plane.close())

async function bucketWith(state: 'Enabled' | 'Suspended' | undefined): Promise<string> {
  const Bucket = `versions-${++count}`
  await plane.addBucket(Bucket)
  if (state !== undefined) await setVersioning(Bucket, state)
  return Bucket
}

async function setVersioning(Bucket: string, Status: 'Enabled' | 'Suspended'): Promise<void> {
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }))
}

async function put(Bucket: string, Key: string, Body: string): Promise<string | undefined> {
  return (await client.send(new PutObjectCommand({ Bucket, Key, Body }))).VersionId
}

async function get(Bucket: string, Key: string, VersionId?: string): Promise<string> {
  const answer = await client.send(
    new GetObjectCommand({ Bucket, Key, ...(VersionId === undefined ? {} : { VersionId }) }),
  )
  return (await answer.Body?.transformToString()) ?? ''
}

/** `key version latest` of each version and marker, in the order of the listing. */
async function listed(Bucket: string, more: object = {}): Promise<string[]> {
  const page = await client.send(new ListObjectVersionsCommand({ Bucket, ...more }))
  const mark = (isLatest: boolean | undefined) => (isLatest === true ? 'latest' : 'older')
  return [
    ...(page.Versions ?? []).map((one) => `${one.Key} ${one.VersionId} ${mark(one.IsLatest)}`),
    ...(page.DeleteMarkers ?? []).map((one) => `marker of ${one.Key} ${one.VersionId} ${mark(one.IsLatest)}`),
  ]
}

const failsWith = (name: string, status: number) => (failure: unknown) => {
  const { name: given, $metadata } = failure as { name: string; $metadata: { httpStatusCode?: number } }
  assert.deepEqual([given, $metadata.httpStatusCode], [name, status])
  return true
}

test('a bucket has no versions until it is told to keep them, and says so', async () => {
  const Bucket = await bucketWith(undefined)
  assert.equal((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status, undefined)
  assert.equal(await put(Bucket, 'k', 'one'), undefined)
  await setVersioning(Bucket, 'Enabled')
  assert.equal((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status, 'Enabled')
  await setVersioning(Bucket, 'Suspended')
  assert.equal((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status, 'Suspended')
})

test('each write is a version of its own, and each can be read', async () => {
  const Bucket = await bucketWith('Enabled')
  const first = await put(Bucket, 'k', 'one')
  const second = await put(Bucket, 'k', 'two')
  assert.notEqual(first, second)
  assert.equal(await get(Bucket, 'k'), 'two')
  assert.equal(await get(Bucket, 'k', first), 'one')
  assert.equal((await client.send(new HeadObjectCommand({ Bucket, Key: 'k' }))).VersionId, second)
  assert.deepEqual(await listed(Bucket), [`k ${second} latest`, `k ${first} older`])
})

test('what was there before versions were kept has the version null, and stays', async () => {
  const Bucket = await bucketWith(undefined)
  await put(Bucket, 'k', 'before')
  await setVersioning(Bucket, 'Enabled')
  const after = await put(Bucket, 'k', 'after')
  assert.equal(await get(Bucket, 'k', 'null'), 'before')
  assert.deepEqual(await listed(Bucket), [`k ${after} latest`, 'k null older'])
})

test('a delete leaves a marker: the key is gone, its versions are not', async () => {
  const Bucket = await bucketWith('Enabled')
  const version = await put(Bucket, 'k', 'one')
  const deleted = await client.send(new DeleteObjectCommand({ Bucket, Key: 'k' }))
  assert.equal(deleted.DeleteMarker, true)
  await assert.rejects(get(Bucket, 'k'), failsWith('NoSuchKey', 404))
  await assert.rejects(get(Bucket, 'k', deleted.VersionId), failsWith('MethodNotAllowed', 405))
  assert.equal((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 0)
  assert.equal(await get(Bucket, 'k', version), 'one')
  assert.deepEqual(await listed(Bucket), [`k ${version} older`, `marker of k ${deleted.VersionId} latest`])
})

test('a marker that is deleted brings the key back', async () => {
  const Bucket = await bucketWith('Enabled')
  await put(Bucket, 'k', 'one')
  const { VersionId } = await client.send(new DeleteObjectCommand({ Bucket, Key: 'k' }))
  const undone = await client.send(new DeleteObjectCommand({ Bucket, Key: 'k', VersionId }))
  assert.deepEqual([undone.DeleteMarker, undone.VersionId], [true, VersionId])
  assert.equal(await get(Bucket, 'k'), 'one')
})

test('a version that is deleted is gone for good, and the one before it is the current one', async () => {
  const Bucket = await bucketWith('Enabled')
  await put(Bucket, 'k', 'one')
  const VersionId = await put(Bucket, 'k', 'two')
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'k', VersionId }))
  assert.equal(await get(Bucket, 'k'), 'one')
  await assert.rejects(get(Bucket, 'k', VersionId), failsWith('NoSuchVersion', 404))
})

test('while suspended, writes replace the version null and leave the others', async () => {
  const Bucket = await bucketWith('Enabled')
  const kept = await put(Bucket, 'k', 'kept')
  await setVersioning(Bucket, 'Suspended')
  assert.equal(await put(Bucket, 'k', 'one'), undefined)
  assert.equal(await put(Bucket, 'k', 'two'), undefined)
  assert.deepEqual(await listed(Bucket), ['k null latest', `k ${kept} older`])
  const deleted = await client.send(new DeleteObjectCommand({ Bucket, Key: 'k' }))
  assert.deepEqual([deleted.DeleteMarker, deleted.VersionId], [true, 'null'])
  assert.deepEqual(await listed(Bucket), [`k ${kept} older`, 'marker of k null latest'])
})

test('an older version copied onto its key brings it back, and the answer tells both versions', async () => {
  const Bucket = await bucketWith('Enabled')
  const old = await put(Bucket, 'k', 'old')
  await put(Bucket, 'k', 'new')
  const copied = await client.send(
    new CopyObjectCommand({ Bucket, Key: 'k', CopySource: `${Bucket}/k?versionId=${old}` }),
  )
  assert.equal(copied.CopySourceVersionId, old)
  assert.equal(await get(Bucket, 'k'), 'old')
  assert.equal((await client.send(new HeadObjectCommand({ Bucket, Key: 'k' }))).VersionId, copied.VersionId)
})

test('a completed upload is a version', async () => {
  const Bucket = await bucketWith('Enabled')
  const first = await put(Bucket, 'k', 'one')
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'k' }))
  const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key: 'k', UploadId, PartNumber: 1, Body: 'two' }))
  const { VersionId } = await client.send(
    new CompleteMultipartUploadCommand({
      Bucket,
      Key: 'k',
      UploadId,
      MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] },
    }),
  )
  assert.deepEqual(await listed(Bucket), [`k ${VersionId} latest`, `k ${first} older`])
})

test('many are deleted at once, by key and by version, and the answer tells what became of each', async () => {
  const Bucket = await bucketWith('Enabled')
  const a = await put(Bucket, 'a', 'one')
  await put(Bucket, 'b', 'one')
  const answer = await client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'a', VersionId: a }, { Key: 'b' }] } }),
  )
  const byKey = new Map(answer.Deleted?.map((one) => [one.Key, one]))
  assert.equal(byKey.get('a')?.VersionId, a)
  assert.equal(byKey.get('b')?.DeleteMarker, true)
  assert.equal(byKey.get('b')?.VersionId, undefined)
  assert.equal((await listed(Bucket)).length, 2)
})

test('versions are listed in pages that miss none and show none twice', async () => {
  const Bucket = await bucketWith('Enabled')
  for (let at = 0; at < 7; at++) for (const key of ['a', 'b/c', 'd']) await put(Bucket, key, String(at))
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'd' }))
  const seen: string[] = []
  let KeyMarker: string | undefined
  let VersionIdMarker: string | undefined
  for (;;) {
    const page = await client.send(
      new ListObjectVersionsCommand({ Bucket, MaxKeys: 4, KeyMarker, VersionIdMarker, EncodingType: 'url' }),
    )
    for (const one of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])])
      seen.push(`${one.Key} ${one.VersionId}`)
    if (page.IsTruncated !== true) break
    KeyMarker = page.NextKeyMarker
    VersionIdMarker = page.NextVersionIdMarker
  }
  assert.equal(seen.length, 22)
  assert.equal(new Set(seen).size, 22)
  const folded = await client.send(new ListObjectVersionsCommand({ Bucket, Delimiter: '/' }))
  assert.deepEqual(
    folded.CommonPrefixes?.map((one) => one.Prefix),
    ['b/'],
  )
})

test('a bucket that still has versions or markers cannot be deleted', async () => {
  const Bucket = await bucketWith('Enabled')
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'never-there' }))
  await assert.rejects(client.send(new DeleteBucketCommand({ Bucket })), failsWith('BucketNotEmpty', 409))
})

test('If-None-Match: * holds where the current row is a delete marker', async () => {
  const Bucket = await bucketWith('Enabled')
  await put(Bucket, 'k', 'one')
  await assert.rejects(
    client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x', IfNoneMatch: '*' })),
    failsWith('PreconditionFailed', 412),
  )
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'k' }))
  await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x', IfNoneMatch: '*' }))
  assert.equal(await get(Bucket, 'k'), 'x')
})

test('a listing goes on behind thousands of keys that are deleted but kept, in one answer', async () => {
  const Bucket = `versions-${++count}`
  const bucket = await plane.addBucket(Bucket)
  await setVersioning(Bucket, 'Enabled')
  const marked = Array.from({ length: 2500 }, (_, at) => ({
    do: 'delete-object' as const,
    bucket,
    key: Buffer.from(`gone/${String(at).padStart(5, '0')}`),
    marker: { version: `m${at}`, modifiedMs: 1 },
  }))
  await plane.catalog.commit(marked)
  await put(Bucket, 'z', 'shown')
  const page = await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 10 }))
  assert.deepEqual([page.Contents?.map((one) => one.Key), page.IsTruncated], [['z'], false])
  const folded = await client.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }))
  assert.deepEqual([folded.Contents?.map((one) => one.Key), folded.CommonPrefixes], [['z'], undefined])
})
