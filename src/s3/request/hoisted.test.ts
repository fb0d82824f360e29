import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GetObjectTaggingCommand, HeadObjectCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3'
import { presign } from '../auth/sign.ts'
import { keys, send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'hoisted'
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

/** Uses a URL that was signed with these in its query. */
function use(
  method: string,
  key: string,
  hoisted: Readonly<Record<string, string>>,
  headers: Record<string, string> = {},
): ReturnType<typeof send> {
  const rawQuery = new URLSearchParams(hoisted).toString().replaceAll('+', '%20')
  const request = { method, rawPath: `/${Bucket}/${key}`, rawQuery, headers: { host: new URL(t.url).host } }
  const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
  const query = presign(request, identity, { now: new Date(), expiresSeconds: 60 })
  const isAnonymous = true
  const body = method === 'PUT' && !('x-amz-copy-source' in hoisted) ? { body: 'x' } : {}
  return send(t, method, `/${Bucket}/${key}?${query}`, { isAnonymous, headers, ...body })
}

test('what a presigned URL says in its query is done as if it were headers', async () => {
  const said = { 'x-amz-tagging': 'a=b&c=d', 'x-amz-meta-name': 'Größe', 'x-amz-storage-class': 'STANDARD_IA' }
  assert.equal((await use('PUT', 'k', said)).status, 200)
  const { TagSet } = await t.s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'k' }))
  assert.deepEqual(
    TagSet?.map(({ Key, Value }) => [Key, Value]),
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  )
  const { headers } = await send(t, 'HEAD', `/${Bucket}/k`)
  assert.equal(headers['x-amz-storage-class'], 'STANDARD_IA')
  assert.ok(headers['x-amz-meta-name'])
  assert.equal((await use('PUT', 'copy', { 'x-amz-copy-source': `${Bucket}/k` })).status, 200)
  assert.equal((await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'copy' }))).TagCount, 2)
  const checked = await use('GET', 'k', { 'x-amz-checksum-mode': 'ENABLED' })
  assert.ok(checked.headers['x-amz-checksum-crc64nvme'])
})

test('what would be refused as a header is refused in the query, by policies too', async () => {
  const refusals: readonly (readonly [string, string, string])[] = [
    ['x-amz-acl', 'public-read', 'AccessControlListNotSupported'],
    ['x-amz-server-side-encryption', 'AES256', 'NotImplemented'],
    ['x-amz-object-lock-legal-hold', 'ON', 'InvalidRequest'],
  ]
  for (const [name, value, code] of refusals) {
    assert.match((await use('PUT', 'refused', { [name]: value })).text, new RegExp(`<Code>${code}<`), name)
  }
  const Condition = { StringNotEquals: { 's3:x-amz-storage-class': 'STANDARD_IA' } }
  const Statement = [
    { Effect: 'Deny', Principal: '*', Action: 's3:PutObject', Resource: `arn:aws:s3:::${Bucket}/*`, Condition },
  ]
  await t.s3.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }))
  assert.equal((await use('PUT', 'ia', { 'x-amz-storage-class': 'STANDARD_IA' })).status, 200)
  assert.equal((await use('PUT', 'ia', {})).status, 403)
  assert.equal((await use('PUT', 'ia', { 'x-amz-storage-class': 'ONEZONE_IA' })).status, 403)
})

test('the query of a request that was signed otherwise says nothing of the kind', async () => {
  const { status } = await send(t, 'PUT', `/${Bucket}/plain?x-amz-tagging=a%3Db`, {
    headers: { 'x-amz-storage-class': 'STANDARD_IA' },
    body: 'x',
  })
  assert.equal(status, 200)
  assert.equal((await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'plain' }))).TagCount, undefined)
})

test('the checksum of an empty body that presigners add does not get in the way', async () => {
  const added = { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-sdk-checksum-algorithm': 'CRC32' }
  const storage = { 'x-amz-storage-class': 'STANDARD_IA' }
  assert.equal((await use('PUT', 'summed', { ...added, ...storage })).status, 200)
})
