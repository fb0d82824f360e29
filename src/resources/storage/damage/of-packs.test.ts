import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { efficiencyVolume, type EfficiencyVolume } from '../../../../test/support/efficiency.ts'
import { openJobsCluster, type JobsCluster } from '../../../../test/support/jobs-cluster.ts'
import { DAMAGE, noteDamage } from '../../../storage/damage.ts'
import { Housekeeping } from '../../../background/housekeeping.ts'
import { textAt } from '../../../model/value.ts'
import { contents } from '../../../ports/volumes.suite.ts'
import { namingPackDamage } from './of-packs.ts'

const CHECKSUM = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' } as const
let folder: string
let open: JobsCluster
let v: EfficiencyVolume

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pack-damage-'))
  open = openJobsCluster(folder)
  v = await efficiencyVolume(open, folder)
  const bucket = { uuid: 'b', name: 'small', 'volume.uuid': v.volume, 'svm.uuid': '', size: 2 ** 30 }
  await open.cluster.catalog.commit([open.cluster.put('protocols/s3/buckets', bucket, { expect: 'absent' })])
})
after(async () => {
  await open.close()
  rmSync(folder, { recursive: true })
})

async function putPacked(key: string, bytes: Buffer): Promise<string> {
  const writer = await v.engine.write(v.volume, '0'.repeat(32), { sizeBytes: bytes.length, packs: true })
  await writer.write(bytes)
  const { blob, crc } = await writer.commit(Buffer.from('{}'))
  const sizeBytes = bytes.length
  const etag = createHash('md5').update(bytes).digest('hex')
  const blobs = [{ blob, sizeBytes, crc }]
  const object = {
    version: 'null',
    sizeBytes,
    etag,
    modifiedMs: 1,
    checksum: CHECKSUM,
    blobs,
    parts: null,
    details: {},
  }
  await open.cluster.catalog.commit([{ do: 'put-object', bucket: 'b', key: Buffer.from(key), object }])
  return blob
}

function flip(blob: string, within: number): void {
  const path = v.engine.fileOf(v.volume, blob)
  const file = readFileSync(path)
  const at = Number.parseInt(blob.split('-')[1] ?? '', 16) + within
  file[at] = (file[at] ?? 0) ^ 1
  writeFileSync(path, file)
}

/** What a start does: it looks at all packs. */
async function look(): Promise<void> {
  const kept: Promise<unknown>[] = []
  const onPackDamage = namingPackDamage(open.cluster, (found) => void kept.push(noteDamage(open.cluster, found)))
  await new Housekeeping(open.cluster, open.jobs, { onPackDamage }).compactPacks()
  await Promise.all(kept)
}

const records = async () =>
  (await open.cluster.rows(DAMAGE)).map((row) => [row['blob'], row['kind'], row['found_by'], row['key']])
const asideIn = (within: string) => {
  const trees = join(within, 'aggr1/lost-and-found/unknown')
  return existsSync(trees) ? readdirSync(join(trees, v.volume)) : []
}
const events = async () =>
  (await open.cluster.catalog.log('events', { limit: 100 })).map(({ body }) => [body['name'], body['key'] ?? ''])

test('damage between small objects is a record and an event that names the object that was there', async () => {
  const bodies = Array.from({ length: 3 }, () => randomBytes(500))
  const blobs: string[] = []
  for (const [nth, bytes] of bodies.entries()) blobs.push(await putPacked(`small ${nth}`, bytes))
  const [first = '', second = '', third = ''] = blobs
  await v.engine.close()
  flip(second, 20)
  for (let times = 0; times < 2; times++) await look()
  const told = await records()
  assert.deepEqual(told.slice(0, 1), [[second, 'flipped', 'compaction', 'small 1']])
  assert.equal((await events()).filter(([name]) => name === 'object.damaged').length, 1)
  assert.ok((await events()).some(([name, key]) => name === 'object.damaged' && key === 'small 1'))
  for (const [nth, blob] of [first, second, third].entries()) {
    if (nth !== 1) assert.ok((await contents(v.engine, v.volume, blob)).equals(bodies[nth] ?? Buffer.alloc(0)))
  }
  await v.remove('small 1')
  for (const row of await open.cluster.rows(DAMAGE)) {
    await open.cluster.catalog.commit([{ do: 'remove-record', type: DAMAGE, key: textAt(row, 'uuid') }])
  }
  await look()
  // A third of the pack is not needed: the rest of it is copied, and what was damaged goes to lost-and-found.
  assert.deepEqual(await records(), [])
  const [aside = '', ...others] = asideIn(folder)
  assert.deepEqual(others, [])
  assert.ok(aside.startsWith(second.slice(0, -6)), `${aside} is named after ${second}`)
  assert.equal((await events()).filter(([name]) => name === 'cluster.blobs.set_aside').length, 1)
  for (const [nth, blob] of [first, third].entries()) {
    assert.ok((await contents(v.engine, v.volume, blob)).equals(bodies[nth * 2] ?? Buffer.alloc(0)))
  }
})

test('damage between small objects that no object needs is listed as long as its pack is not worth a copy', async () => {
  const blobs: string[] = []
  for (let nth = 0; nth < 6; nth++) blobs.push(await putPacked(`few ${nth}`, randomBytes(500)))
  const [, second = ''] = blobs
  await v.engine.close()
  flip(second, 20)
  await v.remove('few 1')
  const before = asideIn(folder).length
  for (let times = 0; times < 2; times++) await look()
  assert.deepEqual(
    (await records()).map(([blob, kind]) => [blob, kind]),
    [[second, 'unknown']],
  )
  assert.equal(asideIn(folder).length, before)
  flip(second, 20)
})

test('a damaged mark of a small object is an event, and harms nothing', async () => {
  const bytes = randomBytes(700)
  const blob = await putPacked('marked', bytes)
  await v.engine.close()
  flip(blob, 4)
  for (let times = 0; times < 2; times++) await look()
  assert.equal((await events()).filter(([name]) => name === 'volume.pack.misread').length, 1)
  assert.ok((await contents(v.engine, v.volume, blob)).equals(bytes))
})
