import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { SecureVersion } from 'node:tls'
import {
  CopyObjectCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeletePublicAccessBlockCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  PutPublicAccessBlockCommand,
} from '@aws-sdk/client-s3'
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import { openCertificate } from '../../engines/certificate.ts'
import { refused, send, startTestPlane, svm } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'policies'
let t: TestPlane
let alice: S3Client
let bob: S3Client
let carol: S3Client
before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-certificate-'))
  t = await startTestPlane({ tls: await openCertificate(folder, Date.now()) })
  await rm(folder, { recursive: true })
  for (const name of [Bucket, 'target']) await t.addBucket(name)
  const client = async (name: string): Promise<S3Client> => {
    const credentials = { accessKeyId: `AK${name.toUpperCase()}`, secretAccessKey: `secret of ${name}` }
    await t.addUser(name, credentials)
    return t.client(credentials)
  }
  alice = await client('alice')
  bob = await client('bob')
  carol = await client('carol')
  const staff = { id: 2, name: 'staff', 'svm.uuid': svm, users: [{ name: 'carol' }], policies: [] }
  await t.put('protocols/s3/services/{svm.uuid}/groups', `${svm}/2`, staff)
  for (const Key of ['open/a', 'folder/alice/x', 'folder/bob/x', 'secret']) await put(t.s3, Key)
  await put(t.s3, 'tagged', { Tagging: 'team=red' })
})
after(() => t.close())

const everything = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`]
const arn = (key: string): string => `arn:aws:s3:::${Bucket}/${key}`
const user = (name: string): object => ({ AWS: `arn:aws:iam::123456789012:user/${name}` })

function allow(Action: string | string[], more: object = {}): object {
  return { Effect: 'Allow', Principal: '*', Action, Resource: everything, ...more }
}

function deny(Action: string | string[], more: object = {}): object {
  return { ...allow(Action, more), Effect: 'Deny' }
}

async function setPolicy(statements: readonly object[], name = Bucket): Promise<void> {
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: statements }).replaceAll(Bucket, name)
  await t.s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy }))
}

function put(by: S3Client, Key: string, more: Partial<PutObjectCommandInput> = {}): Promise<unknown> {
  return by.send(new PutObjectCommand({ Bucket, Key, Body: Key, ...more }))
}

function get(by: S3Client, Key: string, more: object = {}): Promise<unknown> {
  return by.send(new HeadObjectCommand({ Bucket, Key, ...more }))
}

function list(by: S3Client, more: object = {}): Promise<unknown> {
  return by.send(new ListObjectsV2Command({ Bucket, ...more }))
}

function copy(by: S3Client, CopySource: string, more: object = {}): Promise<unknown> {
  return by.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource, ...more }))
}

/** False: access denied. Any other failure is one of the test. */
async function may(request: Promise<unknown>): Promise<boolean> {
  try {
    await request
    return true
  } catch (failure) {
    const { $metadata } = failure as { $metadata?: { httpStatusCode?: number } }
    if ($metadata?.httpStatusCode !== 403) throw failure
    return false
  }
}

async function anonymous(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<number> {
  return (await send(t, method, `/${Bucket}/${target}`, { isAnonymous: true, headers })).status
}

test('a policy comes back as it was written, says whether it is public, and goes', async () => {
  const Policy = `{ "Version":"2012-10-17",\n "Statement": [${JSON.stringify(allow('s3:GetObject'))} ] }`
  await t.s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  assert.equal((await t.s3.send(new GetBucketPolicyCommand({ Bucket }))).Policy, Policy)
  const isPublic = async (): Promise<boolean | undefined> =>
    (await t.s3.send(new GetBucketPolicyStatusCommand({ Bucket }))).PolicyStatus?.IsPublic
  assert.equal(await isPublic(), true)
  await setPolicy([allow('s3:GetObject', { Principal: user('alice') })])
  assert.equal(await isPublic(), false)
  for (let times = 0; times < 2; times += 1) {
    const { $metadata } = await t.s3.send(new DeleteBucketPolicyCommand({ Bucket }))
    assert.equal($metadata.httpStatusCode, 204)
  }
  await assert.rejects(t.s3.send(new GetBucketPolicyCommand({ Bucket })), refused('NoSuchBucketPolicy', 404))
  await assert.rejects(t.s3.send(new GetBucketPolicyStatusCommand({ Bucket })), refused('NoSuchBucketPolicy', 404))
})

test('what is no policy is malformed, and leaves the one that is there', async () => {
  await setPolicy([allow('s3:GetObject', { Principal: user('bob') })])
  const before = (await t.s3.send(new GetBucketPolicyCommand({ Bucket }))).Policy
  const bad = [
    '',
    'x',
    '{}',
    '{"Version":"2012-10-17","Statement":[]}',
    ...[
      { Principal: { AWS: 'arn:aws:iam::1:user/*' } },
      { Resource: 'arn:aws:s3:::other/*' },
      { Action: 's3:Nothing' },
      { Action: 'ec2:RunInstances' },
      { Effect: 'Maybe' },
      { Condition: { StringEquals: { 's3:nothing': 'x' } } },
      { Action: 's3:ListBucket', Resource: arn('*') },
    ].map((one) => JSON.stringify({ Version: '2012-10-17', Statement: [allow('s3:GetObject', one)] })),
  ]
  for (const body of bad) {
    const { status, text } = await send(t, 'PUT', `/${Bucket}?policy`, { body })
    assert.equal(status, 400, body)
    assert.match(text, /<Code>MalformedPolicy<\/Code>/, body)
  }
  assert.equal((await t.s3.send(new GetBucketPolicyCommand({ Bucket }))).Policy, before)
})

test('a prefix is opened to everybody, and the rest stays closed, unknown keys too', async () => {
  await setPolicy([allow('s3:GetObject', { Resource: arn('open/*') })])
  assert.equal(await anonymous('open/a'), 200)
  assert.equal(await anonymous('secret'), 403)
  // Who may not list is not told what there is.
  assert.equal(await anonymous('open/nothing'), 403)
  assert.equal(await anonymous('nothing'), 403)
  assert.equal(await anonymous('open/new', {}, 'PUT'), 403)
  assert.equal(await anonymous(''), 403)
  await setPolicy([allow('s3:GetObject', { Resource: arn('open/*') }), allow('s3:ListBucket')])
  assert.equal(await anonymous('open/nothing'), 404)
  assert.equal(await anonymous(''), 200)
  assert.equal(await anonymous('nothing'), 403)
})

test('a denial wins over whatever else allows', async () => {
  await setPolicy([allow('s3:*'), deny('s3:GetObject', { Resource: arn('secret') })])
  assert.equal(await may(get(t.s3, 'secret')), false)
  assert.equal(await may(get(t.s3, 'open/a')), true)
  assert.equal(await may(get(bob, 'open/a')), true)
  await setPolicy([deny('s3:PutObject', { NotPrincipal: user('alice'), Principal: undefined })])
  assert.equal(await may(put(t.s3, 'x')), false)
  // Not to be denied is not to be allowed.
  assert.equal(await may(put(alice, 'x')), false)
})

test('a statement is for users, for a group, or for everybody', async () => {
  await setPolicy([allow('s3:GetObject', { Principal: user('alice') })])
  assert.deepEqual(await Promise.all([alice, bob, carol].map((by) => may(get(by, 'secret')))), [true, false, false])
  assert.equal(await anonymous('secret'), 403)
  await setPolicy([allow('s3:GetObject', { Principal: { AWS: 'arn:aws:iam::123456789012:group/staff' } })])
  assert.deepEqual(await Promise.all([alice, bob, carol].map((by) => may(get(by, 'secret')))), [false, false, true])
  await setPolicy([allow('s3:GetObject', { Principal: { AWS: '*' } })])
  assert.deepEqual(await Promise.all([alice, bob, carol].map((by) => may(get(by, 'secret')))), [true, true, true])
  assert.equal(await anonymous('secret'), 200)
})

test('conditions on address, transport and referer', async () => {
  const when = (Condition: object): Promise<void> => setPolicy([allow('s3:GetObject', { Condition })])
  await when({ IpAddress: { 'aws:SourceIp': '127.0.0.0/8' } })
  assert.equal(await anonymous('secret'), 200)
  await when({ NotIpAddress: { 'aws:SourceIp': '127.0.0.1' } })
  assert.equal(await anonymous('secret'), 403)
  await when({ Bool: { 'aws:SecureTransport': 'true' } })
  assert.equal(await anonymous('secret'), 403)
  await when({ Bool: { 'aws:SecureTransport': 'false' } })
  assert.equal(await anonymous('secret'), 200)
  await when({ StringLike: { 'aws:Referer': 'http://www.example.com/*' } })
  assert.equal(await anonymous('secret'), 403)
  assert.equal(await anonymous('secret', { referer: 'http://www.example.com/page' }), 200)
  assert.equal(await anonymous('secret', { referer: 'http://www.example.org/' }), 403)
})

test('conditions on transport hold for TLS, and for its version', async () => {
  const when = (Condition: object): Promise<void> => setPolicy([allow('s3:GetObject', { Condition })])
  const securely = (maxVersion: SecureVersion): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { rejectUnauthorized: false, maxVersion, agent: false }
      const request = httpsRequest(`${t.secureUrl}/${Bucket}/secret`, options, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      request.end()
    })
  await when({ Bool: { 'aws:SecureTransport': 'true' } })
  assert.equal(await securely('TLSv1.3'), 200)
  assert.equal(await anonymous('secret'), 403)
  await when({ NumericGreaterThanEquals: { 's3:TlsVersion': '1.3' } })
  assert.equal(await securely('TLSv1.3'), 200)
  assert.equal(await securely('TLSv1.2'), 403)
  assert.equal(await anonymous('secret'), 403)
})

test('conditions on what a listing is for', async () => {
  const Condition = { StringLike: { 's3:prefix': 'folder/*' }, NumericLessThanEquals: { 's3:max-keys': 10 } }
  await setPolicy([allow('s3:ListBucket', { Condition: { ...Condition, StringEquals: { 's3:delimiter': '/' } } })])
  assert.equal(await may(list(bob, { Prefix: 'folder/', MaxKeys: 10, Delimiter: '/' })), true)
  assert.equal(await may(list(bob, { Prefix: 'folder/', MaxKeys: 11, Delimiter: '/' })), false)
  assert.equal(await may(list(bob, { Prefix: 'folder/', MaxKeys: 10 })), false)
  assert.equal(await may(list(bob, { Prefix: 'open/', MaxKeys: 10, Delimiter: '/' })), false)
  assert.equal(await may(list(bob)), false)
})

test('a variable stands for the user who asks', async () => {
  await setPolicy([allow(['s3:GetObject', 's3:PutObject'], { Resource: arn('folder/${aws:username}/*') })])
  assert.equal(await may(get(alice, 'folder/alice/x')), true)
  assert.equal(await may(get(alice, 'folder/bob/x')), false)
  assert.equal(await may(put(bob, 'folder/bob/y')), true)
  assert.equal(await may(put(bob, 'folder/alice/y')), false)
  assert.equal(await anonymous('folder/alice/x'), 403)
})

test('conditions on tags: of the object, of the header, of the body', async () => {
  const red = (key: string): object => ({ Condition: { StringEquals: { [key]: 'red' } } })
  await setPolicy([allow('s3:GetObject', red('s3:ExistingObjectTag/team'))])
  assert.equal(await may(get(bob, 'tagged')), true)
  assert.equal(await may(get(bob, 'secret')), false)
  await setPolicy([allow(['s3:PutObject', 's3:PutObjectTagging'], red('s3:RequestObjectTag/team'))])
  assert.equal(await may(put(bob, 'new', { Tagging: 'team=red' })), true)
  assert.equal(await may(put(bob, 'new', { Tagging: 'team=blue' })), false)
  assert.equal(await may(put(bob, 'new')), false)
  const tag = (by: S3Client, Value: string): Promise<unknown> =>
    by.send(new PutObjectTaggingCommand({ Bucket, Key: 'new', Tagging: { TagSet: [{ Key: 'team', Value }] } }))
  assert.equal(await may(tag(bob, 'red')), true)
  assert.equal(await may(tag(bob, 'blue')), false)
  await setPolicy([deny('s3:PutObjectTagging', red('s3:RequestObjectTag/team'))])
  assert.equal(await may(tag(t.s3, 'red')), false)
  assert.equal(await may(tag(t.s3, 'blue')), true)
  // To set tags with an object is a permission of its own.
  await setPolicy([allow('s3:PutObject')])
  assert.equal(await may(put(bob, 'new')), true)
  assert.equal(await may(put(bob, 'new', { Tagging: 'a=b' })), false)
})

test('conditions on what a write asks for', async () => {
  const onlyIf = (Condition: object): Promise<void> => setPolicy([allow('s3:PutObject', { Condition })])
  await onlyIf({ StringEquals: { 's3:x-amz-acl': 'bucket-owner-full-control' } })
  assert.equal(await may(put(bob, 'new', { ACL: 'bucket-owner-full-control' })), true)
  assert.equal(await may(put(bob, 'new', { ACL: 'private' })), false)
  assert.equal(await may(put(bob, 'new')), false)
  await onlyIf({ StringEquals: { 's3:x-amz-storage-class': 'STANDARD_IA' } })
  assert.equal(await may(put(bob, 'new', { StorageClass: 'STANDARD_IA' })), true)
  assert.equal(await may(put(bob, 'new')), false)
  await onlyIf({ Null: { 's3:if-none-match': 'false' } })
  assert.equal(await may(put(bob, 'only-new', { IfNoneMatch: '*' })), true)
  assert.equal(await may(put(bob, 'other-new')), false)
})

test('who compares the ETag of an object must be allowed to read it', async () => {
  await setPolicy([allow(['s3:PutObject', 's3:DeleteObject'])])
  await put(t.s3, 'compared')
  const { ETag: IfMatch } = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'compared' }))
  const remove = (more: object): Promise<unknown> =>
    bob.send(new DeleteObjectCommand({ Bucket, Key: 'compared', ...more }))
  assert.equal(await may(put(bob, 'compared', { IfMatch })), false)
  assert.equal(await may(remove({ IfMatch })), false)
  const removeMany = await bob.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'compared', ETag: IfMatch }] } }),
  )
  assert.equal(removeMany.Errors?.[0]?.Code, 'AccessDenied')
  assert.equal(await may(remove({ IfMatch: '*' })), true)
  await setPolicy([allow(['s3:PutObject', 's3:DeleteObject', 's3:GetObject'])])
  await put(t.s3, 'compared')
  assert.equal(await may(put(bob, 'compared', { IfMatch })), true)
  assert.equal(await may(remove({ IfMatch })), true)
})

test('a copy reads its source, and its tags where they go along', async () => {
  await setPolicy([allow('s3:PutObject')])
  assert.equal(await may(copy(bob, `${Bucket}/secret`)), false)
  await setPolicy([allow(['s3:PutObject', 's3:GetObject'])])
  assert.equal(await may(copy(bob, `${Bucket}/secret`)), true)
  assert.equal(await may(copy(bob, `${Bucket}/nothing`)), false)
  assert.equal(await may(copy(bob, `${Bucket}/tagged`)), false)
  assert.equal(await may(copy(bob, `${Bucket}/tagged`, { TaggingDirective: 'REPLACE' })), true)
  await setPolicy([allow(['s3:PutObject', 's3:GetObject', 's3:GetObjectTagging'])])
  assert.equal(await may(copy(bob, `${Bucket}/tagged`)), false)
  await setPolicy([allow(['s3:PutObject', 's3:GetObject', 's3:GetObjectTagging', 's3:PutObjectTagging'])])
  assert.equal(await may(copy(bob, `${Bucket}/tagged`)), true)
  await setPolicy([allow(['s3:PutObject', 's3:GetObject', 's3:ListBucket'])])
  await assert.rejects(copy(bob, `${Bucket}/nothing`), refused('NoSuchKey', 404))
})

test('a denial of a copy source holds however the source is written', async () => {
  const Condition = { StringLike: { 's3:x-amz-copy-source': `${Bucket}/folder/*` } }
  await setPolicy([allow('s3:*'), deny('s3:PutObject', { Condition })])
  for (const source of [`${Bucket}/folder/bob/x`, `/${Bucket}/folder/bob/x`, `${Bucket}%2Ffolder%2Fbob%2Fx`]) {
    assert.equal(await may(copy(bob, source)), false, source)
  }
  assert.equal(await may(copy(bob, `${Bucket}/open/a`)), true)
  await setPolicy([allow('s3:*'), deny('s3:PutObject', { Condition: { StringNotLike: Condition.StringLike } })])
  assert.equal(await may(copy(bob, `/${Bucket}/folder/bob/x`)), true)
  assert.equal(await may(copy(bob, `${Bucket}/open/a`)), false)
  await setPolicy([
    allow('s3:*'),
    deny('s3:PutObject', { Condition: { StringEquals: { 's3:x-amz-metadata-directive': 'REPLACE' } } }),
  ])
  assert.equal(await may(copy(bob, `${Bucket}/open/a`, { MetadataDirective: 'REPLACE' })), false)
  assert.equal(await may(copy(bob, `${Bucket}/open/a`)), true)
})

test('versions have actions of their own, and conditions on which', async () => {
  await t.addBucket('versions')
  const name = 'versions'
  await t.s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status: 'Enabled' } }))
  const write = (Tagging: string): Promise<{ VersionId?: string | undefined }> =>
    t.s3.send(new PutObjectCommand({ Bucket: name, Key: 'k', Body: 'x', Tagging }))
  const first = (await write('team=red')).VersionId ?? ''
  const second = (await write('team=blue')).VersionId ?? ''
  const read = (VersionId?: string): Promise<boolean> =>
    may(bob.send(new HeadObjectCommand({ Bucket: name, Key: 'k', VersionId })))
  const copyOf = (version?: string): Promise<boolean> => {
    const CopySource = `${name}/k${version === undefined ? '' : `?versionId=${version}`}`
    return may(bob.send(new CopyObjectCommand({ Bucket: name, Key: 'c', CopySource, TaggingDirective: 'REPLACE' })))
  }
  const remove = async (VersionId?: string): Promise<string | undefined> => {
    const Objects = [{ Key: 'k', VersionId }]
    const { Errors } = await bob.send(new DeleteObjectsCommand({ Bucket: name, Delete: { Objects } }))
    assert.equal(Errors?.[0]?.VersionId, Errors === undefined ? undefined : VersionId)
    return Errors?.[0]?.Code
  }
  await setPolicy([allow(['s3:GetObject', 's3:PutObject', 's3:DeleteObject'])], name)
  assert.deepEqual([await read(), await read(second)], [true, false])
  assert.deepEqual([await copyOf(), await copyOf(second)], [true, false])
  assert.equal(await remove(second), 'AccessDenied')
  assert.equal(await may(bob.send(new ListObjectVersionsCommand({ Bucket: name }))), false)
  await setPolicy([allow(['s3:GetObjectVersion', 's3:ListBucketVersions', 's3:PutObject'])], name)
  assert.deepEqual([await read(), await read(second)], [false, true])
  assert.equal(await may(bob.send(new ListObjectVersionsCommand({ Bucket: name }))), true)

  const Condition = { StringEquals: { 's3:VersionId': first } }
  const actions = ['s3:GetObjectVersion', 's3:DeleteObjectVersion']
  await setPolicy([allow('s3:PutObject'), allow(actions, { Condition })], name)
  assert.deepEqual([await read(first), await read(second)], [true, false])
  assert.deepEqual([await copyOf(first), await copyOf(second)], [true, false])
  assert.equal(await remove(second), 'AccessDenied')
  const red = { StringEquals: { 's3:ExistingObjectTag/team': 'red' } }
  await setPolicy([allow('s3:PutObject'), allow(actions, { Condition: red })], name)
  assert.deepEqual([await copyOf(first), await copyOf(second)], [true, false])
  assert.equal(await remove(second), 'AccessDenied')
  assert.equal(await remove(first), undefined)
})

test('of many keys each is decided for itself, also by the ETag that it names', async () => {
  for (const Key of ['open/1', 'shut/1', 'open/2']) await put(t.s3, Key)
  await setPolicy([allow('s3:DeleteObject', { Resource: arn('open/*') }), allow('s3:GetObject')])
  const removeAll = (Objects: { Key: string; ETag?: string | undefined }[], by = bob) =>
    by.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
  const some = await removeAll([{ Key: 'open/1' }, { Key: 'shut/1' }])
  assert.deepEqual(some.Deleted, [{ Key: 'open/1' }])
  assert.deepEqual(some.Errors, [{ Key: 'shut/1', Code: 'AccessDenied', Message: 'Access Denied' }])

  await setPolicy([allow('s3:*'), deny('s3:DeleteObject', { Condition: { Null: { 's3:if-match': 'true' } } })])
  const { ETag } = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'open/2' }))
  const both = await removeAll([{ Key: 'open/2', ETag }, { Key: 'shut/1' }])
  assert.deepEqual(both.Deleted, [{ Key: 'open/2' }])
  assert.equal(both.Errors?.[0]?.Code, 'AccessDenied')
  assert.equal(await may(bob.send(new DeleteObjectCommand({ Bucket, Key: 'shut/1' }))), false)
  assert.equal(await may(bob.send(new DeleteObjectCommand({ Bucket, Key: 'shut/1', IfMatch: '*' }))), true)
})

test('a bucket that blocks public policies takes none, and one that restricts them closes', async () => {
  const block = (configuration: object): Promise<unknown> =>
    t.s3.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration: configuration }))
  await setPolicy([allow('s3:GetObject')])
  assert.equal(await anonymous('secret'), 200)
  await block({ RestrictPublicBuckets: true })
  assert.equal(await anonymous('secret'), 403)
  assert.equal(await may(get(bob, 'secret')), true)
  await block({ BlockPublicPolicy: true })
  assert.equal(await anonymous('secret'), 200)
  await assert.rejects(setPolicy([allow('s3:GetObject')]), refused('AccessDenied', 403))
  await setPolicy([allow('s3:GetObject', { Principal: user('alice') })])
  await setPolicy([allow('s3:GetObject', { Condition: { IpAddress: { 'aws:SourceIp': '127.0.0.0/8' } } })])
  await t.s3.send(new DeletePublicAccessBlockCommand({ Bucket }))
  await setPolicy([allow('s3:GetObject')])
})

test('buckets are listed for who may list them, and a policy of one bucket does not allow that', async () => {
  await setPolicy([allow('s3:*')])
  assert.equal(await may(bob.send(new ListBucketsCommand({}))), false)
  assert.equal((await send(t, 'GET', '/', { isAnonymous: true })).status, 403)
  const { Buckets } = await t.s3.send(new ListBucketsCommand({}))
  assert.deepEqual(
    Buckets?.map(({ Name }) => Name),
    [Bucket, 'target', 'versions'],
  )
})

test('a policy holds from the next request on, also for those that read already', async () => {
  await setPolicy([allow('s3:GetObject')])
  const body = await bob.send(new GetObjectCommand({ Bucket, Key: 'secret' }))
  assert.equal(await body.Body?.transformToString(), 'secret')
  await t.s3.send(new DeleteBucketPolicyCommand({ Bucket }))
  assert.equal(await may(get(bob, 'secret')), false)
})
