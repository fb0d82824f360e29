import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFile, open, readFile, truncate, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { DAMAGED_BLOBS } from '../../storage/damage.ts'
import { send, startTestPlane, volume } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'
import type { ReadDamage } from './damage.ts'

const Bucket = 'damaged'
let t: TestPlane
let bucket: string
const told: ReadDamage[] = []
before(async () => {
  t = await startTestPlane({ onDamage: (found) => void told.push(found) })
  bucket = await t.addBucket(Bucket)
})
after(() => t.close())

interface Stored {
  readonly path: string
  /** Where the bytes of the blob begin in the file. */
  readonly at: number
}

/** Small blobs lie behind one another in one file, and are found by their bytes. */
async function storedOf(key: string, nth = 0, begin = Buffer.alloc(0)): Promise<Stored> {
  const object = await t.catalog.object(bucket, Buffer.from(key))
  const blob = object?.blobs[nth]?.blob ?? ''
  const tree = join(t.volumes.place, 'volumes', volume)
  const [pack = '', , packed] = blob.split('-')
  if (packed === undefined) return { path: join(tree, 'objects', blob.slice(-2), blob), at: 0 }
  const path = join(tree, 'packs', pack)
  const at = (await readFile(path)).indexOf(begin)
  assert.ok(at > 0 && begin.length > 0)
  return { path, at }
}

async function flip({ path, at }: Stored, nth: number): Promise<void> {
  const file = await open(path, 'r+')
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at + nth)
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, at + nth)
  await file.close()
}

test('an object with a flipped bit is an error, and the reason is in the log alone', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'small', Body: 'the bytes of an object' }))
  await flip(await storedOf('small', 0, Buffer.from('the bytes of an object')), 5)
  for (const headers of [{}, { Range: 'bytes=0-3' }, { Range: 'bytes=-1' }]) {
    const { status, text } = await send(t, 'GET', `/${Bucket}/small`, { headers })
    assert.equal(status, 500)
    assert.match(text, /<Code>InternalError<\/Code>/)
    assert.doesNotMatch(text, /checksum|objects/)
  }
  assert.ok(t.logged.some(({ details }) => /is damaged/.test(inspect(details))))
})

test('a large object that is damaged behind its first bytes breaks the connection', async () => {
  const bytes = randomBytes(8 * 2 ** 20)
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'large', Body: bytes }))
  await flip(await storedOf('large'), 7 * 2 ** 20)
  await assert.rejects(send(t, 'GET', `/${Bucket}/large`), { code: 'ECONNRESET' })
  const { status, text } = await send(t, 'GET', `/${Bucket}/large`, { headers: { Range: 'bytes=1000-1009' } })
  assert.equal(status, 206)
  assert.equal(text, bytes.subarray(1000, 1010).toString())
})

test('an object whose file is that of another object is an error', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'mine', Body: randomBytes(100_000) }))
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'yours', Body: randomBytes(100_000) }))
  await copyFile((await storedOf('yours')).path, (await storedOf('mine')).path)
  assert.equal((await send(t, 'GET', `/${Bucket}/mine`)).status, 500)
  assert.equal((await send(t, 'GET', `/${Bucket}/yours`)).status, 200)
})

test('an object of parts is an error when one of its parts is damaged', async () => {
  const Key = 'parts'
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ Bucket, Key }))
  const Parts = []
  const last = randomBytes(1000)
  for (const [at, Body] of [randomBytes(5 * 2 ** 20), last].entries()) {
    const PartNumber = at + 1
    const { ETag } = await t.s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))
    Parts.push({ PartNumber, ETag })
  }
  await t.s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
  await flip(await storedOf(Key, 1, last), 999)
  await assert.rejects(send(t, 'GET', `/${Bucket}/${Key}`), { code: 'ECONNRESET' })
  assert.equal((await send(t, 'GET', `/${Bucket}/${Key}?partNumber=1`)).status, 206)
  assert.equal((await send(t, 'GET', `/${Bucket}/${Key}?partNumber=2`)).status, 500)
})

test('each blob that a read finds damaged is told of once, with its object', async () => {
  const damages = [
    ['flipped', (path: string) => flip({ path, at: 0 }, 1)],
    ['truncated', (path: string) => truncate(path, 10)],
    ['missing', unlink],
    ['misplaced', async (path: string) => copyFile((await storedOf('yours')).path, path)],
  ] as const
  for (const [kind, damage] of damages) {
    await t.s3.send(new PutObjectCommand({ Bucket, Key: kind, Body: randomBytes(100_001) }))
    await damage((await storedOf(kind)).path)
    told.length = 0
    for (let times = 0; times < 3; times += 1) assert.equal((await send(t, 'GET', `/${Bucket}/${kind}`)).status, 500)
    const object = await t.catalog.object(bucket, Buffer.from(kind))
    assert.deepEqual(
      told.map(({ blob, kind: how, object: read }) => ({ blob, kind: how, object: read })),
      [{ blob: object?.blobs[0]?.blob, kind, object: { bucket, key: kind, version: 'null' } }],
    )
  }
})

test('HEAD and copies of an object that is known to be damaged are refused, until it is known to be sound', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'known', Body: 'known to be damaged' }))
  const object = await t.catalog.object(bucket, Buffer.from('known'))
  const blob = object?.blobs[0]?.blob ?? ''
  const copy = { headers: { 'x-amz-copy-source': `/${Bucket}/known` } }
  const { UploadId } = await t.s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'copied' }))
  const statuses = async () => [
    (await send(t, 'HEAD', `/${Bucket}/known`)).status,
    (await send(t, 'PUT', `/${Bucket}/copy`, copy)).status,
    (await send(t, 'PUT', `/${Bucket}/copied?partNumber=1&uploadId=${UploadId ?? ''}`, copy)).status,
    (await send(t, 'HEAD', `/${Bucket}/yours`)).status,
  ]
  assert.deepEqual(await statuses(), [200, 200, 200, 200])
  const type = 'private/damaged-objects'
  const unique = { [DAMAGED_BLOBS]: `${volume}/${blob}` }
  await t.catalog.commit([{ do: 'put-record', type, key: 'one', parent: volume, body: { blob }, unique }])
  assert.deepEqual(await statuses(), [500, 500, 500, 200])
  await t.catalog.commit([{ do: 'remove-record', type, key: 'one' }])
  assert.deepEqual(await statuses(), [200, 200, 200, 200])
})
