import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketTaggingCommand,
  DeleteObjectTaggingCommand,
  GetBucketTaggingCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { S3Client, Tag } from '@aws-sdk/client-s3'
import type { Change } from '../../ports/catalog.ts'
import { otherVolume, refused, send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'tags'
/** It could be one, but nothing has it. */
const noVersion = 'f'.repeat(32)
let t: TestPlane
let bob: S3Client
before(async () => {
  t = await startTestPlane()
  await t.addUser('bob', { accessKeyId: 'AKBOB', secretAccessKey: 'secret of bob' })
  bob = t.client({ accessKeyId: 'AKBOB', secretAccessKey: 'secret of bob' })
  await t.addBucket(Bucket)
  await t.addBucket('other', { volume: otherVolume })
})
after(() => t.close())

function put(Key: string, Tagging?: string): Promise<{ VersionId?: string | undefined }> {
  return t.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x', Tagging }))
}

function tag(Key: string, tags: Readonly<Record<string, string>>, more: object = {}, by = t.s3): Promise<unknown> {
  const Tagging = { TagSet: tagSet(tags) }
  return by.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging, ...more }))
}

function tagSet(tags: Readonly<Record<string, string>>): Tag[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))
}

async function tagsOf(Key: string, more: object = {}): Promise<Record<string, string>> {
  const { TagSet = [] } = await t.s3.send(new GetObjectTaggingCommand({ Bucket, Key, ...more }))
  return Object.fromEntries(TagSet.map((one) => [one.Key, one.Value]))
}

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))
}

test('tags come with the object, are counted, and are replaced and deleted without it', async () => {
  await put('k', 'team=red&empty&a%20b=c%2Bd')
  assert.deepEqual(await tagsOf('k'), { team: 'red', empty: '', 'a b': 'c+d' })
  assert.equal((await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'k' }))).TagCount, 3)
  const before = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'k' }))
  await tag('k', { 'Größe +-=._:/@': '大' })
  assert.deepEqual(await tagsOf('k'), { 'Größe +-=._:/@': '大' })
  const { $metadata } = await t.s3.send(new DeleteObjectTaggingCommand({ Bucket, Key: 'k' }))
  assert.equal($metadata.httpStatusCode, 204)
  assert.deepEqual(await tagsOf('k'), {})
  const after = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'k' }))
  assert.equal(after.TagCount, undefined)
  assert.deepEqual([after.ETag, after.LastModified], [before.ETag, before.LastModified])
  await tag('k', { a: 'b' })
  await tag('k', {})
  assert.deepEqual(await tagsOf('k'), {})
  // What is written anew has the tags it comes with, and no others.
  await tag('k', { a: 'b' })
  await put('k')
  assert.deepEqual(await tagsOf('k'), {})
})

test('tags are told in the order of their keys', async () => {
  const { status } = await send(t, 'PUT', `/${Bucket}/ordered`, { headers: { 'x-amz-tagging': 'foo=bar&bar' } })
  assert.equal(status, 200)
  const { TagSet } = await t.s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'ordered' }))
  assert.deepEqual(TagSet, [
    { Key: 'bar', Value: '' },
    { Key: 'foo', Value: 'bar' },
  ])
})

test('a copy takes the tags of its source, or those that it is given', async () => {
  await put('source', 'team=red')
  const copy = async (name: string, more: object): Promise<unknown> => {
    await t.s3.send(new CopyObjectCommand({ Bucket: name, Key: 'copy', CopySource: `${Bucket}/source`, ...more }))
    return tagsOf('copy', { Bucket: name })
  }
  // Within a volume and to another one.
  for (const name of [Bucket, 'other']) {
    assert.deepEqual(await copy(name, {}), { team: 'red' })
    assert.deepEqual(await copy(name, { Tagging: 'a=b' }), { team: 'red' })
    assert.deepEqual(await copy(name, { TaggingDirective: 'REPLACE', Tagging: 'a=b' }), { a: 'b' })
    assert.deepEqual(await copy(name, { TaggingDirective: 'REPLACE' }), {})
    assert.deepEqual(await copy(name, { MetadataDirective: 'REPLACE' }), { team: 'red' })
  }
  const wrong = { TaggingDirective: 'KEEP' as 'COPY' }
  await assert.rejects(copy(Bucket, wrong), refused('InvalidArgument', 400))
})

test('an upload in parts is given its tags when it begins', async () => {
  const of = { Bucket, Key: 'parts' }
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ ...of, Tagging: 'a=1&b=2' }))
  const { ETag } = await t.s3.send(new UploadPartCommand({ ...of, UploadId, PartNumber: 1, Body: 'x' }))
  const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
  await t.s3.send(new CompleteMultipartUploadCommand({ ...of, UploadId, MultipartUpload }))
  assert.deepEqual(await tagsOf('parts'), { a: '1', b: '2' })
})

test('every version has its own tags', async () => {
  const name = 'tagged-versions'
  await t.addBucket(name)
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await t.s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration }))
  const write = async (Tagging: string): Promise<string> => {
    const written = await t.s3.send(new PutObjectCommand({ Bucket: name, Key: 'k', Body: 'x', Tagging }))
    return written.VersionId ?? ''
  }
  const first = await write('n=1')
  const second = await write('n=2')
  const tagsAt = (VersionId?: string): Promise<unknown> => tagsOf('k', { Bucket: name, VersionId })
  assert.deepEqual([await tagsAt(first), await tagsAt(second), await tagsAt()], [{ n: '1' }, { n: '2' }, { n: '2' }])
  await tag('k', { n: 'one' }, { Bucket: name, VersionId: first })
  const { VersionId } = await t.s3.send(
    new PutObjectTaggingCommand({ Bucket: name, Key: 'k', Tagging: { TagSet: tagSet({ n: 'two' }) } }),
  )
  assert.equal(VersionId, second)
  assert.deepEqual([await tagsAt(first), await tagsAt()], [{ n: 'one' }, { n: 'two' }])
  await t.s3.send(new DeleteObjectTaggingCommand({ Bucket: name, Key: 'k', VersionId: first }))
  assert.deepEqual([await tagsAt(first), await tagsAt(second)], [{}, { n: 'two' }])
  await assert.rejects(tagsAt(noVersion), refused('NoSuchVersion', 404))
  await assert.rejects(tag('k', {}, { Bucket: name, VersionId: noVersion }), refused('NoSuchVersion', 404))
})

test('there are no tags of what is not there', async () => {
  await assert.rejects(tagsOf('nothing'), refused('NoSuchKey', 404))
  await assert.rejects(tag('nothing', { a: 'b' }), refused('NoSuchKey', 404))
  const gone = t.s3.send(new DeleteObjectTaggingCommand({ Bucket, Key: 'nothing' }))
  await assert.rejects(gone, refused('NoSuchKey', 404))
})

test('tags beyond the limits of Amazon are refused, and the ones that are there stay', async () => {
  await put('limits', 'a=b')
  await tag('limits', { ...many(9), ['k'.repeat(128)]: 'v'.repeat(256) })
  assert.equal(Object.keys(await tagsOf('limits')).length, 10)
  await tag('limits', { a: 'b' })
  const bad: readonly (readonly [string, Tag[]])[] = [
    ['BadRequest', tagSet(many(11))],
    ['InvalidTag', [{ Key: 'k'.repeat(129), Value: '' }]],
    ['InvalidTag', [{ Key: 'k', Value: 'v'.repeat(257) }]],
    ['InvalidTag', [{ Key: '', Value: 'v' }]],
    ['InvalidTag', [{ Key: 'aws:x', Value: 'v' }]],
    ['InvalidTag', [{ Key: 'a?', Value: 'v' }]],
    ['InvalidTag', [...tagSet({ same: '1' }), ...tagSet({ same: '2' })]],
  ]
  for (const [code, TagSet] of bad) {
    const request = t.s3.send(new PutObjectTaggingCommand({ Bucket, Key: 'limits', Tagging: { TagSet } }))
    await assert.rejects(request, refused(code, 400), JSON.stringify(TagSet))
  }
  const headers: readonly (readonly [string, string])[] = [
    ['BadRequest', Object.keys(many(11)).join('&')],
    ['InvalidTag', `${'k'.repeat(129)}=v`],
    ['InvalidTag', 'aws:x=v'],
    ['InvalidArgument', 'a=1&a=2'],
  ]
  for (const [code, tagging] of headers) await assert.rejects(put('limits', tagging), refused(code, 400), tagging)
  assert.deepEqual(await tagsOf('limits'), { a: 'b' })
  const bodies = ['<Tagging/>', '<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>', 'x']
  const documents = [['MissingRequestBodyError', ''], ...bodies.map((body) => ['MalformedXML', body])] as const
  for (const [code = '', body = ''] of documents) {
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') }
    const { status, text } = await send(t, 'PUT', `/${Bucket}/limits?tagging`, { body, headers })
    assert.equal(status, 400)
    assert.ok(text.includes(`<Code>${code}<`), `${body}: ${text}`)
  }
})

test('each thing that is done with tags is an action of its own', async () => {
  await put('mine', 'a=b')
  const requests = {
    's3:GetObjectTagging': () => bob.send(new GetObjectTaggingCommand({ Bucket, Key: 'mine' })),
    's3:PutObjectTagging': () => tag('mine', { c: 'd' }, {}, bob),
    's3:DeleteObjectTagging': () => bob.send(new DeleteObjectTaggingCommand({ Bucket, Key: 'mine' })),
    's3:GetBucketTagging': () => bob.send(new GetBucketTaggingCommand({ Bucket })),
    's3:PutBucketTagging': () => bob.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [] } })),
  }
  for (const [allowed, request] of Object.entries(requests)) {
    const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`]
    const Statement = [{ Effect: 'Allow', Principal: { AWS: 'bob' }, Action: allowed, Resource }]
    await t.s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: tagSet({ a: 'b' }) } }))
    await t.s3.send(
      new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
    )
    await request()
    for (const [action, other] of Object.entries(requests)) {
      if (action !== allowed) await assert.rejects(other(), refused('AccessDenied', 403), `${action} by ${allowed}`)
    }
  }
})

test('the tags of a bucket are its own', async () => {
  await t.addBucket('bucket-tags')
  const of = { Bucket: 'bucket-tags' }
  const read = (): Promise<Tag[] | undefined> => t.s3.send(new GetBucketTaggingCommand(of)).then((one) => one.TagSet)
  const write = (TagSet: Tag[]): Promise<unknown> =>
    t.s3.send(new PutBucketTaggingCommand({ ...of, Tagging: { TagSet } }))
  await assert.rejects(read(), refused('NoSuchTagSet', 404))
  await write(tagSet({ b: '2', a: '1' }))
  assert.deepEqual(await read(), tagSet({ a: '1', b: '2' }))
  await write(tagSet(many(50)))
  assert.equal((await read())?.length, 50)
  await assert.rejects(write(tagSet(many(51))), refused('BadRequest', 400))
  await assert.rejects(write([...tagSet({ a: '1' }), ...tagSet({ a: '2' })]), refused('InvalidTag', 400))
  await assert.rejects(write(tagSet({ 'aws:a': '1' })), refused('InvalidTag', 400))
  assert.equal((await read())?.length, 50)
  for (let times = 0; times < 2; times += 1) {
    const { $metadata } = await t.s3.send(new DeleteBucketTaggingCommand(of))
    assert.equal($metadata.httpStatusCode, 204)
  }
  await assert.rejects(read(), refused('NoSuchTagSet', 404))
  const made = { Bucket: 'made-with-tags', CreateBucketConfiguration: { Tags: tagSet({ a: '1' }) } }
  await t.s3.send(new CreateBucketCommand(made))
  const { TagSet } = await t.s3.send(new GetBucketTaggingCommand({ Bucket: 'made-with-tags' }))
  assert.deepEqual(TagSet, tagSet({ a: '1' }))
})

test('tags are given to the version that is current by then, when the one that was is deleted meanwhile', async () => {
  let meanwhile: (() => Promise<void>) | undefined
  const plane = await startTestPlane({
    // Between the look at the object and the change of it.
    catalog: (catalog) =>
      new Proxy(catalog, {
        get: (target, name) => {
          const found = Reflect.get(target, name) as unknown
          if (name !== 'commit' || typeof found !== 'function') {
            return typeof found === 'function' ? (found.bind(target) as unknown) : found
          }
          return async (changes: readonly Change[]) => {
            if (changes[0]?.do === 'amend-object') await meanwhile?.()
            return target.commit(changes)
          }
        },
      }),
  })
  try {
    const bucket = await plane.addBucket('raced')
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await plane.s3.send(new PutBucketVersioningCommand({ Bucket: 'raced', VersioningConfiguration }))
    const of = { Bucket: 'raced', Key: 'k' }
    await plane.s3.send(new PutObjectCommand({ ...of, Body: 'older' }))
    await plane.s3.send(new PutObjectCommand({ ...of, Body: 'newer' }))
    const current = await plane.catalog.object(bucket, Buffer.from('k'))
    meanwhile = async () => {
      const change = { do: 'delete-object', bucket, key: Buffer.from('k'), version: current?.version ?? '' } as const
      await plane.catalog.commit([change])
    }
    await plane.s3.send(new PutObjectTaggingCommand({ ...of, Tagging: { TagSet: [{ Key: 'a', Value: '1' }] } }))
    const { TagSet } = await plane.s3.send(new GetObjectTaggingCommand(of))
    assert.deepEqual(TagSet, [{ Key: 'a', Value: '1' }])
  } finally {
    await plane.close()
  }
})
