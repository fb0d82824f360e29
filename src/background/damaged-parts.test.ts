/** Parts of uploads whose files are lost with their labels, and what proves that other bytes are theirs. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { efficiencyVolume, type EfficiencyVolume } from '../../test/support/efficiency.ts'
import { openJobsCluster, type JobsCluster } from '../../test/support/jobs-cluster.ts'
import { DAMAGE, noteDamage, type FoundDamage } from '../storage/damage.ts'
import { contents } from '../ports/volumes.suite.ts'
import { blobLabel } from '../s3/objects/labels.ts'
import { DamageWatch } from './damage-watch.ts'

const CHECKSUM = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' } as const
let folder: string
let open: JobsCluster
let v: EfficiencyVolume
let made = 0

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'damaged-parts-'))
  open = openJobsCluster(folder)
  v = await efficiencyVolume(open, folder)
  const bucket = { uuid: 'b', name: 'parts', size: 2 ** 40, 'volume.uuid': v.volume, 'svm.uuid': '' }
  await open.cluster.catalog.commit([open.cluster.put('protocols/s3/buckets', bucket, { expect: 'absent' })])
})
after(async () => {
  await open.close()
  rmSync(folder, { recursive: true })
})

const md5Of = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex')
const known = async () => (await open.cluster.rows(DAMAGE)).map((row) => row['blob'])
const look = () => new DamageWatch(open.cluster).look()

async function writePart(key: string, bytes: Buffer, number: number) {
  const blob = `00000002${(++made).toString(16).padStart(4, '0')}${randomBytes(10).toString('hex')}`
  const [etag, sizeBytes] = [md5Of(bytes), bytes.length]
  const writer = await v.engine.write(v.volume, blob)
  await writer.write(bytes)
  const about = { bucket: 'b', key: Buffer.from(key), sizeBytes, etag, checksum: CHECKSUM, timeMs: 1 }
  const { crc } = await writer.commit(blobLabel({ blob, ...about, part: { upload: `of ${key}`, number } }))
  return { number, etag, sizeBytes, blob: { blob, sizeBytes, crc } }
}

/** An object of parts, one of which has no bytes. */
async function putParts(key: string, bodies: readonly Buffer[]): Promise<string[]> {
  const written = []
  for (const [at, bytes] of bodies.entries()) written.push(await writePart(key, bytes, at + 1))
  const md5 = createHash('md5')
  for (const { etag } of written) md5.update(etag, 'hex')
  md5.update(md5Of(Buffer.alloc(0)), 'hex')
  const parts = [...written, { number: written.length + 1, sizeBytes: 0 }].map(({ number, sizeBytes }) => ({
    number,
    sizeBytes,
    checksum: CHECKSUM.value,
  }))
  const object = {
    version: 'null',
    sizeBytes: bodies.reduce((sum, bytes) => sum + bytes.length, 0),
    etag: `${md5.digest('hex')}-${parts.length}`,
    modifiedMs: 1,
    checksum: CHECKSUM,
    blobs: written.map(({ blob }) => blob),
    parts,
    details: {},
  }
  await open.cluster.catalog.commit([{ do: 'put-object', bucket: 'b', key: Buffer.from(key), object }])
  return written.map(({ blob }) => blob.blob)
}

/** Its file goes, label and all. */
async function lose(blob: string, key?: string): Promise<void> {
  unlinkSync(v.engine.fileOf(v.volume, blob))
  const found: FoundDamage = { volume: v.volume, blob, kind: 'missing', foundBy: 'scrub', message: 'It is missing.' }
  await noteDamage(
    open.cluster,
    key === undefined ? found : { ...found, object: { bucket: 'b', key, version: 'null' } },
  )
}

test('a part of an object is repaired from other bytes with which the ETag of the object comes out', async () => {
  const bodies = Array.from({ length: 3 }, () => randomBytes(150_000))
  const [, second = ''] = await putParts('whole', bodies)
  await v.put('twin', bodies[1] ?? Buffer.alloc(0))
  await lose(second, 'whole')
  await look()
  assert.deepEqual(await known(), [])
  assert.ok((await contents(v.engine, v.volume, second)).equals(bodies[1] ?? Buffer.alloc(0)))
})

test('other bytes of the same size and CRC repair no part', async () => {
  const bodies = Array.from({ length: 2 }, () => randomBytes(150_000))
  const [first = ''] = await putParts('sought', bodies)
  const other = await v.put('other', randomBytes(150_000))
  const { crc = 0 } = (await open.cluster.catalog.storedBlob(v.volume, first)) ?? {}
  await open.cluster.catalog.commit([{ do: 'note-blob', volume: v.volume, blob: other, crc }])
  await lose(first, 'sought')
  await look()
  assert.deepEqual(await known(), [first])
  await v.remove('sought')
  await look()
})

test('two parts of an object that are lost with their labels are not repaired: nothing proves whose bytes are whose', async () => {
  const bodies = Array.from({ length: 2 }, () => randomBytes(150_000))
  const blobs = await putParts('two', bodies)
  for (const [at, bytes] of bodies.entries()) await v.put(`twin of ${at}`, bytes)
  for (const blob of blobs) await lose(blob, 'two')
  await look()
  assert.deepEqual(new Set(await known()), new Set(blobs))
  await v.remove('two')
  await look()
})

test('a part of an open upload is repaired from other bytes that have the MD5 of its row', async () => {
  const bytes = randomBytes(150_000)
  const upload = { upload: 'open', key: Buffer.from('open'), startedMs: 1, details: {} }
  await open.cluster.catalog.commit([{ do: 'open-upload', bucket: 'b', upload }])
  const { blob, ...written } = await writePart('open', bytes, 1)
  const part = { ...written, modifiedMs: 1, checksum: CHECKSUM, blobs: [blob] }
  await open.cluster.catalog.commit([{ do: 'put-part', bucket: 'b', upload: 'open', part, maxTotalBytes: 2 ** 40 }])
  await v.put('twin of the open part', bytes)
  await lose(blob.blob)
  await look()
  assert.deepEqual(await known(), [])
  assert.ok((await contents(v.engine, v.volume, blob.blob)).equals(bytes))
})
