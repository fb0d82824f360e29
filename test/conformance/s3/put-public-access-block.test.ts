/** Operations: PutPublicAccessBlock, GetPublicAccessBlock, DeletePublicAccessBlock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { eventually, fails, succeeds, type Answer } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const names = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'] as const
type Name = (typeof names)[number]

function block(bucket: Bucket, ...on: readonly Name[]): Promise<Answer> {
  const inside = names.map((name) => `<${name}>${on.includes(name)}</${name}>`).join('')
  return bucket.configure(
    'publicAccessBlock',
    `<PublicAccessBlockConfiguration>${inside}</PublicAccessBlockConfiguration>`,
  )
}

function open(bucket: Bucket): Promise<Answer> {
  const statement = {
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: `arn:aws:s3:::${bucket.name}/*`,
  }
  return bucket.call('PUT', {
    query: 'policy',
    body: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }),
  })
}

test('a block is given back as it was put [public-access-block]', async () => {
  const bucket = await s3.bucket()
  await succeeds(block(bucket, 'BlockPublicAcls', 'RestrictPublicBuckets'))
  const answer = await succeeds(bucket.read('publicAccessBlock'))
  assert.deepEqual(
    names.map((name) => answer.element(name)),
    ['true', 'false', 'false', 'true'],
  )
})

test('without a block, also after DeletePublicAccessBlock, it answers 404 NoSuchPublicAccessBlockConfiguration', async () => {
  const bucket = await s3.bucket()
  await succeeds(block(bucket, ...names))
  await succeeds(bucket.call('DELETE', { query: 'publicAccessBlock' }), 204)
  await fails(bucket.read('publicAccessBlock'), 404, 'NoSuchPublicAccessBlockConfiguration')
})

test('BlockPublicPolicy refuses a policy that opens the bucket: 403 AccessDenied', async () => {
  const bucket = await s3.bucket()
  await succeeds(block(bucket, 'BlockPublicPolicy'))
  await fails(open(bucket), 403, 'AccessDenied')
  await fails(bucket.read('policy'), 404, 'NoSuchBucketPolicy')
})

test('RestrictPublicBuckets closes a bucket that a policy opened to everyone', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await bucket.call('DELETE', { query: 'publicAccessBlock' })
  await succeeds(open(bucket), [200, 204])
  const read = () => bucket.call('GET', { key: 'key', signing: 'anonymous' })
  await eventually(() => succeeds(read()))
  await succeeds(block(bucket, 'RestrictPublicBuckets'))
  await eventually(() => fails(read(), 403, 'AccessDenied'))
  await succeeds(bucket.get('key'))
})

test('what is no configuration answers 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  for (const document of [
    '<Wrong/>',
    'x',
    '<PublicAccessBlockConfiguration><BlockPublicAcls>maybe</BlockPublicAcls></PublicAccessBlockConfiguration>',
  ]) {
    await fails(bucket.configure('publicAccessBlock', document), 400, 'MalformedXML')
  }
})
