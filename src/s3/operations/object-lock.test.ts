import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  PutObjectRetentionCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { HeadObjectCommandOutput, PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import { realSystem } from '../../engines/system.ts'
import { refused, send, startTestPlane, svm } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'locked'
const dayMs = 86_400_000
const MINUTE_MS = 60_000
let t: TestPlane
let bob: S3Client
/** How far the cluster's clock is before that of its clients, who sign with theirs. */
let aheadMs = 0
before(async () => {
  const clock = { ...realSystem.clock, now: () => realSystem.clock.now() + aheadMs }
  t = await startTestPlane({ system: { ...realSystem, clock } })
  await t.addUser('bob', { accessKeyId: 'AKBOB', secretAccessKey: 'secret of bob' })
  bob = t.client({ accessKeyId: 'AKBOB', secretAccessKey: 'secret of bob' })
  await t.s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
  await t.addBucket('plain')
})
after(() => t.close())

const inDays = (days: number): Date => new Date(Date.now() + days * dayMs)

/** Gives the version. */
async function put(Key: string, more: Partial<PutObjectCommandInput> = {}, by = t.s3): Promise<string> {
  const { VersionId = '' } = await by.send(new PutObjectCommand({ Bucket, Key, Body: 'x', ...more }))
  return VersionId
}

function head(Key: string, more: object = {}, by = t.s3): Promise<HeadObjectCommandOutput> {
  return by.send(new HeadObjectCommand({ Bucket, Key, ...more }))
}

function remove(Key: string, more: object = {}, by = t.s3): Promise<unknown> {
  return by.send(new DeleteObjectCommand({ Bucket, Key, ...more }))
}

function retain(Key: string, Retention: object, more: object = {}, by = t.s3): Promise<unknown> {
  return by.send(new PutObjectRetentionCommand({ Bucket, Key, Retention, ...more }))
}

function hold(Key: string, Status: 'ON' | 'OFF', more: object = {}, by = t.s3): Promise<unknown> {
  return by.send(new PutObjectLegalHoldCommand({ Bucket, Key, LegalHold: { Status }, ...more }))
}

function configure(name: string, retention?: object): Promise<unknown> {
  const Rule = retention === undefined ? undefined : { DefaultRetention: retention }
  return t.s3.send(
    new PutObjectLockConfigurationCommand({
      Bucket: name,
      ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule },
    }),
  )
}

function version(name: string, Status: 'Enabled' | 'Suspended'): Promise<unknown> {
  return t.s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status } }))
}

function allow(...actions: string[]): Promise<unknown> {
  const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`]
  const Statement = [{ Effect: 'Allow', Principal: { AWS: 'bob' }, Action: actions, Resource }]
  return t.s3.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }))
}

const denied = refused('AccessDenied', 403)

test('a bucket made with locks keeps versions, and cannot stop', async () => {
  const { Status } = await t.s3.send(new GetBucketVersioningCommand({ Bucket }))
  assert.equal(Status, 'Enabled')
  const { ObjectLockConfiguration } = await t.s3.send(new GetObjectLockConfigurationCommand({ Bucket }))
  assert.deepEqual(ObjectLockConfiguration, { ObjectLockEnabled: 'Enabled' })
  await assert.rejects(version(Bucket, 'Suspended'), refused('InvalidBucketState', 409))
  await version(Bucket, 'Enabled')
})

test('to make a bucket with locks takes the permissions to set locks and versioning', async () => {
  const rights = async (actions: string[]): Promise<void> => {
    const statements = [{ effect: 'allow', actions, resources: ['*'] }]
    const policies = 'protocols/s3/services/{svm.uuid}/policies'
    await t.put(policies, `${svm}/Maker`, { name: 'Maker', 'svm.uuid': svm, statements })
  }
  await rights(['CreateBucket'])
  const makers = { id: 3, name: 'makers', 'svm.uuid': svm, users: [{ name: 'bob' }], policies: [{ name: 'Maker' }] }
  await t.put('protocols/s3/services/{svm.uuid}/groups', `${svm}/3`, makers)
  const make = (name: string, more: object): Promise<unknown> =>
    bob.send(new CreateBucketCommand({ Bucket: name, ...more }))
  await assert.rejects(make('made', { ObjectLockEnabledForBucket: true }), denied)
  await assert.rejects(make('made', { ObjectOwnership: 'BucketOwnerEnforced' }), denied)
  await assert.rejects(make('made', { CreateBucketConfiguration: { Tags: [{ Key: 'a', Value: 'b' }] } }), denied)
  await make('made', {})
  await rights(['CreateBucket', 'PutBucketObjectLockConfiguration', 'PutBucketVersioning'])
  await make('made-locked', { ObjectLockEnabledForBucket: true })
  await t.put('protocols/s3/services/{svm.uuid}/groups', `${svm}/3`, { ...makers, users: [] })
})

test('locks need versioning, and are not there before they were set', async () => {
  await t.addBucket('later')
  const read = t.s3.send(new GetObjectLockConfigurationCommand({ Bucket: 'later' }))
  await assert.rejects(read, refused('ObjectLockConfigurationNotFoundError', 404))
  await assert.rejects(configure('later'), refused('InvalidBucketState', 409))
  await version('later', 'Enabled')
  await version('later', 'Suspended')
  await assert.rejects(configure('later'), refused('InvalidBucketState', 409))
  await version('later', 'Enabled')
  await configure('later', { Mode: 'COMPLIANCE', Years: 1 })
  await assert.rejects(version('later', 'Suspended'), refused('InvalidBucketState', 409))
  const { ObjectLockConfiguration } = await t.s3.send(new GetObjectLockConfigurationCommand({ Bucket: 'later' }))
  assert.deepEqual(ObjectLockConfiguration?.Rule, { DefaultRetention: { Mode: 'COMPLIANCE', Years: 1 } })
  await configure('later')
  const now = await t.s3.send(new GetObjectLockConfigurationCommand({ Bucket: 'later' }))
  assert.deepEqual(now.ObjectLockConfiguration, { ObjectLockEnabled: 'Enabled' })
})

test('a bad configuration is refused in the words of Amazon, and changes nothing', async () => {
  await configure(Bucket, { Mode: 'GOVERNANCE', Days: 3 })
  const bad: readonly (readonly [string, object])[] = [
    ['InvalidArgument', { Mode: 'GOVERNANCE', Days: 0 }],
    ['InvalidArgument', { Mode: 'GOVERNANCE', Days: -1 }],
    ['InvalidArgument', { Mode: 'GOVERNANCE', Years: 0 }],
    ['InvalidArgument', { Mode: 'GOVERNANCE', Days: 36_501 }],
    ['InvalidArgument', { Mode: 'GOVERNANCE', Years: 101 }],
    ['MalformedXML', { Mode: 'GOVERNANCE', Days: 1, Years: 1 }],
    ['MalformedXML', { Mode: 'GOVERNANCE' }],
    ['MalformedXML', { Mode: 'governance', Days: 1 }],
    ['MalformedXML', { Days: 1 }],
  ]
  for (const [code, retention] of bad) {
    await assert.rejects(configure(Bucket, retention), refused(code, 400), JSON.stringify(retention))
  }
  const { ObjectLockConfiguration } = await t.s3.send(new GetObjectLockConfigurationCommand({ Bucket }))
  assert.deepEqual(ObjectLockConfiguration?.Rule, { DefaultRetention: { Mode: 'GOVERNANCE', Days: 3 } })
  const body = '<ObjectLockConfiguration><ObjectLockEnabled>Disabled</ObjectLockEnabled></ObjectLockConfiguration>'
  // Amazon takes no such document without a checksum of it.
  const unchecked = await send(t, 'PUT', `/${Bucket}?object-lock`, { body })
  assert.match(unchecked.text, /<Code>InvalidRequest</)
  await configure(Bucket)
})

test('what is stored without a retention gets that of its bucket, however it is made', async () => {
  await put('source', { ObjectLockLegalHoldStatus: 'ON' })
  await configure(Bucket, { Mode: 'GOVERNANCE', Days: 2 })
  const from = Date.now()
  await put('by-put')
  await put('by-put-held', { ObjectLockLegalHoldStatus: 'ON' })
  await t.s3.send(new CopyObjectCommand({ Bucket, Key: 'by-copy', CopySource: `${Bucket}/source` }))
  await upload('by-parts')
  for (const Key of ['by-put', 'by-put-held', 'by-copy', 'by-parts']) {
    const { ObjectLockMode, ObjectLockRetainUntilDate: until, ObjectLockLegalHoldStatus: held } = await head(Key)
    assert.equal(ObjectLockMode, 'GOVERNANCE', Key)
    const untilMs = until?.getTime() ?? 0
    assert.ok(untilMs >= from + 2 * dayMs && untilMs <= Date.now() + 2 * dayMs, Key)
    // Neither hold nor retention goes with a copy.
    assert.equal(held, Key === 'by-put-held' ? 'ON' : undefined, Key)
  }
  const ObjectLockRetainUntilDate = inDays(9)
  await put('explicit', { ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate })
  const explicit = await head('explicit')
  assert.equal(explicit.ObjectLockMode, 'COMPLIANCE')
  assert.deepEqual(explicit.ObjectLockRetainUntilDate, ObjectLockRetainUntilDate)
  await configure(Bucket)
  assert.equal((await head('by-put')).ObjectLockMode, 'GOVERNANCE')
  await put('after')
  assert.equal((await head('after')).ObjectLockMode, undefined)
})

async function upload(Key: string, more: object = {}): Promise<void> {
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))
  const { ETag } = await t.s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: 'x' }))
  const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
  await t.s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }))
}

test('an upload in parts keeps its locks until it is completed, and a copy can be given some', async () => {
  const ObjectLockRetainUntilDate = inDays(5)
  const locks = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate, ObjectLockLegalHoldStatus: 'ON' } as const
  await upload('parts', locks)
  await t.s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/source`, ...locks }))
  for (const Key of ['parts', 'copy']) {
    const { ObjectLockMode, ObjectLockRetainUntilDate: until, ObjectLockLegalHoldStatus } = await head(Key)
    assert.deepEqual(
      [ObjectLockMode, until, ObjectLockLegalHoldStatus],
      ['GOVERNANCE', ObjectLockRetainUntilDate, 'ON'],
    )
  }
})

test('bad lock headers are refused, and so are good ones where the bucket has no locks', async () => {
  const mode = 'x-amz-object-lock-mode'
  const until = 'x-amz-object-lock-retain-until-date'
  const tomorrow = inDays(1).toISOString()
  const bad: readonly Record<string, string>[] = [
    { [mode]: 'GOVERNANCE' },
    { [until]: tomorrow },
    { [mode]: 'governance', [until]: tomorrow },
    { [mode]: 'GOVERNANCE', [until]: 'tomorrow' },
    { [mode]: 'GOVERNANCE', [until]: inDays(-1).toISOString() },
    { 'x-amz-object-lock-legal-hold': 'on' },
  ]
  for (const headers of bad) {
    const { status, text } = await send(t, 'PUT', `/${Bucket}/bad`, { headers, body: 'x' })
    assert.equal(status, 400, JSON.stringify(headers))
    assert.match(text, /<Code>InvalidArgument<\/Code>/)
  }
  await assert.rejects(head('bad'), refused('NotFound', 404))
  const good = [{ [mode]: 'GOVERNANCE', [until]: tomorrow }, { 'x-amz-object-lock-legal-hold': 'ON' }]
  for (const headers of good) {
    const { status, text } = await send(t, 'PUT', '/plain/good', { headers, body: 'x' })
    assert.equal(status, 400)
    assert.match(text, /<Code>InvalidRequest<.*Bucket is missing Object Lock Configuration/)
  }
})

test('what is locked at once comes with a checksum of what it is', async () => {
  const locks = [
    { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': inDays(1).toISOString() },
    { 'x-amz-object-lock-legal-hold': 'OFF' },
  ]
  const checks = [{ 'content-md5': 'ndTkYSaMgDT1yFZOFVxnpg==' }, { 'x-amz-checksum-crc32': 'jNwWgw==' }]
  for (const headers of locks) {
    const unchecked = await send(t, 'PUT', `/${Bucket}/checked`, { headers, body: 'x' })
    assert.equal(unchecked.status, 400)
    assert.match(unchecked.text, /<Code>InvalidRequest<.*Content-MD5 OR x-amz-checksum/)
    for (const check of checks) {
      const { status } = await send(t, 'PUT', `/${Bucket}/checked`, { headers: { ...headers, ...check }, body: 'x' })
      assert.equal(status, 200, JSON.stringify(check))
    }
  }
})

test('retention and hold are asked about and set only in a bucket that has locks', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket: 'plain', Key: 'k', Body: 'x' }))
  const of = { Bucket: 'plain', Key: 'k' }
  const none = refused('InvalidRequest', 400)
  await assert.rejects(t.s3.send(new GetObjectRetentionCommand(of)), none)
  await assert.rejects(t.s3.send(new GetObjectLegalHoldCommand(of)), none)
  await assert.rejects(retain('k', { Mode: 'GOVERNANCE', RetainUntilDate: inDays(1) }, { Bucket: 'plain' }), none)
  await assert.rejects(hold('k', 'ON', { Bucket: 'plain' }), none)
})

test('what has no retention or hold, and what is not there, is told apart', async () => {
  await put('bare')
  const none = refused('NoSuchObjectLockConfiguration', 404)
  await assert.rejects(t.s3.send(new GetObjectRetentionCommand({ Bucket, Key: 'bare' })), none)
  await assert.rejects(t.s3.send(new GetObjectLegalHoldCommand({ Bucket, Key: 'bare' })), none)
  const retention = { Mode: 'GOVERNANCE', RetainUntilDate: inDays(1) }
  const VersionId = 'f'.repeat(32)
  await assert.rejects(retain('nothing', retention), refused('NoSuchKey', 404))
  await assert.rejects(hold('nothing', 'ON'), refused('NoSuchKey', 404))
  await assert.rejects(retain('bare', retention, { VersionId }), refused('NoSuchVersion', 404))
  await assert.rejects(hold('bare', 'ON', { VersionId }), refused('NoSuchVersion', 404))
  await remove('bare')
  const get = t.s3.send(new GetObjectRetentionCommand({ Bucket, Key: 'bare' }))
  await assert.rejects(get, refused('NoSuchKey', 404))
  await assert.rejects(retain('bare', retention), refused('NoSuchKey', 404))
})

test('a bad retention is refused, and changes nothing', async () => {
  await put('bad-retention')
  const bad: readonly (readonly [string, object])[] = [
    ['MalformedXML', { Mode: 'governance', RetainUntilDate: inDays(1) }],
    ['MalformedXML', { Mode: 'GOVERNANCE' }],
    ['MalformedXML', { RetainUntilDate: inDays(1) }],
    ['InvalidArgument', { Mode: 'GOVERNANCE', RetainUntilDate: inDays(-1) }],
  ]
  for (const [code, retention] of bad) {
    await assert.rejects(retain('bad-retention', retention), refused(code, 400), JSON.stringify(retention))
  }
  const badHold = { LegalHold: { Status: 'on' as 'ON' } }
  const setHold = t.s3.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'bad-retention', ...badHold }))
  await assert.rejects(setHold, refused('MalformedXML', 400))
  assert.equal((await head('bad-retention')).ObjectLockMode, undefined)
})

test('compliance is made longer, and nothing else, by anybody', async () => {
  const VersionId = await put('compliance')
  const until = inDays(2)
  await retain('compliance', { Mode: 'COMPLIANCE', RetainUntilDate: until })
  const bypass = { BypassGovernanceRetention: true }
  for (const more of [{}, bypass]) {
    await assert.rejects(retain('compliance', { Mode: 'COMPLIANCE', RetainUntilDate: inDays(1) }, more), denied)
    await assert.rejects(retain('compliance', { Mode: 'GOVERNANCE', RetainUntilDate: inDays(3) }, more), denied)
    await assert.rejects(retain('compliance', {}, more), denied)
    await assert.rejects(remove('compliance', { VersionId, ...more }), denied)
  }
  const { Retention } = await t.s3.send(new GetObjectRetentionCommand({ Bucket, Key: 'compliance' }))
  assert.deepEqual(Retention, { Mode: 'COMPLIANCE', RetainUntilDate: until })
  await retain('compliance', { Mode: 'COMPLIANCE', RetainUntilDate: inDays(4) })
})

test('governance gives way to the bypass of those who may', async () => {
  const VersionId = await put('governance')
  await retain('governance', { Mode: 'GOVERNANCE', RetainUntilDate: inDays(2) }, { VersionId })
  await retain('governance', { Mode: 'GOVERNANCE', RetainUntilDate: inDays(3) })
  const shorter = { Mode: 'GOVERNANCE', RetainUntilDate: inDays(1) }
  const bypass = { BypassGovernanceRetention: true }
  await assert.rejects(retain('governance', shorter), denied)
  await assert.rejects(retain('governance', { Mode: 'COMPLIANCE', RetainUntilDate: inDays(3) }), denied)
  await assert.rejects(retain('governance', {}), denied)
  await assert.rejects(remove('governance', { VersionId }), denied)

  await allow('s3:PutObjectRetention', 's3:DeleteObjectVersion')
  await assert.rejects(retain('governance', shorter, bypass, bob), denied)
  await assert.rejects(remove('governance', { VersionId, ...bypass }, bob), denied)
  await allow('s3:PutObjectRetention', 's3:DeleteObjectVersion', 's3:BypassGovernanceRetention')
  await assert.rejects(remove('governance', { VersionId }, bob), denied)
  await retain('governance', shorter, bypass, bob)
  await remove('governance', { VersionId, ...bypass }, bob)
  await assert.rejects(head('governance'), refused('NotFound', 404))

  await put('lifted', { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: inDays(1) })
  await retain('lifted', {}, bypass)
  assert.equal((await head('lifted')).ObjectLockMode, undefined)
})

test('a retention ends by itself, and is told also afterwards', async () => {
  const VersionId = await put('ends')
  const RetainUntilDate = new Date(Date.now() + MINUTE_MS)
  await retain('ends', { Mode: 'COMPLIANCE', RetainUntilDate })
  await assert.rejects(remove('ends', { VersionId }), denied)
  aheadMs = MINUTE_MS + 1
  assert.equal((await head('ends')).ObjectLockMode, 'COMPLIANCE')
  await retain('ends', { Mode: 'GOVERNANCE', RetainUntilDate: new Date(Date.now() + 2 * MINUTE_MS) })
  await assert.rejects(remove('ends', { VersionId }), denied)
  aheadMs = 2 * MINUTE_MS + 1
  await remove('ends', { VersionId })
  aheadMs = 0
})

test('a legal hold keeps a version whatever its retention, until it is lifted', async () => {
  const VersionId = await put('held', { ObjectLockLegalHoldStatus: 'ON' })
  await assert.rejects(remove('held', { VersionId }), denied)
  await assert.rejects(remove('held', { VersionId, BypassGovernanceRetention: true }), denied)
  await hold('held', 'OFF', { VersionId })
  const { LegalHold } = await t.s3.send(new GetObjectLegalHoldCommand({ Bucket, Key: 'held' }))
  assert.equal(LegalHold?.Status, 'OFF')
  assert.equal((await head('held')).ObjectLockLegalHoldStatus, 'OFF')
  await hold('held', 'ON')
  await assert.rejects(remove('held', { VersionId }), denied)
  await hold('held', 'OFF')
  await remove('held', { VersionId })
})

test('a locked key is replaced and hidden; its locked versions stay, also when many are deleted', async () => {
  const locks = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: inDays(1) } as const
  const first = await put('kept', locks)
  const second = await put('kept')
  const marker = (await t.s3.send(new DeleteObjectCommand({ Bucket, Key: 'kept' }))).VersionId
  assert.ok(marker)
  await assert.rejects(head('kept'), refused('NotFound', 404))
  const Objects = [first, second, marker].map((VersionId) => ({ Key: 'kept', VersionId }))
  const { Deleted = [], Errors = [] } = await t.s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
  assert.deepEqual(new Set(Deleted.map((one) => one.VersionId)), new Set([second, marker]))
  assert.equal(Errors.length, 1)
  const [{ Key, VersionId, Code } = {}] = Errors
  assert.deepEqual({ Key, VersionId, Code }, { Key: 'kept', VersionId: first, Code: 'AccessDenied' })
  assert.equal((await head('kept')).VersionId, first)
  const BypassGovernanceRetention = true
  const again = await t.s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects }, BypassGovernanceRetention }))
  assert.equal(again.Errors, undefined)
})

test('locks are told by headers to those who may know them', async () => {
  const locks = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: inDays(1) } as const
  await put('told', { ...locks, ObjectLockLegalHoldStatus: 'ON', Tagging: 'a=b' })
  const told = async (): Promise<unknown[]> => {
    const { ObjectLockMode, ObjectLockLegalHoldStatus, TagCount } = await head('told', {}, bob)
    const got = await bob.send(new GetObjectCommand({ Bucket, Key: 'told' }))
    await got.Body?.transformToString()
    const all = [ObjectLockMode, ObjectLockLegalHoldStatus, TagCount]
    assert.deepEqual([got.ObjectLockMode, got.ObjectLockLegalHoldStatus, got.TagCount], all)
    return all
  }
  await allow('s3:GetObject')
  assert.deepEqual(await told(), [undefined, undefined, undefined])
  await allow('s3:GetObject', 's3:GetObjectRetention')
  assert.deepEqual(await told(), ['GOVERNANCE', undefined, undefined])
  await allow('s3:GetObject', 's3:GetObjectLegalHold', 's3:GetObjectTagging')
  assert.deepEqual(await told(), [undefined, 'ON', 1])
})

test('locks at the time of writing take their own permissions, and policies can limit them', async () => {
  const locks = (days: number) => ({ ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: inDays(days) }) as const
  await allow('s3:PutObject')
  await put('mine', {}, bob)
  await assert.rejects(put('mine', locks(1), bob), denied)
  await assert.rejects(put('mine', { ObjectLockLegalHoldStatus: 'ON' }, bob), denied)
  await allow('s3:PutObject', 's3:PutObjectRetention', 's3:PutObjectLegalHold')
  await put('mine', { ...locks(1), ObjectLockLegalHoldStatus: 'ON' }, bob)

  const limit = async (Condition: object): Promise<void> => {
    const Resource = `arn:aws:s3:::${Bucket}/*`
    const Principal = { AWS: 'bob' }
    const Statement = [
      { Effect: 'Allow', Principal, Action: 's3:*', Resource },
      { Effect: 'Deny', Principal, Action: 's3:PutObjectRetention', Resource, Condition },
      { Effect: 'Deny', Principal, Action: 's3:PutObjectLegalHold', Resource, Condition },
    ]
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await t.s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  }
  await limit({ NumericGreaterThan: { 's3:object-lock-remaining-retention-days': '10' } })
  await put('mine', locks(10), bob)
  await assert.rejects(put('mine', locks(11), bob), denied)
  const retention = { Mode: 'GOVERNANCE', RetainUntilDate: inDays(11) }
  await assert.rejects(retain('mine', retention, {}, bob), denied)
  await limit({ StringEquals: { 's3:object-lock-mode': 'COMPLIANCE' } })
  await retain('mine', retention, {}, bob)
  await put('mine', {}, bob)
  await assert.rejects(retain('mine', { ...retention, Mode: 'COMPLIANCE' }, {}, bob), denied)
  await limit({ StringEquals: { 's3:object-lock-legal-hold': 'OFF' } })
  await hold('mine', 'ON', {}, bob)
  await assert.rejects(hold('mine', 'OFF', {}, bob), denied)
})
