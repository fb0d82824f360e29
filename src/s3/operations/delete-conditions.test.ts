import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { DeleteObjectCommandOutput, DeleteObjectsCommandOutput, ObjectIdentifier } from '@aws-sdk/client-s3'
import { refused, send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket('plain')
  await t.addBucket('versioned')
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await t.s3.send(new PutBucketVersioningCommand({ Bucket: 'versioned', VersioningConfiguration }))
})
after(() => t.close())

interface Written {
  readonly ETag: string
  readonly VersionId: string | undefined
  readonly LastModified: Date
}

async function put(Bucket: string, Key: string, Body = 'four'): Promise<Written> {
  const { ETag = '', VersionId } = await t.s3.send(new PutObjectCommand({ Bucket, Key, Body }))
  const { LastModified = new Date(0) } = await t.s3.send(new HeadObjectCommand({ Bucket, Key }))
  return { ETag, VersionId, LastModified }
}

function remove(Bucket: string, Key: string, more: object): Promise<DeleteObjectCommandOutput> {
  return t.s3.send(new DeleteObjectCommand({ Bucket, Key, ...more }))
}

function removeMany(Bucket: string, Objects: ObjectIdentifier[]): Promise<DeleteObjectsCommandOutput> {
  return t.s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
}

async function isThere(Bucket: string, Key: string, VersionId?: string): Promise<boolean> {
  return (
    (await send(t, 'HEAD', `/${Bucket}/${Key}${VersionId === undefined ? '' : `?versionId=${VersionId}`}`)).status ===
    200
  )
}

const failed = refused('PreconditionFailed', 412)
const absent = refused('NoSuchKey', 404)
const other = '"00000000000000000000000000000000"'
const past = new Date('2020-01-01T00:00:00Z')

test('an object is deleted when ETag, size and time are what the request says, and else stays', async () => {
  for (const Bucket of ['plain', 'versioned']) {
    const { ETag, LastModified } = await put(Bucket, 'k')
    const wrong = [
      { IfMatch: other },
      { IfMatchSize: 5 },
      { IfMatchLastModifiedTime: past },
      { IfMatch: ETag, IfMatchSize: 5 },
      { IfMatch: other, IfMatchSize: 4 },
      { IfMatch: ETag, IfMatchLastModifiedTime: past },
    ]
    for (const conditions of wrong) {
      await assert.rejects(remove(Bucket, 'k', conditions), failed, JSON.stringify(conditions))
      assert.ok(await isThere(Bucket, 'k'))
    }
    const right = [
      { IfMatch: ETag },
      { IfMatch: '*' },
      { IfMatchSize: 4 },
      { IfMatchLastModifiedTime: LastModified },
      { IfMatch: ETag, IfMatchSize: 4 },
    ]
    for (const conditions of right) {
      await put(Bucket, 'k')
      const { $metadata, DeleteMarker } = await remove(Bucket, 'k', {
        ...conditions,
        ...('IfMatchLastModifiedTime' in conditions
          ? { IfMatchLastModifiedTime: (await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'k' }))).LastModified }
          : {}),
      })
      assert.equal($metadata.httpStatusCode, 204, JSON.stringify(conditions))
      assert.equal(DeleteMarker, Bucket === 'versioned' ? true : undefined)
      assert.ok(!(await isThere(Bucket, 'k')))
    }
  }
})

test('If-Match wants an object to be there; a size or a time holds for none', async () => {
  await assert.rejects(remove('plain', 'nothing', { IfMatch: other }), absent)
  await assert.rejects(remove('plain', 'nothing', { IfMatch: '*' }), absent)
  await assert.rejects(remove('plain', 'nothing', { IfMatch: '*', IfMatchSize: 4 }), absent)
  for (const conditions of [{ IfMatchSize: 4 }, { IfMatchLastModifiedTime: past }]) {
    assert.equal((await remove('plain', 'nothing', conditions)).$metadata.httpStatusCode, 204)
  }
  await put('versioned', 'hidden')
  await remove('versioned', 'hidden', {})
  await assert.rejects(remove('versioned', 'hidden', { IfMatch: '*' }), failed)
  const { $metadata, ...told } = await remove('versioned', 'hidden', { IfMatchSize: 4 })
  assert.deepEqual([$metadata.httpStatusCode, told], [204, {}])
})

test('a condition can be on the version that is deleted', async () => {
  const first = await put('versioned', 'v', 'first')
  const second = await put('versioned', 'v', 'second')
  const VersionId = first.VersionId ?? ''
  await assert.rejects(remove('versioned', 'v', { VersionId, IfMatch: second.ETag }), failed)
  await assert.rejects(remove('versioned', 'v', { VersionId, IfMatchSize: 6 }), failed)
  await remove('versioned', 'v', { VersionId, IfMatch: first.ETag, IfMatchSize: 5 })
  assert.ok(!(await isThere('versioned', 'v', VersionId)))
  assert.ok(await isThere('versioned', 'v', second.VersionId))
  await assert.rejects(remove('versioned', 'v', { VersionId, IfMatch: first.ETag }), absent)
})

test('of many keys each has conditions of its own', async () => {
  for (const Bucket of ['plain', 'versioned']) {
    const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((key) => put(Bucket, key)))
    assert.ok(a && b && c && d)
    const { Deleted = [], Errors = [] } = await removeMany(Bucket, [
      { Key: 'a', ETag: a.ETag, Size: 4, LastModifiedTime: a.LastModified },
      { Key: 'b', ETag: other },
      { Key: 'c', Size: 5 },
      { Key: 'd', LastModifiedTime: past },
      { Key: 'nothing', ETag: '*' },
      { Key: 'none', Size: 4 },
    ])
    assert.deepEqual(
      Deleted.map(({ Key }) => Key),
      ['a', 'none'],
    )
    assert.deepEqual(
      Errors.map(({ Key, Code }) => [Key, Code]),
      [
        ['b', 'PreconditionFailed'],
        ['c', 'PreconditionFailed'],
        ['d', 'PreconditionFailed'],
        ['nothing', 'NoSuchKey'],
      ],
    )
    const there = await Promise.all(['a', 'b', 'c', 'd'].map((key) => isThere(Bucket, key)))
    assert.deepEqual(there, [false, true, true, true])
    const version = await removeMany(Bucket, [{ Key: 'b', ETag: b.ETag, VersionId: b.VersionId ?? 'null' }])
    assert.deepEqual(version.Deleted, [{ Key: 'b', VersionId: b.VersionId ?? 'null' }])
  }
})

test('the refusal of a single condition names it', async () => {
  await put('plain', 'k')
  const refusal = async (headers: Record<string, string>): Promise<string> =>
    (await send(t, 'DELETE', '/plain/k', { headers })).text
  assert.match(await refusal({ 'if-match': other }), /<Code>PreconditionFailed<.*<Condition>If-Match<\/Condition>/)
  assert.doesNotMatch(await refusal({ 'x-amz-if-match-size': '5' }), /<Condition>/)
  assert.doesNotMatch(await refusal({ 'if-match': other, 'x-amz-if-match-size': '4' }), /<Condition>/)
  const write = await send(t, 'PUT', '/plain/k', { headers: { 'if-none-match': '*' }, body: 'x' })
  assert.match(write.text, /<Code>PreconditionFailed<.*<Condition>If-None-Match<\/Condition>/)
})

test('a condition that cannot be read is refused, and nothing is deleted', async () => {
  await put('plain', 'k')
  for (const name of ['x-amz-if-match-size', 'x-amz-if-match-last-modified-time']) {
    const { status, text } = await send(t, 'DELETE', '/plain/k', { headers: { [name]: 'x' } })
    assert.equal(status, 400)
    assert.match(text, /<Code>InvalidArgument</)
  }
  assert.ok(await isThere('plain', 'k'))
})

test('of several that delete what they saw, one does', async () => {
  const { ETag } = await put('plain', 'raced')
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => remove('plain', 'raced', { IfMatch: ETag })),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const one of outcomes) if (one.status === 'rejected') assert.equal((one.reason as Error).name, 'NoSuchKey')
})
