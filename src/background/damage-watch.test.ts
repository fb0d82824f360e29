import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { efficiencyVolume, type EfficiencyVolume } from '../../test/support/efficiency.ts'
import { openJobsCluster, type JobsCluster } from '../../test/support/jobs-cluster.ts'
import { partial } from '../../test/support/partial.ts'
import type { Cluster } from '../core/cluster.ts'
import { DAMAGE, DAMAGE_RECORDS_MAX, damageKey, noteDamage, type FoundDamage } from '../storage/damage.ts'
import { contents } from '../ports/volumes.suite.ts'
import { DamageWatch } from './damage-watch.ts'

let folder: string
let open: JobsCluster
let v: EfficiencyVolume
let watch: DamageWatch

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'damage-'))
  open = openJobsCluster(folder)
  v = await efficiencyVolume(open, folder)
})
beforeEach(() => {
  // Each has tried nothing yet.
  watch = new DamageWatch(open.cluster)
})
after(async () => {
  await open.close()
  rmSync(folder, { recursive: true })
})

const found = (blob: string, more: Partial<FoundDamage> = {}): FoundDamage => ({
  volume: v.volume,
  blob,
  kind: 'flipped',
  foundBy: 'read',
  message: 'A checksum does not fit.',
  ...more,
})
const known = async () => (await open.cluster.rows(DAMAGE)).map((row) => row['blob'])
const eventsOf = async (name: string) =>
  (await open.cluster.catalog.log('events', { limit: 100 }))
    .map(({ body }) => body)
    .filter((body) => body['name'] === name)
const digestOf = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex')
const note = (blob: string, digest: string) =>
  open.cluster.catalog.commit([{ do: 'note-blob', volume: v.volume, blob, digest }])

/** The cluster with some of it replaced. */
const clusterWith = (parts: Partial<Cluster>) =>
  new Proxy(open.cluster, {
    get(target, name: keyof Cluster) {
      const value: unknown = parts[name] ?? target[name]
      return typeof value === 'function' && parts[name] === undefined ? value.bind(target) : value
    },
  })
const inodeOf = (blob: string) => statSync(v.engine.fileOf(v.volume, blob)).ino

function flip(path: string, at: number): void {
  const file = readFileSync(path)
  file[at] = (file[at] ?? 0) ^ 1
  writeFileSync(path, file)
}

test('damage is kept once, with an event that names the object and its file, and makes the cluster degraded', async () => {
  const blob = await v.put('once', randomBytes(1000))
  flip(v.engine.fileOf(v.volume, blob), 5)
  const object = { bucket: 'b', key: 'once', version: 'null' }
  for (let times = 0; times < 3; times++) watch.report(found(blob, { object }))
  await watch.stop()
  const [row, ...more] = await open.cluster.rows(DAMAGE)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [row?.['kind'], row?.['found_by'], row?.['key'], row?.['file']],
    ['flipped', 'read', 'once', v.engine.fileOf(v.volume, blob)],
  )
  const [event, ...others] = await eventsOf('object.damaged')
  assert.deepEqual(others, [])
  assert.deepEqual(
    [event?.['bucket'], event?.['key'], event?.['version'], event?.['file']],
    ['b', 'once', 'null', v.engine.fileOf(v.volume, blob)],
  )
  await v.remove('once')
  await new DamageWatch(open.cluster).look()
  assert.deepEqual(await known(), [])
})

test('what nothing needs any more is not kept', async () => {
  const blob = await v.put('gone', randomBytes(10))
  await v.remove('gone')
  assert.equal(await noteDamage(open.cluster, found(blob)), 'unneeded')
  assert.deepEqual(await known(), [])
})

test('a record without a name gets that of the object that a read asks for, once', async () => {
  const blob = await v.put('named late', randomBytes(10))
  flip(v.engine.fileOf(v.volume, blob), 5)
  assert.equal(await noteDamage(open.cluster, found(blob, { foundBy: 'scrub' })), 'noted')
  for (const key of ['first', 'second']) {
    assert.equal(await noteDamage(open.cluster, found(blob, { object: { bucket: 'b', key, version: 'v' } })), 'known')
  }
  const [row] = await open.cluster.rows(DAMAGE)
  assert.deepEqual(
    [row?.['bucket.uuid'], row?.['key'], row?.['version'], row?.['found_by']],
    ['b', 'first', 'v', 'scrub'],
  )
  await v.remove('named late')
  await new DamageWatch(open.cluster).look()
})

test('what is sound after all is forgotten, what is not stays known', async () => {
  const [sound, damaged] = [await v.put('sound', randomBytes(1000)), await v.put('damaged', randomBytes(1000))]
  flip(v.engine.fileOf(v.volume, damaged), 5)
  for (const blob of [sound, damaged]) assert.equal(await noteDamage(open.cluster, found(blob)), 'noted')
  await watch.look()
  assert.deepEqual(await known(), [damaged])
  flip(v.engine.fileOf(v.volume, damaged), 5)
  await new DamageWatch(open.cluster).look()
  assert.deepEqual(await known(), [])
})

const damages: readonly (readonly [string, (path: string) => void])[] = [
  ['flipped', (path) => flip(path, 70_000)],
  ['truncated', (path) => truncateSync(path, 1000)],
  ['missing', unlinkSync],
]
for (const [kind, damage] of damages) {
  test(`a file that is ${kind} is repaired with the bytes of a twin`, async () => {
    const bytes = randomBytes(200_000)
    const [blob, twin] = [await v.put(`${kind} 1`, bytes), await v.put(`${kind} 2`, bytes)]
    for (const one of [blob, twin]) await note(one, digestOf(bytes))
    damage(v.engine.fileOf(v.volume, blob))
    await noteDamage(open.cluster, found(blob, { object: { bucket: 'b', key: `${kind} 1` } }))
    const sums = await v.sums()
    await watch.look()
    assert.deepEqual(await known(), [])
    assert.ok((await contents(v.engine, v.volume, blob)).equals(bytes))
    assert.deepEqual(await v.sums(), sums)
    assert.equal((await eventsOf('object.repaired'))[0]?.['key'], `${kind} 1`)
  })
}

for (const [kind, damage] of damages) {
  test(`a file that is ${kind} is repaired from an upload of the same bytes of which no digest is kept`, async () => {
    const bytes = randomBytes(200_000)
    const key = `${kind} without a digest`
    const [blob] = [await v.put(key, bytes), await v.put(`${key}, again`, bytes)]
    damage(v.engine.fileOf(v.volume, blob))
    await noteDamage(open.cluster, found(blob, { object: { bucket: 'b', key } }))
    await watch.look()
    assert.deepEqual(await known(), [])
    assert.ok((await contents(v.engine, v.volume, blob)).equals(bytes))
    assert.equal((await eventsOf('object.repaired'))[0]?.['key'], key)
  })
}

test('other bytes of the same size and CRC repair nothing', async () => {
  const bytes = randomBytes(200_000)
  const [blob, other] = [await v.put('sought', bytes), await v.put('other bytes', randomBytes(200_000))]
  const { crc = 0 } = (await open.cluster.catalog.storedBlob(v.volume, blob)) ?? {}
  await open.cluster.catalog.commit([{ do: 'note-blob', volume: v.volume, blob: other, crc }])
  damages[0]?.[1](v.engine.fileOf(v.volume, blob))
  await noteDamage(open.cluster, found(blob, { object: { bucket: 'b', key: 'sought' } }))
  await watch.look()
  assert.deepEqual(await known(), [blob])
  for (const key of ['sought', 'other bytes']) await v.remove(key)
  await new DamageWatch(open.cluster).look()
})

test('blobs that shared the damaged file share the repaired one', async () => {
  const bytes = randomBytes(200_000)
  const blobs = await Promise.all(['a', 'b', 'c'].map((key) => v.put(`shared ${key}`, bytes)))
  for (const blob of blobs) await note(blob, digestOf(bytes))
  const [one = '', two = ''] = blobs
  assert.equal(await v.engine.share(v.volume, two, one), 'shared')
  await open.cluster.catalog.commit([{ do: 'share-blob', volume: v.volume, blob: two, twin: one }])
  flip(v.engine.fileOf(v.volume, one), 5)
  for (const blob of [one, two]) await noteDamage(open.cluster, found(blob))
  await watch.look()
  assert.deepEqual(await known(), [])
  for (const blob of blobs) assert.ok((await contents(v.engine, v.volume, blob)).equals(bytes))
  assert.equal(inodeOf(one), inodeOf(two))
})

test('a damaged twin repairs nothing', async () => {
  const bytes = randomBytes(200_000)
  const [blob, twin] = [await v.put('both 1', bytes), await v.put('both 2', bytes)]
  for (const one of [blob, twin]) await note(one, digestOf(bytes))
  for (const one of [blob, twin]) flip(v.engine.fileOf(v.volume, one), 100_000)
  await noteDamage(open.cluster, found(blob))
  await watch.look()
  assert.deepEqual(await known(), [blob])
})

test('thousands of damaged objects are looked after some at a time, and all are forgotten when they go', async () => {
  const { catalog } = open.cluster
  const before = (await known()).length
  const blobs = Array.from({ length: 1200 }, (_, n) => ({
    blob: `00000001${n.toString(16).padStart(4, '0')}${'a'.repeat(20)}`,
    sizeBytes: 1,
    crc: 1,
  }))
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
  const object = { version: 'null', sizeBytes: 1200, etag: 'e', modifiedMs: 1, checksum, parts: null, details: {} }
  await catalog.commit([{ do: 'put-object', bucket: 'b', key: Buffer.from('many'), object: { ...object, blobs } }])
  await catalog.commit(
    blobs.map(({ blob }) => {
      const uuid = damageKey(open.cluster, v.volume, blob)
      return open.cluster.put(partial(DAMAGE), { uuid, kind: 'missing', 'volume.uuid': v.volume, blob, found_time: 1 })
    }),
  )
  assert.equal(await noteDamage(open.cluster, found(blobs[0]?.blob ?? '')), 'known')
  let [reads, turns] = [0, 0]
  const counting = new Proxy(catalog, {
    get(target, name: keyof typeof catalog) {
      if (name === 'storedBlob') reads++
      return target[name].bind(target)
    },
  })
  const { system } = open.cluster
  const turn = () => {
    turns++
    return system.turn()
  }
  const counted = clusterWith({ catalog: counting, system: { ...system, turn } })
  const few = new DamageWatch(counted)
  // Each is tried once, which looks twice.
  for (let looks = 0; looks < 3; looks++) {
    reads = 0
    await few.look()
    assert.ok(reads > 0 && reads <= 1000, `${reads} blobs were looked up`)
  }
  assert.ok(turns > 3, `${turns} turns were given up`)
  await v.remove('many')
  for (let looks = 0; looks < 6 && (await known()).length > before; looks++) await few.look()
  assert.equal((await known()).length, before)
})

test('more damage than can be listed costs no more to meet, and is logged once', async () => {
  const blob = await v.put('one too many', randomBytes(10))
  const told: string[] = []
  const crowded = clusterWith({
    count: () => Promise.resolve(DAMAGE_RECORDS_MAX),
    rows: () => Promise.reject(new Error('All of them are read.')),
    log: { ...open.cluster.log, error: (message) => void told.push(message) },
  })
  const full = new DamageWatch(crowded)
  for (let times = 0; times < 50; times++) full.report(found(blob))
  await full.stop()
  assert.deepEqual(told, ['Reads find more damaged objects than can be listed.'])
  await v.remove('one too many')
})
