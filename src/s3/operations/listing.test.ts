import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CreateMultipartUploadCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import type { ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3'
import { send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'listed'
const keys = ['a', 'a/1', 'a/2', 'b/1/x', 'b/1/y', 'b/2', 'c', 'ä', '日本']
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
  await Promise.all(keys.map((Key) => t.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))))
})
after(() => t.close())

test('version 2 lists in byte order, page by page, nothing twice and nothing left out', async () => {
  for (const pageSize of [1, 2, 3, 1000]) {
    const seen: (string | undefined)[] = []
    for await (const page of paginateListObjectsV2({ client: t.s3, pageSize }, { Bucket })) {
      assert.equal(page.KeyCount, page.Contents?.length)
      seen.push(...(page.Contents ?? []).map((one) => one.Key))
    }
    assert.deepEqual(seen, keys)
  }
})

test('a delimiter folds keys into common prefixes, also over pages', async () => {
  for (const pageSize of [1, 2, 1000]) {
    const [objects, prefixes]: [(string | undefined)[], (string | undefined)[]] = [[], []]
    for await (const page of paginateListObjectsV2({ client: t.s3, pageSize }, { Bucket, Delimiter: '/' })) {
      objects.push(...(page.Contents ?? []).map((one) => one.Key))
      prefixes.push(...(page.CommonPrefixes ?? []).map((one) => one.Prefix))
    }
    assert.deepEqual(objects, ['a', 'c', 'ä', '日本'])
    assert.deepEqual(prefixes, ['a/', 'b/'])
  }
  const page = await t.s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'b/', Delimiter: '/' }))
  assert.deepEqual(page.CommonPrefixes, [{ Prefix: 'b/1/' }])
  assert.deepEqual(
    page.Contents?.map((one) => one.Key),
    ['b/2'],
  )
})

test('version 1 goes on from a marker, and names the next one only with a delimiter', async () => {
  const first = await t.s3.send(new ListObjectsCommand({ Bucket, MaxKeys: 2 }))
  assert.deepEqual([first.IsTruncated, first.NextMarker], [true, undefined])
  assert.equal(first.Contents?.[0]?.Owner?.ID?.length, 36)
  const rest = await t.s3.send(new ListObjectsCommand({ Bucket, Marker: 'a/1' }))
  assert.deepEqual(
    rest.Contents?.map((one) => one.Key),
    keys.slice(2),
  )
  const folded = await t.s3.send(new ListObjectsCommand({ Bucket, MaxKeys: 2, Delimiter: '/' }))
  assert.equal(folded.NextMarker, 'a/')
  const next = await t.s3.send(new ListObjectsCommand({ Bucket, MaxKeys: 2, Delimiter: '/', Marker: 'a/' }))
  assert.deepEqual(next.CommonPrefixes, [{ Prefix: 'b/' }])
  assert.deepEqual(
    next.Contents?.map((one) => one.Key),
    ['c'],
  )
})

test('start-after, fetch-owner, checksum algorithms and url encoding are as Amazon has them', async () => {
  const page = await t.s3.send(
    new ListObjectsV2Command({ Bucket, StartAfter: 'c', FetchOwner: true, EncodingType: 'url' }),
  )
  assert.deepEqual(
    page.Contents?.map((one) => one.Key),
    ['%C3%A4', '%E6%97%A5%E6%9C%AC'],
  )
  const [first] = page.Contents ?? []
  assert.equal(first?.Owner?.ID?.length, 36)
  assert.deepEqual(
    [first?.ChecksumAlgorithm, first?.ChecksumType, first?.StorageClass],
    [['CRC32'], 'FULL_OBJECT', 'STANDARD'],
  )
  assert.equal(page.EncodingType, 'url')
})

test('max-keys: 0 is an empty page, more than 1,000 is 1,000, anything else is refused', async () => {
  const none = await t.s3.send(new ListObjectsV2Command({ Bucket, MaxKeys: 0 }))
  assert.deepEqual([none.KeyCount, none.IsTruncated, none.MaxKeys], [0, false, 0])
  assert.equal((await t.s3.send(new ListObjectsV2Command({ Bucket, MaxKeys: 5000 }))).MaxKeys, 1000)
  assert.match((await send(t, 'GET', `/${Bucket}?max-keys=-1`)).text, /<Code>InvalidArgument<\/Code>/)
  assert.match((await send(t, 'GET', `/${Bucket}?list-type=2&continuation-token=%21`)).text, /InvalidArgument/)
  assert.match((await send(t, 'GET', `/${Bucket}?encoding-type=base64`)).text, /InvalidArgument/)
})

test('buckets are listed by prefix and page by page', async () => {
  for (const name of ['page-1', 'page-2', 'page-3']) await t.addBucket(name)
  const first = await t.s3.send(new ListBucketsCommand({ Prefix: 'page-', MaxBuckets: 2 }))
  assert.deepEqual(
    first.Buckets?.map((one) => one.Name),
    ['page-1', 'page-2'],
  )
  assert.equal(first.Prefix, 'page-')
  const ContinuationToken = first.ContinuationToken ?? ''
  const rest = await t.s3.send(new ListBucketsCommand({ Prefix: 'page-', MaxBuckets: 2, ContinuationToken }))
  assert.deepEqual(
    rest.Buckets?.map((one) => one.Name),
    ['page-3'],
  )
  assert.equal(rest.ContinuationToken, undefined)
  assert.equal((await t.s3.send(new ListBucketsCommand({}))).Buckets?.length, 4)
})

test('open uploads between many prefixes are all listed, in pages of any size', async () => {
  await t.addBucket('uploads-listed')
  const plainKeys = Array.from({ length: 14 }, (_, n) => `k${String(n).padStart(2, '0')}`)
  const folders = Array.from({ length: 7 }, (_, n) => `k${String(n).padStart(2, '0')}-/`)
  const folded = folders.flatMap((folder) => ['1', '2', '3', '4', '5', '6'].map((name) => folder + name))
  for (const Key of [...plainKeys, ...folded]) {
    await t.s3.send(new CreateMultipartUploadCommand({ Bucket: 'uploads-listed', Key }))
  }
  for (const MaxUploads of [1, 3, 1000]) {
    const [uploads, prefixes]: [(string | undefined)[], (string | undefined)[]] = [[], []]
    let markers: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
    while (markers !== undefined) {
      const asked = { Bucket: 'uploads-listed', Delimiter: '/', MaxUploads, ...markers }
      const page: ListMultipartUploadsCommandOutput = await t.s3.send(new ListMultipartUploadsCommand(asked))
      uploads.push(...(page.Uploads ?? []).map((one) => one.Key))
      prefixes.push(...(page.CommonPrefixes ?? []).map((one) => one.Prefix))
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
      markers = page.IsTruncated === true ? { KeyMarker, UploadIdMarker } : undefined
    }
    assert.deepEqual([uploads, prefixes], [plainKeys, folders])
  }
})
