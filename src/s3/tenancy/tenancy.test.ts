import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { S3Client } from '@aws-sdk/client-s3'
import type { FieldValue } from '../../ports/catalog.ts'
import { Tenancy } from './tenancy.ts'
import { keys, send, server, startTestPlane, svm } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const alice = { accessKeyId: 'ALICE', secretAccessKey: 'alice-secret' }
let t: TestPlane
let asAlice: S3Client
before(async () => {
  t = await startTestPlane()
  await t.addUser('alice', alice)
  asAlice = t.client(alice)
})
after(() => t.close())

async function bucketWith(name: string, statements: readonly FieldValue[]): Promise<void> {
  await t.addBucket(name, { statements })
  await t.s3.send(new PutObjectCommand({ Bucket: name, Key: 'docs/a', Body: 'x' }))
}

async function statusOf(
  sent: Promise<{ $metadata: { httpStatusCode?: number | undefined } }>,
): Promise<number | undefined> {
  try {
    return (await sent).$metadata.httpStatusCode
  } catch (failure) {
    return (failure as { $metadata: { httpStatusCode?: number } }).$metadata.httpStatusCode
  }
}

const read = (Bucket: string, Key = 'docs/a'): Promise<number | undefined> =>
  statusOf(asAlice.send(new GetObjectCommand({ Bucket, Key })))
const write = (Bucket: string, Key = 'docs/a'): Promise<number | undefined> =>
  statusOf(asAlice.send(new PutObjectCommand({ Bucket, Key, Body: 'y' })))

test('what nothing allows is refused', async () => {
  await bucketWith('closed', [])
  assert.equal(await read('closed'), 403)
  assert.equal(await statusOf(asAlice.send(new ListBucketsCommand({}))), 403)
})

test('a bucket grants to users by name, to all users without principals, and a denial wins wherever it stands', async () => {
  await bucketWith('granted', [
    { effect: 'allow', principals: ['alice'], actions: ['s3:GetObject'], resources: ['arn:aws:s3:::granted/*'] },
  ])
  assert.deepEqual([await read('granted'), await write('granted')], [200, 403])
  await bucketWith('forall', [{ effect: 'allow', actions: ['GetObject'], resources: ['forall/*'] }])
  assert.equal(await read('forall'), 200)
  assert.equal((await send(t, 'GET', '/forall/docs/a', { isAnonymous: true })).status, 403)
  await bucketWith('denied', [
    { effect: 'allow', principals: ['alice'], actions: ['*'], resources: ['denied', 'denied/*'] },
    { effect: 'deny', principals: ['alice'], actions: ['s3:PutObject'], resources: ['denied/docs/*'] },
  ])
  assert.deepEqual([await read('denied'), await write('denied'), await write('denied', 'other')], [200, 403, 200])
})

test('an absent key is 404 only for those who may list', async () => {
  assert.equal(await read('granted', 'absent'), 403)
  assert.equal(await read('denied', 'absent'), 404)
})

test('anybody gets in where a statement names *, and nowhere else', async () => {
  await bucketWith('public', [
    { effect: 'allow', principals: ['*'], actions: ['GetObject'], resources: ['public/docs/*'] },
  ])
  const anonymous = async (target: string): Promise<number> =>
    (await send(t, 'GET', target, { isAnonymous: true })).status
  assert.equal(await anonymous('/public/docs/a'), 200)
  assert.equal(await anonymous('/public/other'), 403)
  assert.equal(await anonymous('/public'), 403)
  assert.equal(await anonymous('/public/docs/a?response-content-type=text%2Fhtml'), 400)
})

test('groups give their users what their policies grant, from the next request on', async () => {
  await bucketWith('grouped', [])
  assert.equal(await read('grouped'), 403)
  const policy = async (statements: readonly FieldValue[]): Promise<void> =>
    t.put('protocols/s3/services/{svm.uuid}/policies', `${svm}/readers`, {
      name: 'readers',
      'svm.uuid': svm,
      statements,
    })
  await policy([{ effect: 'allow', actions: ['GetObject', 'ListAllMyBuckets'] }])
  await t.put('protocols/s3/services/{svm.uuid}/groups', `${svm}/2`, {
    id: 2,
    name: 'readers',
    'svm.uuid': svm,
    users: [{ name: 'alice' }],
    policies: [{ name: 'readers' }],
  })
  assert.equal(await read('grouped'), 200)
  assert.ok(((await asAlice.send(new ListBucketsCommand({}))).Buckets?.length ?? 0) > 3)
  await policy([])
  assert.equal(await read('grouped'), 403)
})

test('the policy that the server names holds for all its buckets', async () => {
  await bucketWith('served', [])
  const record = (await t.catalog.record('protocols/s3/services', server))?.body ?? {}
  await t.put('protocols/s3/services/{svm.uuid}/policies', `${svm}/open`, {
    name: 'open',
    'svm.uuid': svm,
    statements: [{ effect: 'allow', principals: ['alice'], actions: ['GetObject'], resources: ['*'] }],
  })
  await t.put('protocols/s3/services', server, { ...record, 'policy.name': 'open' })
  assert.equal(await read('served'), 200)
  await t.put('protocols/s3/services', server, record)
  assert.equal(await read('served'), 403)
})

test('DeleteObjects is decided key by key', async () => {
  await bucketWith('keyed', [
    { effect: 'allow', principals: ['alice'], actions: ['DeleteObject'], resources: ['keyed/docs/*'] },
  ])
  const { Deleted, Errors } = await asAlice.send(
    new DeleteObjectsCommand({ Bucket: 'keyed', Delete: { Objects: [{ Key: 'docs/a' }, { Key: 'other' }] } }),
  )
  assert.deepEqual(
    Deleted?.map((one) => one.Key),
    ['docs/a'],
  )
  assert.deepEqual(
    Errors?.map((one) => [one.Key, one.Code]),
    [['other', 'AccessDenied']],
  )
})

test('a copy needs leave to read its source', async () => {
  await bucketWith('source', [])
  await bucketWith('target', [{ effect: 'allow', principals: ['alice'], actions: ['*'], resources: ['target/*'] }])
  const copy = new CopyObjectCommand({ Bucket: 'target', Key: 'copy', CopySource: 'source/docs/a' })
  assert.equal(await statusOf(asAlice.send(copy)), 403)
  const { status } = await send(t, 'PUT', '/target/copy', { headers: { 'x-amz-copy-source': '/source/docs/a' } })
  assert.equal(status, 200)
})

test('a key that was taken away is unknown from the next request on', async () => {
  assert.equal((await send(t, 'GET', '/')).status, 200)
  await t.catalog.commit([{ do: 'remove-record', type: 'protocols/s3/services/{svm.uuid}/users', key: `${svm}/demo` }])
  assert.match((await send(t, 'GET', '/')).text, /InvalidAccessKeyId/)
  await t.addUser('demo', keys)
  assert.equal((await send(t, 'GET', '/')).status, 200)
})

test('keys whose time is over are as good as none', async () => {
  await bucketWith('timed', [{ effect: 'allow', principals: ['late'], actions: ['*'], resources: ['timed/*'] }])
  const late = { accessKeyId: 'LATE', secretAccessKey: 'late-secret' }
  const get = () => statusOf(t.client(late).send(new GetObjectCommand({ Bucket: 'timed', Key: 'docs/a' })))
  await t.addUser('late', late, Date.now() + 60_000)
  assert.equal(await get(), 200)
  await t.addUser('late', late, Date.now() - 1)
  assert.equal(await get(), 403)
})

test('the engine of an aggregate is looked up once for all requests, until the record of the aggregate changes', async () => {
  const tenancy = new Tenancy(t.catalog, (sealed) => sealed)
  let looks = 0
  const find = () => {
    looks += 1
    return Promise.resolve(t.volumes)
  }
  const engine = async () => (await tenancy.view()).readingEngine('aggr1', find)
  assert.equal(await engine(), t.volumes)
  await engine()
  assert.equal(looks, 1)
  await t.put('storage/aggregates', 'aggr1', { uuid: 'aggr1', name: 'aggr1' })
  await engine()
  assert.equal(looks, 2)
})
