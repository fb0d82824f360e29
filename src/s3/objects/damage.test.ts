import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { send, startTestPlane, volume } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'damaged'
let t: TestPlane
let bucket: string
before(async () => {
  t = await startTestPlane()
  bucket = await t.addBucket(Bucket)
})
after(() => t.close())

async function fileOf(key: string, nth = 0): Promise<string> {
  const object = await t.catalog.object(bucket, Buffer.from(key))
  const blob = object?.blobs[nth]?.blob ?? ''
  return join(t.volumes.place, 'volumes', volume, 'objects', blob.slice(-2), blob)
}

async function flip(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+')
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at)
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, at)
  await file.close()
}

test('an object with a flipped bit is an error, and the reason is in the log alone', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'small', Body: 'the bytes of an object' }))
  await flip(await fileOf('small'), 5)
  for (const headers of [{}, { Range: 'bytes=0-3' }, { Range: 'bytes=-1' }]) {
    const { status, text } = await send(t, 'GET', `/${Bucket}/small`, { headers })
    assert.equal(status, 500)
    assert.match(text, /<Code>InternalError<\/Code>/)
    assert.doesNotMatch(text, /checksum|objects/)
  }
  assert.ok(t.logged.some(({ details }) => /checksum does not fit/.test(inspect(details))))
})

test('a large object that is damaged behind its first bytes breaks the connection', async () => {
  const bytes = randomBytes(8 * 2 ** 20)
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'large', Body: bytes }))
  await flip(await fileOf('large'), 7 * 2 ** 20)
  await assert.rejects(send(t, 'GET', `/${Bucket}/large`), { code: 'ECONNRESET' })
  const { status, text } = await send(t, 'GET', `/${Bucket}/large`, { headers: { Range: 'bytes=1000-1009' } })
  assert.equal(status, 206)
  assert.equal(text, bytes.subarray(1000, 1010).toString())
})

test('an object whose file is that of another object is an error', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'mine', Body: 'mine, of 20 bytes...' }))
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'yours', Body: 'yours, of 20 bytes..' }))
  await copyFile(await fileOf('yours'), await fileOf('mine'))
  assert.equal((await send(t, 'GET', `/${Bucket}/mine`)).status, 500)
  assert.equal((await send(t, 'GET', `/${Bucket}/yours`)).status, 200)
})

test('an object of parts is an error when one of its parts is damaged', async () => {
  const Key = 'parts'
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ Bucket, Key }))
  const Parts = []
  for (const [at, Body] of [randomBytes(5 * 2 ** 20), randomBytes(1000)].entries()) {
    const PartNumber = at + 1
    const { ETag } = await t.s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))
    Parts.push({ PartNumber, ETag })
  }
  await t.s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
  await flip(await fileOf(Key, 1), 999)
  await assert.rejects(send(t, 'GET', `/${Bucket}/${Key}`), { code: 'ECONNRESET' })
  assert.equal((await send(t, 'GET', `/${Bucket}/${Key}?partNumber=1`)).status, 206)
  assert.equal((await send(t, 'GET', `/${Bucket}/${Key}?partNumber=2`)).status, 500)
})
