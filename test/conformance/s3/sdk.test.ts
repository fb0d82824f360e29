/** Operations: what the SDK of Amazon sends and understands. */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetBucketPolicyStatusCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  HeadBucketCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
  S3Client,
  waitUntilObjectExists,
} from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const { url, region, owner, isInsecure, isVirtualHosted } = s3.settings
const client = new S3Client({
  endpoint: url,
  region,
  forcePathStyle: !isVirtualHosted,
  credentials: { accessKeyId: owner.accessKey, secretAccessKey: owner.secret },
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler({ httpsAgent: new Agent({ rejectUnauthorized: !isInsecure }) }),
})
after(() => client.destroy())

async function bucketName(): Promise<string> {
  return (await s3.bucket()).name
}

test('a stream is uploaded in chunks with a trailing checksum, which the download verifies', async () => {
  const Bucket = await bucketName()
  const pieces = [Buffer.alloc(100_000, 'a'), Buffer.from('ä end')]
  const ContentLength = pieces.reduce((sum, piece) => sum + piece.length, 0)
  await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: Readable.from(pieces), ContentLength }))
  const { Body, ContentEncoding } = await client.send(new GetObjectCommand({ Bucket, Key: 'k' }))
  const bytes = Buffer.from((await Body?.transformToByteArray()) ?? [])
  assert.ok(bytes.equals(Buffer.concat(pieces)))
  assert.equal(ContentEncoding, undefined)
})

test('pages of a listing, versions and attributes are understood', async () => {
  const Bucket = await bucketName()
  for (const Key of ['a', 'b', 'c']) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
  const keys: (string | undefined)[] = []
  for await (const page of paginateListObjectsV2({ client, pageSize: 2 }, { Bucket })) {
    keys.push(...(page.Contents ?? []).map(({ Key }) => Key))
  }
  assert.deepEqual(keys, ['a', 'b', 'c'])
  const { Versions } = await client.send(new ListObjectVersionsCommand({ Bucket }))
  assert.deepEqual(
    Versions?.map(({ VersionId }) => VersionId),
    ['null', 'null', 'null'],
  )
  const asked = { Bucket, Key: 'a', ObjectAttributes: ['ObjectSize', 'Checksum'] as ('ObjectSize' | 'Checksum')[] }
  const { ObjectSize, Checksum } = await client.send(new GetObjectAttributesCommand(asked))
  assert.equal(ObjectSize, 1)
  assert.ok(Checksum?.ChecksumCRC32 !== undefined)
})

test('configurations are sent with the checksum that the SDK chooses, and understood', async () => {
  const Bucket = await bucketName()
  const CORSRules = [{ AllowedMethods: ['GET'], AllowedOrigins: ['*'] }]
  await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }))
  await client.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }))
  const Rules = [{ ID: 'a', Status: 'Enabled' as const, Filter: { Prefix: 'a/' }, Expiration: { Days: 1 } }]
  await client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }))
  const statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/no/*` }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await client.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  const { PolicyStatus } = await client.send(new GetBucketPolicyStatusCommand({ Bucket }))
  assert.equal(PolicyStatus?.IsPublic, false)
})

test('a bucket with locks is made, and its configuration understood', async () => {
  const { name: Bucket } = s3.unmade()
  await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
  const { ObjectLockConfiguration } = await client.send(new GetObjectLockConfigurationCommand({ Bucket }))
  assert.equal(ObjectLockConfiguration?.ObjectLockEnabled, 'Enabled')
  const { BucketRegion } = await client.send(new HeadBucketCommand({ Bucket }))
  assert.equal(BucketRegion, region)
})

test('keys that XML cannot hold come and go encoded', async () => {
  const Bucket = await bucketName()
  const keys = ['a\u0001b', 'c\nd', '<&>"\'', ' ']
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))
  const listed = await client.send(new ListObjectsV2Command({ Bucket, EncodingType: 'url' }))
  const found = (listed.Contents ?? []).map(({ Key = '' }) => decodeURIComponent(Key.replaceAll('+', ' ')))
  assert.deepEqual(found.toSorted(), keys.toSorted())
  const Objects = keys.map((Key) => ({ Key }))
  const { Errors, Deleted } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
  assert.deepEqual(Errors ?? [], [])
  assert.equal(Deleted?.length, 4)
  assert.equal((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 0)
})

test('errors have names and statuses that programs decide by', async () => {
  const Bucket = await bucketName()
  const failure = await client.send(new GetObjectCommand({ Bucket, Key: 'absent' })).catch((error: unknown) => error)
  const { name, $metadata } = failure as { name: string; $metadata: { httpStatusCode: number; requestId: string } }
  assert.deepEqual([name, $metadata.httpStatusCode], ['NoSuchKey', 404])
  assert.ok($metadata.requestId !== '')
})

test('its waiter sees an object that was just written', async () => {
  const Bucket = await bucketName()
  await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))
  const { state } = await waitUntilObjectExists(
    { client, minDelay: 1, maxDelay: 1, maxWaitTime: 5 },
    { Bucket, Key: 'k' },
  )
  assert.equal(state, 'SUCCESS')
})
