/** Operations: PutBucketPolicy, GetBucketPolicy, DeleteBucketPolicy, GetBucketPolicyStatus. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { eventually, fails, succeeds, type Answer } from './http.ts'
import { md5 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const needsOther = { skip: s3.lacksOther }
/** Amazon's description of the operation says 200, its example 204. */
const done = [200, 204]

type Statement = Readonly<Record<string, unknown>>

const policy = (...statements: readonly Statement[]) => JSON.stringify({ Version: '2012-10-17', Statement: statements })
const inside = (bucket: Bucket, keys = '*') => `arn:aws:s3:::${bucket.name}/${keys}`
const itself = (bucket: Bucket) => `arn:aws:s3:::${bucket.name}`
const setPolicy = (bucket: Bucket, text: string): Promise<Answer> =>
  bucket.call('PUT', { query: 'policy', body: text, headers: { 'content-type': 'application/json' } })

/** A bucket whose policy has one statement for the other user. */
async function allowing(statement: (bucket: Bucket) => Statement): Promise<Bucket> {
  const bucket = await s3.bucket()
  const given = { Effect: 'Allow', Principal: { AWS: s3.other.principal }, ...statement(bucket) }
  await succeeds(setPolicy(bucket, policy(given)), done)
  return bucket
}

async function opened(bucket: Bucket, ...more: readonly Statement[]): Promise<void> {
  await bucket.call('DELETE', { query: 'publicAccessBlock' })
  const open = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: inside(bucket, 'open/*') }
  await succeeds(setPolicy(bucket, policy(open, ...more)), done)
}

test('a policy is given back as the JSON that was put', async () => {
  const bucket = await s3.bucket()
  await bucket.call('DELETE', { query: 'publicAccessBlock' })
  const text = policy({ Sid: 'one', Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: inside(bucket) })
  await succeeds(setPolicy(bucket, text), done)
  const answer = await succeeds(bucket.read('policy'))
  assert.deepEqual(JSON.parse(answer.text), JSON.parse(text))
})

test('a bucket without one answers 404 NoSuchBucketPolicy, also after DeleteBucketPolicy', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.read('policy'), 404, 'NoSuchBucketPolicy')
  await opened(bucket)
  await succeeds(bucket.call('DELETE', { query: 'policy' }), 204)
  await fails(bucket.read('policy'), 404, 'NoSuchBucketPolicy')
  await succeeds(bucket.call('DELETE', { query: 'policy' }), 204)
})

test('a policy opens a prefix to everyone, and nothing else [policy-public]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('open/a', 'for all')
  await bucket.hold('closed/a', 'for few')
  await fails(bucket.call('GET', { key: 'open/a', signing: 'anonymous' }), 403, 'AccessDenied')
  await opened(bucket)
  await eventually(async () => {
    const read = await succeeds(bucket.call('GET', { key: 'open/a', signing: 'anonymous' }))
    assert.equal(read.text, 'for all')
  })
  await fails(bucket.call('GET', { key: 'closed/a', signing: 'anonymous' }), 403, 'AccessDenied')
  await fails(bucket.call('PUT', { key: 'open/b', body: 'x', signing: 'anonymous' }), 403, 'AccessDenied')
  await fails(bucket.call('GET', { signing: 'anonymous' }), 403, 'AccessDenied')
  await succeeds(bucket.call('DELETE', { query: 'policy' }), 204)
  await eventually(() => fails(bucket.call('GET', { key: 'open/a', signing: 'anonymous' }), 403, 'AccessDenied'))
})

test('a write without credentials is held to its x-amz-content-sha256, whatever its form', async () => {
  const bucket = await s3.bucket()
  await opened(bucket, { Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: `${itself(bucket)}/*` })
  const put = (hash: string) =>
    bucket.call('PUT', { key: 'open', body: 'x', signing: 'anonymous', headers: { 'x-amz-content-sha256': hash } })
  await eventually(() => succeeds(put(createHash('sha256').update('x').digest('hex'))))
  for (const hash of ['ab'.repeat(32), 'incorrect_hash', 'STREAMING-SOMETHING-NEW']) {
    await fails(put(hash), 400, 'XAmzContentSHA256Mismatch')
  }
})

test('an absent key answers 403 to who may not list, 404 to who may', async () => {
  const bucket = await s3.bucket()
  await opened(bucket)
  await fails(bucket.call('GET', { key: 'open/absent', signing: 'anonymous' }), 403, 'AccessDenied')
  await opened(bucket, { Effect: 'Allow', Principal: '*', Action: 's3:ListBucket', Resource: itself(bucket) })
  await eventually(() => fails(bucket.call('GET', { key: 'open/absent', signing: 'anonymous' }), 404, 'NoSuchKey'))
})

test('a deny wins over an allow, in whatever order they stand', needsOther, async () => {
  const allow = (bucket: Bucket) => ({
    Effect: 'Allow',
    Principal: { AWS: s3.other.principal },
    Action: 's3:GetObject',
    Resource: inside(bucket),
  })
  for (const isDenyFirst of [true, false]) {
    const bucket = await s3.bucket()
    await bucket.hold('a')
    await bucket.hold('secret')
    const deny = { ...allow(bucket), Effect: 'Deny', Resource: inside(bucket, 'secret') }
    const statements = isDenyFirst ? [deny, allow(bucket)] : [allow(bucket), deny]
    await succeeds(setPolicy(bucket, policy(...statements)), done)
    await eventually(() => succeeds(bucket.call('GET', { key: 'a', as: s3.other })))
    await fails(bucket.call('GET', { key: 'secret', as: s3.other }), 403, 'AccessDenied')
  }
})

test('reading a given version needs GetObjectVersion, not GetObject', needsOther, async () => {
  const bucket = await allowing((made) => ({ Action: 's3:GetObject', Resource: inside(made) }))
  await bucket.setVersioning('Enabled')
  const versionId = (await bucket.put('key', 'x')).must('x-amz-version-id')
  await eventually(() => succeeds(bucket.call('GET', { key: 'key', as: s3.other })))
  await fails(bucket.call('GET', { key: 'key', query: { versionId }, as: s3.other }), 403, 'AccessDenied')
})

test('a wildcard in actions covers what begins with it', needsOther, async () => {
  const bucket = await allowing((made) => ({ Action: 's3:Get*', Resource: [inside(made), itself(made)] }))
  await bucket.hold('key', 'x')
  await eventually(() => succeeds(bucket.call('GET', { key: 'key', as: s3.other })))
  await succeeds(bucket.call('GET', { query: 'location', as: s3.other }))
  await fails(bucket.call('PUT', { key: 'key', body: 'y', as: s3.other }), 403, 'AccessDenied')
})

test('s3:prefix says what may be listed', needsOther, async () => {
  const bucket = await allowing((made) => ({
    Action: 's3:ListBucket',
    Resource: itself(made),
    Condition: { StringLike: { 's3:prefix': 'own/*' } },
  }))
  await eventually(() => succeeds(bucket.call('GET', { query: { 'list-type': 2, prefix: 'own/' }, as: s3.other })))
  await fails(bucket.call('GET', { query: { 'list-type': 2 }, as: s3.other }), 403, 'AccessDenied')
  await fails(bucket.call('GET', { query: { prefix: 'foreign/' }, as: s3.other }), 403, 'AccessDenied')
})

test('Null on s3:if-none-match enforces conditional writes', needsOther, async () => {
  const bucket = await allowing((made) => ({
    Action: 's3:PutObject',
    Resource: inside(made),
    Condition: { Null: { 's3:if-none-match': 'false' } },
  }))
  const put = (headers: Record<string, string>) => bucket.call('PUT', { key: 'key', body: 'x', headers, as: s3.other })
  await eventually(() => succeeds(put({ 'if-none-match': '*' })))
  await fails(put({}), 403, 'AccessDenied')
})

test('aws:SourceIp says from where', needsOther, async () => {
  const from = (address: string) => (made: Bucket) => ({
    Action: 's3:PutObject',
    Resource: inside(made),
    Condition: { IpAddress: { 'aws:SourceIp': address } },
  })
  const anywhere = await allowing(from('0.0.0.0/0'))
  const elsewhere = await allowing(from('203.0.113.0/24'))
  await eventually(() => succeeds(anywhere.call('PUT', { key: 'key', as: s3.other })))
  await fails(elsewhere.call('PUT', { key: 'key', as: s3.other }), 403, 'AccessDenied')
})

test('aws:SecureTransport false denies what comes without TLS', needsOther, async () => {
  const isSecure = s3.settings.url.startsWith('https:')
  const bucket = await s3.bucket()
  const allow = { Effect: 'Allow', Principal: { AWS: s3.other.principal }, Action: 's3:PutObject' }
  const statement = { ...allow, Resource: inside(bucket), Condition: { Bool: { 'aws:SecureTransport': 'true' } } }
  await succeeds(setPolicy(bucket, policy(statement)), done)
  const put = () => bucket.call('PUT', { key: 'key', as: s3.other })
  await eventually(() => (isSecure ? succeeds(put()) : fails(put(), 403, 'AccessDenied')))
})

test('s3:ExistingObjectTag says which objects, by their tags', needsOther, async () => {
  const bucket = await allowing((made) => ({
    Action: 's3:GetObject',
    Resource: inside(made),
    Condition: { StringEquals: { 's3:ExistingObjectTag/share': 'yes' } },
  }))
  await bucket.hold('shared', 'x', { 'x-amz-tagging': 'share=yes' })
  await bucket.hold('own', 'x', { 'x-amz-tagging': 'share=no' })
  await eventually(() => succeeds(bucket.call('GET', { key: 'shared', as: s3.other })))
  await fails(bucket.call('GET', { key: 'own', as: s3.other }), 403, 'AccessDenied')
})

test('s3:RequestObjectTag says with which tags may be written', needsOther, async () => {
  const bucket = await allowing((made) => ({
    Action: ['s3:PutObject', 's3:PutObjectTagging'],
    Resource: inside(made),
    Condition: { StringEquals: { 's3:RequestObjectTag/team': 'a' } },
  }))
  const put = (tags: string) => bucket.call('PUT', { key: 'k', headers: { 'x-amz-tagging': tags }, as: s3.other })
  await eventually(() => succeeds(put('team=a')))
  await fails(put('team=b'), 403, 'AccessDenied')
})

test('who may write objects may not tag or lock them by that', needsOther, async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  const statement = { Effect: 'Allow', Principal: { AWS: s3.other.principal }, Action: 's3:PutObject' }
  await succeeds(setPolicy(bucket, policy({ ...statement, Resource: inside(bucket) })), done)
  const put = (headers: Record<string, string>) =>
    bucket.call('PUT', { key: 'key', body: 'x', headers: { 'content-md5': md5('x'), ...headers }, as: s3.other })
  await eventually(() => succeeds(put({})))
  await fails(put({ 'x-amz-tagging': 'a=b' }), 403, 'AccessDenied')
  await fails(put({ 'x-amz-object-lock-legal-hold': 'ON' }), 403, 'AccessDenied')
  const until = new Date(Date.now() + 60_000).toISOString()
  const lock = { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': until }
  await fails(put(lock), 403, 'AccessDenied')
})

test('a copy of tags needs leave to read them and to write them', needsOther, async () => {
  const bucket = await allowing((made) => ({ Action: ['s3:GetObject', 's3:PutObject'], Resource: inside(made) }))
  await bucket.hold('tagged', 'x', { 'x-amz-tagging': 'a=b' })
  await bucket.hold('plain', 'x')
  const copy = (source: string) =>
    bucket.call('PUT', { key: 'to', headers: { 'x-amz-copy-source': `${bucket.name}/${source}` }, as: s3.other })
  await eventually(() => succeeds(copy('plain')))
  await fails(copy('tagged'), 403, 'AccessDenied')
})

test('a policy about another bucket answers 400 MalformedPolicy', async () => {
  const bucket = await s3.bucket()
  const resource = 'arn:aws:s3:::another-bucket/*'
  const text = policy({ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: resource })
  await fails(setPolicy(bucket, text), 400, 'MalformedPolicy')
})

test('a policy that is no JSON, or has no statement, effect, principal or known action answers 400 MalformedPolicy', async () => {
  const bucket = await s3.bucket()
  const whole = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: inside(bucket) }
  const without = (name: string) => policy(Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name)))
  const wrong = [
    'no JSON',
    '{"Version":"2012-10-17"}',
    ...Object.keys(whole).map(without),
    policy({ ...whole, Action: 's3:NoSuchAction' }),
    policy({ ...whole, Effect: 'Perhaps' }),
    policy({ ...whole, Condition: { NoSuchOperator: { 's3:prefix': 'a' } } }),
  ]
  for (const text of wrong) await fails(setPolicy(bucket, text), 400, 'MalformedPolicy')
  await fails(bucket.read('policy'), 404, 'NoSuchBucketPolicy')
})

test('a policy over 20 KB is refused', async () => {
  const bucket = await s3.bucket()
  const statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: inside(bucket) }
  const text = policy({ ...statement, Condition: { StringEquals: { 'aws:UserAgent': 'x'.repeat(20_480) } } })
  await fails(setPolicy(bucket, text), 400)
})

test('the status says whether a policy is public', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.read('policyStatus'), 404, 'NoSuchBucketPolicy')
  await opened(bucket)
  const answer = await succeeds(bucket.read('policyStatus'))
  assert.equal(answer.element('IsPublic')?.toLowerCase(), 'true')
  const closed = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: inside(bucket, 'closed/*') }
  await succeeds(setPolicy(bucket, policy(closed)), done)
  assert.equal((await succeeds(bucket.read('policyStatus'))).element('IsPublic')?.toLowerCase(), 'false')
})

test('who may not set policies gets 403, and the policy stays', needsOther, async () => {
  const bucket = await s3.bucket()
  await fails(bucket.call('PUT', { query: 'policy', body: policy(), as: s3.other }), 403, 'AccessDenied')
  await fails(bucket.call('GET', { query: 'policy', as: s3.other }), 403, 'AccessDenied')
})
