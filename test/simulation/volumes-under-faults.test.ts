/**
 * Clients that write, read and delete, and an administrator who takes, drops and restores snapshots, all at the same time,
 * while the disk is full, fails or is read-only, comes back, and so on. Whatever was acknowledged is there at any moment,
 * whatever was refused has left nothing, and every refusal is one that a client understands.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import type { VolumesFaults } from '../../src/engines/simulated/volumes.ts'
import { deleteObject } from '../../src/s3/objects/delete.ts'
import { putObject } from '../../src/s3/objects/put.ts'
import { withObject } from '../../src/s3/objects/read.ts'
import { seedOf } from '../support/seed.ts'
import { arriving, plainDetails, someContent, type Content } from './volumes/bodies.ts'
import { volumePath } from './volumes/operation.ts'
import { World, type Answer } from './volumes/world.ts'

const CLIENTS = 5
const REQUESTS = 30
const KEYS = 5
const THINK_MS = 20
const WEATHER_MS = 40
const WEATHER: readonly VolumesFaults[] = [
  {},
  { noSpace: 0.3 },
  { io: 0.3 },
  {},
  { noSpace: 1 },
  { readOnly: 1 },
  { noSpace: 0.2, io: 0.2, readOnly: 0.2 },
]
const REFUSALS = ['InsufficientStorage', 'InternalError', 'ServiceUnavailable']
/** While the volume goes back to a snapshot. */
const RESTORING = 'SlowDown'

test('disks that are full, fail or are read-only lose nothing, and keep nothing that was refused', async (context) => {
  const random = new SimulatedRandom(seedOf(context))
  const world = await World.start(random)
  try {
    await world.run(() => prepare(world))
    const told = await world.run(() => load(world, random))
    assert.ok(told !== 'ended')
    context.diagnostic(JSON.stringify(told.refusals))
    // Of each kind there were some, or nothing was proved.
    for (const code of REFUSALS) assert.ok((told.refusals[code] ?? 0) > 0, code)
    await world.run(() => insistOnNothingLeft(world, told.kept))
  } finally {
    await world.close()
  }
})

async function prepare(world: World): Promise<void> {
  const volume = { 'svm.name': 'svm1', size: 2 ** 30, 'guarantee.type': 'none', 'snapshot_policy.name': 'none' }
  for (const name of ['busy', 'restored']) {
    await world.insist('POST', '/storage/volumes', { ...volume, name, aggregates: [{ name: 'aggr2' }] })
  }
  const data = ['vol1', 'busy', 'restored'].map((name) => ({ name }))
  await world.insist('PATCH', `/protocols/s3/services/${world.svm}`, { data_volumes: data })
  for (const name of ['busy', 'restored']) {
    const bucket = { name, 'svm.name': 'svm1', 'volume.name': name, size: 2 ** 30 }
    await world.insist('POST', '/protocols/s3/buckets', bucket)
  }
}

/** What each key of each bucket holds. */
type Kept = Map<string, Map<string, Content>>

async function load(world: World, random: SimulatedRandom): Promise<{ refusals: Record<string, number>; kept: Kept }> {
  const refusals: Record<string, number> = {}
  const kept: Kept = new Map([
    ['busy', new Map()],
    ['restored', new Map()],
  ])
  const load = { isOver: false }
  const note = (answer: Answer, allowed: readonly string[]): boolean => {
    if (answer.refused === undefined) return true
    assert.ok(allowed.includes(answer.refused), answer.refused)
    refusals[answer.refused] = (refusals[answer.refused] ?? 0) + 1
    return false
  }
  const { clock } = world.store.system
  const client = async (number: number, bucket: string): Promise<void> => {
    const own = kept.get(bucket) ?? new Map<string, Content>()
    for (let request = 0; request < REQUESTS; request++) {
      await clock.sleep(random.below(THINK_MS))
      const key = `client ${number}/${random.below(KEYS)}`
      if (random.chance(0.2)) {
        if (note(await remove(world, bucket, key), REFUSALS)) own.delete(key)
      } else {
        const content = someContent(random)
        if (note(await put(world, bucket, key, content), REFUSALS)) own.set(key, content)
      }
      const read = `client ${number}/${random.below(KEYS)}`
      await insistOnBytes(world, bucket, read, own.get(read))
    }
  }
  const administrator = async (): Promise<void> => {
    const path = await volumePath(world, 'busy')
    for (let round = 0; !load.isOver; round++) {
      await world.insist('POST', `${path}/snapshots`, { name: `s${round}` })
      await clock.sleep(random.below(10 * THINK_MS))
      if (round >= 2) await world.insist('DELETE', `${path}/snapshots/s${round - 2}`)
      await world.housekeeping.round()
    }
  }
  /** Writes, takes a snapshot, writes on, and goes back, while another writes to the same volume all the time. */
  const undecided = async (): Promise<void> => {
    const path = await volumePath(world, 'restored')
    const own = kept.get('restored') ?? new Map<string, Content>()
    const write = async (): Promise<void> => {
      const key = `own ${random.below(KEYS)}`
      const content = someContent(random)
      if (note(await put(world, 'restored', key, content), REFUSALS)) own.set(key, content)
    }
    for (let round = 0; !load.isOver; round++) {
      for (let n = 0; n < 4; n++) await write()
      await world.insist('POST', `${path}/snapshots`, { name: `r${round}` })
      const then = new Map(own)
      for (let n = 0; n < 4; n++) await write()
      const goingBack = world.ask('PATCH', `${path}?restore_to.snapshot.name=r${round}`, {})
      const meanwhile = await put(world, 'restored', 'meanwhile', someContent(random))
      note(meanwhile, [...REFUSALS, RESTORING])
      assert.deepEqual(await goingBack, {})
      note(await remove(world, 'restored', 'meanwhile'), REFUSALS)
      own.clear()
      for (const [key, content] of then) own.set(key, content)
      for (const [key, content] of own) await insistOnBytes(world, 'restored', key, content)
      await world.insist('DELETE', `${path}/snapshots/r${round}`)
      await clock.sleep(random.below(THINK_MS))
    }
  }
  const weather = async (): Promise<void> => {
    for (let at = 0; !load.isOver; at = (at + 1) % WEATHER.length) {
      for (const disk of world.disks.values()) disk.faults = WEATHER[at] ?? {}
      await clock.sleep(WEATHER_MS)
    }
    for (const disk of world.disks.values()) disk.faults = {}
  }
  const others = Promise.all([administrator(), undecided(), weather()])
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number, 'busy'))
  await Promise.race([Promise.all(clients), others])
  load.isOver = true
  await others
  return { refusals, kept }
}

function put(world: World, name: string, key: string, content: Content): Promise<Answer> {
  const draft = { body: () => arriving(content), sizeBytes: content.bytes.length, details: plainDetails }
  return world.s3(async (store) => {
    await putObject(store, await world.bucket(name), Buffer.from(key), { ...draft, locks: {}, condition: undefined })
    return {}
  })
}

function remove(world: World, name: string, key: string): Promise<Answer> {
  const order = { key: Buffer.from(key), version: undefined, condition: undefined, bypassGovernance: false }
  return world.s3(async (store) => {
    await deleteObject(store, await world.bucket(name), order)
    return {}
  })
}

async function insistOnBytes(world: World, name: string, key: string, content: Content | undefined): Promise<void> {
  let bytes: Buffer | undefined
  const answer = await world.s3(async (store) => {
    const bucket = await world.bucket(name)
    bytes = await withObject(store, bucket, Buffer.from(key), async (_, open) =>
      Buffer.concat(await Array.fromAsync(await open())),
    )
    return {}
  })
  if (content === undefined) assert.equal(answer.refused, 'NoSuchKey', key)
  else assert.ok(bytes?.equals(content.bytes), `${key}: ${answer.refused ?? 'other bytes'}`)
}

/** Without snapshots the disks hold what was acknowledged, to the byte, before any sweep. */
async function insistOnNothingLeft(world: World, kept: Kept): Promise<void> {
  for (const name of kept.keys()) {
    const path = `${await volumePath(world, name)}/snapshots`
    const { body } = await world.rest('GET', `${path}?fields=name`)
    for (const snapshot of body['records'] as unknown as readonly { readonly name: string }[]) {
      await world.insist('DELETE', `${path}/${snapshot.name}`)
    }
  }
  await world.housekeeping.round()
  let wanted = 0
  for (const [name, contents] of kept) {
    for (const [key, content] of contents) {
      await insistOnBytes(world, name, key, content)
      wanted += content.bytes.length
    }
  }
  const held = await Promise.all(world.disks.values().map(async (disk) => (await disk.space()).usedBytes))
  assert.equal(
    held.reduce((sum, bytes) => sum + bytes, 0),
    wanted,
  )
}
