import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedRandom } from '../../engines/simulated/random.ts'
import { SimulatedVolumes } from '../../engines/simulated/volumes.ts'
import type { TreePlace } from '../../storage/tree-of.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import { S3Error } from '../errors.ts'
import { VolumePlace } from './place.ts'
import type { Whereabouts } from './place.ts'
import { TreeUses } from './tree-uses.ts'

const old: TreePlace = { aggregate: 'aggr1', tree: 'old' }
const next: TreePlace = { aggregate: 'aggr2', tree: 'new' }
const moving: Whereabouts = { here: next, before: old }
const moved: Whereabouts = { here: next, before: undefined }

/** Two aggregates, and requests that know the volume in the first. */
async function start(where: Whereabouts) {
  const random = new SimulatedRandom(1)
  const engines = { aggr1: new SimulatedVolumes({ random }), aggr2: new SimulatedVolumes({ random }) }
  await engines.aggr1.create('old')
  await engines.aggr2.create('new')
  const trees = new TreeUses()
  const state = { where, looks: 0 }
  const open = () =>
    new VolumePlace({
      volume: 'vol',
      known: old,
      trees,
      volumesOf: (aggregate) => Promise.resolve(aggregate === 'aggr1' ? engines.aggr1 : engines.aggr2),
      look() {
        state.looks += 1
        return Promise.resolve(state.where)
      },
    })
  const write = async (engine: SimulatedVolumes, tree: string, blob: string) => {
    const writer = await engine.write(tree, blob)
    await writer.write(Buffer.from(blob))
    await writer.commit(Buffer.from('label'))
  }
  return { ...engines, trees, state, open, write }
}

async function read(place: VolumePlace, blob: string): Promise<string> {
  const reader = await place.open(refOf(blob))
  return Buffer.from(await reader.read(0, reader.sizeBytes)).toString()
}

/** Of a blob whose bytes are its name. */
const refOf = (blob: string) => ({ blob, sizeBytes: Buffer.byteLength(blob) })

const fails = (reason: string) => (failure: unknown) => failure instanceof VolumesFailure && failure.reason === reason

test('a blob is read with the engine that the request knows, and one that is elsewhere with the one there is now', async () => {
  const t = await start(moving)
  await t.write(t.aggr1, 'old', 'a')
  await t.write(t.aggr2, 'new', 'b')
  const found: string[] = []
  const place = new VolumePlace({
    volume: 'vol',
    known: old,
    trees: t.trees,
    readingFrom: () => Promise.resolve(t.aggr1),
    volumesOf(aggregate) {
      found.push(aggregate)
      return Promise.resolve(t.aggr2)
    },
    look: () => Promise.resolve(moving),
  })
  assert.equal(await read(place, 'a'), 'a')
  assert.deepEqual(found, [])
  assert.equal(await read(place, 'b'), 'b')
  assert.deepEqual(found, ['aggr2'])
})

test('a blob that is where the request thinks costs no second look', async () => {
  const t = await start({ here: old, before: undefined })
  await t.write(t.aggr1, 'old', 'a')
  assert.equal(await read(t.open(), 'a'), 'a')
  assert.equal(t.state.looks, 0)
})

test('a blob is found where the volume is now, and where it was', async () => {
  const t = await start(moving)
  await t.write(t.aggr2, 'new', 'written there')
  await t.write(t.aggr1, 'old', 'not there yet')
  const place = t.open()
  assert.equal(await read(place, 'written there'), 'written there')
  assert.equal(await read(place, 'not there yet'), 'not there yet')
})

test('a copy that is not whole yet is not taken for the blob', async () => {
  const t = await start(moving)
  await t.write(t.aggr1, 'old', 'a')
  await (await t.aggr2.write('new', 'a')).write(Buffer.from('half'))
  const place = t.open()
  await assert.rejects(place.open(refOf('something else')), fails('missing'))
  assert.equal(await read(place, 'a'), 'a')
})

test('a blob that comes to its new place between two looks is found there', async () => {
  const t = await start(moving)
  const place = t.open()
  const look = t.aggr1.open.bind(t.aggr1)
  let opened = 0
  t.aggr1.open = async (tree, blob) => {
    opened += 1
    // The second look at the old place comes after one at the new place found nothing.
    if (opened === 2) {
      await t.write(t.aggr2, 'new', blob)
      t.state.where = moved
    }
    return look(tree, blob)
  }
  assert.equal(await read(place, 'a'), 'a')
})

test('a blob that is nowhere is missing, after few looks', async () => {
  for (const where of [{ here: old, before: undefined }, moving, moved]) {
    const t = await start(where)
    await assert.rejects(t.open().open(refOf('a')), fails('missing'))
    assert.ok(t.state.looks <= 4)
  }
})

test('a write goes to where the volume is, once the old tree is being left or has gone', async () => {
  for (const leave of [
    (t: Awaited<ReturnType<typeof start>>) => Promise.resolve(void t.trees.leave('vol', 'old')),
    (t: Awaited<ReturnType<typeof start>>) => t.aggr1.remove('old'),
  ]) {
    const t = await start(moved)
    await leave(t)
    const place = t.open()
    await (await place.write('a')).commit(Buffer.alloc(0))
    assert.equal(place.tree, 'new')
    assert.deepEqual(await Array.fromAsync(t.aggr2.blobs('new')), ['a'])
    place.release()
  }
})

test('a tree that a request writes to is used until the request has ended', async () => {
  const t = await start({ here: old, before: undefined })
  const place = t.open()
  const writer = await place.write('a')
  assert.equal(t.trees.leave('vol', 'old'), true)
  await writer.commit(Buffer.alloc(0))
  assert.equal(t.trees.leave('vol', 'old'), true)
  place.release()
  place.release()
  assert.equal(t.trees.leave('vol', 'old'), false)
})

test('blobs follow a volume that moved under them, with new names, and leave nothing behind', async () => {
  const t = await start({ here: old, before: undefined })
  const place = t.open()
  const writer = await place.write('a')
  await writer.write(Buffer.from('bytes'))
  await writer.commit(Buffer.from('label'))
  t.state.where = moving
  const followed = await place.follow([{ blob: 'a', sizeBytes: 5 }], () => 'b')
  assert.deepEqual(followed, [{ blob: 'b', sizeBytes: 5, storedBytes: 5 }])
  assert.equal(place.tree, 'new')
  const copy = await t.aggr2.open('new', 'b')
  assert.deepEqual([(await copy.read(0, 5)).toString(), Buffer.from(await copy.label()).toString()], ['bytes', 'label'])
  assert.deepEqual(await Array.fromAsync(t.aggr1.blobs('old')), [])
  assert.equal(t.trees.leave('vol', 'old'), false)
  await place.unlink(followed)
  assert.deepEqual(await Array.fromAsync(t.aggr2.blobs('new')), [])
})

test('a write that the old tree did not wait for is to be sent again', async () => {
  const t = await start({ here: old, before: undefined })
  const place = t.open()
  await (await place.write('a')).commit(Buffer.alloc(0))
  t.state.where = moved
  await t.aggr1.remove('old')
  await assert.rejects(
    place.follow([{ blob: 'a', sizeBytes: 0 }], () => 'b'),
    (failure: unknown) => failure instanceof S3Error && failure.code === 'SlowDown',
  )
  assert.deepEqual(await Array.fromAsync(t.aggr2.blobs('new')), [])
})

test('trees of very many ended moves are forgotten, the oldest first', () => {
  const trees = new TreeUses()
  for (let n = 0; n < 1500; n += 1) trees.leave('vol', `tree${n}`)
  assert.ok(trees.enter('vol', 'tree0') !== undefined)
  assert.ok(trees.enter('vol', 'tree1499') === undefined)
})

test('a volume that shares the tree another one leaves is still written to', () => {
  const trees = new TreeUses()
  const release = trees.enter('clone', 'old')
  assert.equal(trees.leave('vol', 'old'), false)
  assert.ok(trees.enter('clone', 'old') !== undefined)
  assert.ok(trees.enter('vol', 'old') === undefined)
  release?.()
})
