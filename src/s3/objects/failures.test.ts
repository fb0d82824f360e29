import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import type { S3ServiceException } from '@aws-sdk/client-s3'
import { CatalogUnavailable, CommitRefused } from '../../ports/catalog.ts'
import type { Catalog } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import { send, startTestPlane, volume } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'failing'
let t: TestPlane
let bucket: string
/** What the next commit of an object fails with, and whether it is done all the same. */
let next: Error | undefined
before(async () => {
  t = await startTestPlane({ catalog: failingCatalog })
  bucket = await t.addBucket(Bucket)
})
after(() => t.close())

function failingCatalog(catalog: Catalog): Catalog {
  return new Proxy(catalog, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'commit') return value.bind(target) as unknown
      return (changes: Parameters<Catalog['commit']>[0]) => {
        if (next === undefined || changes[0]?.do !== 'put-object') return target.commit(changes)
        const failure = next
        next = undefined
        return Promise.reject(failure)
      }
    },
  })
}

test('when the writer cannot be reached the answer is SlowDown, and the blob stays: the commit may have been done', async () => {
  const blobs = (await t.blobs()).length
  next = new CatalogUnavailable('secret path /run/x')
  const { status, headers, text } = await send(t, 'PUT', `/${Bucket}/a`, { body: 'x' })
  assert.deepEqual([status, headers['retry-after']], [503, '1'])
  assert.match(text, /<Code>SlowDown<\/Code>/)
  assert.doesNotMatch(text, /secret/)
  assert.equal((await t.blobs()).length, blobs + 1)
})

test('an unforeseen failure is InternalError, and tells the client nothing of its inside', async () => {
  next = new Error('secret path /run/x')
  const { status, text } = await send(t, 'PUT', `/${Bucket}/a`, { body: 'x' })
  assert.equal(status, 500)
  assert.match(text, /<Code>InternalError<\/Code>/)
  assert.doesNotMatch(text, /secret/)
  assert.ok(t.logged.some(({ level }) => level === 'error'))
})

test('an aggregate without space is InsufficientStorage: no limit of the client, and no reason to come again', async () => {
  next = new VolumesFailure('no-space', 'disk')
  const { status, text } = await send(t, 'PUT', `/${Bucket}/a`, { body: 'x' })
  assert.deepEqual([status, /<Code>(.*)<\/Code>/.exec(text)?.[1]], [507, 'InsufficientStorage'])
})

test('a catalog whose disk is full is InsufficientStorage, and the blob of the write goes', async () => {
  const blobs = (await t.blobs()).length
  next = new CommitRefused('no-space', 0)
  const { status, text } = await send(t, 'PUT', `/${Bucket}/a`, { body: 'x' })
  assert.deepEqual([status, /<Code>(.*)<\/Code>/.exec(text)?.[1]], [507, 'InsufficientStorage'])
  assert.equal((await t.blobs()).length, blobs)
})

test('an aggregate that is read-only is ServiceUnavailable, and the client may come again', async () => {
  next = new VolumesFailure('read-only', 'secret disk')
  const { status, text, headers } = await send(t, 'PUT', `/${Bucket}/a`, { body: 'x' })
  assert.deepEqual([status, /<Code>(.*)<\/Code>/.exec(text)?.[1]], [503, 'ServiceUnavailable'])
  assert.equal(headers['retry-after'], '1')
  assert.doesNotMatch(text, /secret/)
})

test('a blob that is gone from the disk is an error, not an empty object', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'lost', Body: 'x' }))
  const object = await t.catalog.object(bucket, Buffer.from('lost'))
  await t.volumes.unlink(volume, object?.blobs[0]?.blob ?? '')
  await assert.rejects(t.s3.send(new GetObjectCommand({ Bucket, Key: 'lost' })), (failure: S3ServiceException) => {
    assert.equal(failure.$metadata.httpStatusCode, 500)
    return true
  })
})

test('an object that is replaced all the time is read whole every time', async () => {
  const put = (value: number): Promise<unknown> =>
    t.s3.send(new PutObjectCommand({ Bucket, Key: 'busy', Body: Buffer.alloc(1000, value) }))
  await put(0)
  const writing = { isOver: false }
  const unlinked = new Set<string>()
  const writer = (async () => {
    for (let value = 1; value < 60; value += 1) {
      await put(value)
      for (const blob of await t.catalog.unneededBlobs(volume, 100)) {
        if (!unlinked.has(blob)) await t.volumes.unlink(volume, blob)
        unlinked.add(blob)
      }
    }
    writing.isOver = true
  })()
  while (!writing.isOver) {
    const { Body } = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'busy' }))
    const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array()
    assert.equal(bytes.length, 1000)
    assert.equal(new Set(bytes).size, 1)
  }
  await writer
})
