/** Whether the cluster is what the model says: at every step in samples and in all sums, from time to time in everything. */
import assert from 'node:assert/strict'
import type { SimulatedRandom } from '../../../src/engines/simulated/random.ts'
import { SET_ASIDE_KEPT_MS } from '../../../src/records/set-aside.ts'
import { treeOf } from '../../../src/storage/tree-of.ts'
import { textAt, textOf } from '../../../src/model/value.ts'
import { listed, text, versionsListed } from '../../../src/ports/catalog/fixtures.suite.ts'
import { S3Error } from '../../../src/s3/errors.ts'
import { SNAPSHOTS } from '../../../src/resources/storage/volumes/snapshot-changes.ts'
import { withObject } from '../../../src/s3/objects/read.ts'
import type { OpenBucket } from '../../../src/s3/objects/store.ts'
import { leftovers } from '../../support/leftovers.ts'
import {
  allBlobs,
  bucketBytes,
  bytesOf,
  isObject,
  liveBlobs,
  sizeOf,
  snapshotBytes,
  usedBytes,
  type Blob,
  type Bucket,
  type Model,
  type Row,
  type Rows,
  type Snapshot,
  type Volume,
} from './model.ts'
import { inheritedBytes } from './clones.ts'
import { oneOf, volumePath } from './operation.ts'
import type { World } from './world.ts'

const UPLOADS_MAX = 100
const PARTS_ASKED = 100

/** All sums, and one bucket, one object and one snapshot. */
export async function checkSample(world: World, model: Model, random: SimulatedRandom): Promise<void> {
  await learnSnapshots(world, model)
  await checkSums(world, model)
  const place = oneOf(random, model.buckets())
  if (place === undefined) return
  const { bucket, volume } = place
  if (!volume.isOnline) return checkOffline(world, bucket.name)
  await checkView(world, bucket.name, bucket.rows, random)
  const snapshot = oneOf(random, volume.snapshots)
  if (snapshot !== undefined) await checkSnapshotOf(world, bucket, snapshot, random)
}

/** Everything but the disks. */
export async function checkAll(world: World, model: Model): Promise<void> {
  await checkNames(world, model)
  await learnUploads(world, model)
  await learnSnapshots(world, model)
  await checkSums(world, model)
  for (const { bucket, volume } of model.buckets()) {
    if (!volume.isOnline) continue
    await checkView(world, bucket.name, bucket.rows)
    for (const snapshot of volume.snapshots) await checkSnapshotOf(world, bucket, snapshot)
  }
  for (const volume of model.volumes.values()) await checkVolume(world, volume)
  assert.deepEqual(await leftovers(world.cluster, 'nowhere'), [])
}

/** Nothing but what the first start made is there beside what the model has. */
async function checkNames(world: World, model: Model): Promise<void> {
  const { cluster } = world
  const volumes = (await cluster.catalog.records('storage/volumes')).map(({ body }) => textOf(body['name'] ?? ''))
  const firstOnes = ['svm1_s3_root', 'vol1']
  assert.deepEqual(volumes.toSorted(byText), [...model.volumes.keys(), ...firstOnes].toSorted(byText))
  const buckets = (await cluster.catalog.records('protocols/s3/buckets')).map(({ body }) => textOf(body['name'] ?? ''))
  assert.deepEqual(
    buckets.toSorted(byText),
    model
      .buckets()
      .map(({ bucket }) => bucket.name)
      .toSorted(byText),
  )
  const [server] = await cluster.catalog.records('protocols/s3/services')
  const served = (server?.body['data_volumes'] ?? []) as readonly { readonly uuid: string }[]
  const wanted = ['vol1', ...[...model.volumes.values()].filter(({ isServed }) => isServed).map(({ name }) => name)]
  assert.deepEqual(
    served.map(({ uuid }) => uuid).toSorted(byText),
    (await Promise.all(wanted.map((name) => world.volumeUuid(name)))).toSorted(byText),
  )
}

/** Each file counts with some volume that shares it, so no aggregate thinks that it has more room than its disk. */
function checkNothingUncounted(model: Model): void {
  for (const [, volumes] of Map.groupBy(model.volumes.values(), ({ tree }) => tree)) {
    const counted = volumes.reduce((sum, volume) => sum + usedBytes(volume) - inheritedBytes(volume), 0)
    const there = volumes.reduce((all, volume) => all.union(allBlobs(volume)), new Set<Blob>())
    assert.ok(counted >= sizeOf(there), `${volumes.map(({ name }) => name).join()}: ${counted} of ${sizeOf(there)}`)
  }
}

async function checkSums(world: World, model: Model): Promise<void> {
  const { catalog } = world.cluster
  checkNothingUncounted(model)
  for (const volume of model.volumes.values()) {
    const used = usedBytes(volume)
    const counters = await catalog.volume(await world.volumeUuid(volume.name))
    assert.ok(counters, volume.name)
    const { sizeBytes, usedBytes: usedNow, snapshotBytes, snapshots, inheritedBytes: inheritedNow } = counters
    assert.deepEqual(
      { sizeBytes, usedBytes: usedNow, inheritedBytes: inheritedNow, snapshotBytes, snapshots },
      {
        sizeBytes: volume.sizeBytes,
        usedBytes: used,
        inheritedBytes: inheritedBytes(volume),
        snapshotBytes: used - sizeOf(liveBlobs(volume)),
        snapshots: volume.snapshots.length,
      },
      volume.name,
    )
  }
  for (const { bucket, volume } of model.buckets()) {
    const rows = [...bucket.rows.values()]
    const objects = rows.filter(([current]) => isObject(current)).length
    assert.deepEqual(
      await catalog.bucket(await world.bucketUuid(bucket.name)),
      {
        volume: await world.volumeUuid(volume.name),
        limitBytes: bucket.limitBytes,
        usedBytes: bucketBytes(bucket),
        objects,
        versions: rows.flat().length - objects,
        versioning: bucket.versioning,
      },
      bucket.name,
    )
  }
}

/** What the management interface shows of a volume, and what each snapshot holds alone. */
async function checkVolume(world: World, volume: Volume): Promise<void> {
  const path = await volumePath(world, volume.name)
  const fields = 'space.used,space.snapshot.used,snapshot_count,size,state,clone.parent_volume.name,aggregates.name'
  const { body } = await world.rest('GET', `${path}?fields=${fields}`)
  const used = usedBytes(volume)
  assert.deepEqual(
    {
      space: body['space'],
      count: body['snapshot_count'],
      size: body['size'],
      state: body['state'],
      parent: body['clone']?.['parent_volume']?.['name'],
      aggregate: (body['aggregates'] as unknown as readonly { readonly name: string }[])[0]?.name,
    },
    {
      space: { used, snapshot: { used: used - sizeOf(liveBlobs(volume)) } },
      count: volume.snapshots.length,
      size: volume.sizeBytes,
      state: volume.isOnline ? 'online' : 'offline',
      parent: volume.base?.parent,
      aggregate: volume.aggregate,
    },
  )
  const shown = await world.rest('GET', `${path}/snapshots?fields=name,size&order_by=create_time`)
  const records = shown.body['records'] as unknown as readonly { readonly name: string; readonly size: number }[]
  assert.deepEqual(
    records.map(({ name, size }) => [name, size]),
    snapshotBytes(volume).map((size, at) => [volume.snapshots[at]?.name, size]),
    `snapshots of ${volume.name}`,
  )
}

/** A bucket as a snapshot shows it; one that was made later is not in it. */
async function checkSnapshotOf(
  world: World,
  bucket: Bucket,
  snapshot: Snapshot,
  random?: SimulatedRandom,
): Promise<void> {
  const name = `${bucket.name}-s3snap-${snapshot.name}`
  const rows = snapshot.rows.get(bucket.identity)
  if (rows === undefined) await refusedWith('NoSuchBucket', world.bucket(name))
  else await checkView(world, name, rows, random)
}

/** Listings, and what of the objects can be read: of all of them, or of one by chance. */
async function checkView(world: World, name: string, rows: Rows, random?: SimulatedRandom): Promise<void> {
  const { catalog } = world.cluster
  const bucket = await world.bucket(name)
  const sorted = [...rows].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const listing = { limit: random === undefined ? 1000 : 1 + random.below(20), ...bucket.at }
  assert.deepEqual(
    await listed(catalog, bucket.uuid, listing),
    sorted.flatMap(([key, [current]]) => (isObject(current) ? [`${latin1(key)}=${current.etag}`] : [])),
    `listing of ${name}`,
  )
  await learnVersions(
    world,
    bucket,
    sorted.flatMap(([, list]) => list),
  )
  assert.deepEqual(
    await versionsListed(catalog, bucket.uuid, listing, (row) =>
      lineOf(text(row.key), { ...row, sizeBytes: row.sizeBytes }, row.isCurrent),
    ),
    sorted.flatMap(([key, list]) =>
      list.map((row, at) => lineOf(latin1(key), { ...row, sizeBytes: sizeOf(row.blobs) }, at === 0)),
    ),
    `versions of ${name}`,
  )
  const readable = sorted.flatMap(([key, list]) => list.filter(isObject).map((row) => ({ key, row })))
  const chosen = random === undefined ? readable : [oneOf(random, readable)]
  for (const one of chosen) if (one !== undefined) await checkBytes(world, bucket, one.key, one.row)
}

/** Of the row whose answer was lost, if there is one. */
async function learnVersions(world: World, bucket: OpenBucket, rows: readonly Row[]): Promise<void> {
  if (rows.every(({ version }) => version !== undefined)) return
  const versions = await versionsListed(world.cluster.catalog, bucket.uuid, bucket.at ?? {}, (row) => row.version)
  for (const [at, row] of rows.entries()) row.version ??= versions[at]
}

function lineOf(
  key: string,
  row: { version: string | undefined; isMarker: boolean; etag: string; sizeBytes: number },
  isCurrent: boolean,
): string {
  return `${key}@${row.version}${isCurrent ? '*' : ''}${row.isMarker ? '!' : `=${row.etag} ${row.sizeBytes}`}`
}

const latin1 = (key: string): string => text(Buffer.from(key))

async function checkBytes(world: World, bucket: OpenBucket, key: string, row: Row): Promise<void> {
  const pieces = await withObject(
    world.store,
    bucket,
    Buffer.from(key),
    async (_, open) => Array.fromAsync(await open()),
    row.version,
  )
  assert.ok(Buffer.concat(pieces).equals(bytesOf(row)), `the bytes of ${bucket.name}/${key} are others`)
}

async function checkOffline(world: World, name: string): Promise<void> {
  await refusedWith('ServiceUnavailable', world.bucket(name))
}

async function refusedWith(code: string, act: Promise<unknown>): Promise<void> {
  await assert.rejects(act, (failure) => {
    assert.ok(failure instanceof S3Error, String(failure))
    assert.equal(failure.code, code)
    return true
  })
}

/** The names of snapshots that were taken for clones. */
export async function learnSnapshots(world: World, model: Model): Promise<void> {
  for (const { name: volume, snapshots } of model.volumes.values()) {
    if (snapshots.every(({ name }) => name !== undefined)) continue
    const taken = await world.cluster.catalog.snapshots(await world.volumeUuid(volume))
    for (const [at, snapshot] of snapshots.entries()) {
      if (snapshot.name !== undefined) continue
      const name = textAt(await world.cluster.find(SNAPSHOTS, taken[at]?.snapshot ?? ''), 'name')
      assert.match(name, new RegExp(`^clone_${snapshot.owners[0]}\\.[-\\dT]{17}\\.\\d+$`))
      snapshot.name = name
    }
  }
}

/** The uploads that are open with their parts, and the id of the one whose answer was lost. */
async function learnUploads(world: World, model: Model): Promise<void> {
  const { catalog } = world.cluster
  for (const { bucket } of model.buckets()) {
    const uuid = await world.bucketUuid(bucket.name)
    const rows = await catalog.uploads(uuid, undefined, UPLOADS_MAX)
    const known = new Set(bucket.uploads.map(({ told }) => told.id))
    const unknown = rows.filter(({ upload }) => !known.has(upload))
    for (const { told } of bucket.uploads) told.id ??= unknown.pop()?.upload
    assert.deepEqual(
      rows.map(({ upload, key }) => `${upload} ${Buffer.from(key).toString()}`).toSorted(byText),
      bucket.uploads.map(({ told, key }) => `${told.id} ${key}`).toSorted(byText),
      `uploads to ${bucket.name}`,
    )
    for (const { told, key, parts } of bucket.uploads) {
      const found = await catalog.parts(uuid, told.id ?? '', 0, PARTS_ASKED)
      const etags = new Map(found.map(({ number, etag }) => [number, etag]))
      // One of the same size may have come, with an answer that was lost.
      const expected = new Map([...parts].map(([number, { etag }]) => [number, etag]))
      assert.deepEqual(etags, expected, `parts of an upload to ${bucket.name}/${key}`)
    }
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1)

/**
 * Once the housekeeping has been there: as many files as there are blobs, and as many bytes, beside those that an end of
 * the process left and a start set aside.
 */
export async function checkDisks(world: World, model: Model): Promise<void> {
  for (const [place, disk] of world.disks) {
    const here = [...model.volumes.values()].filter(({ aggregate }) => place.endsWith(aggregate))
    let bytes = 0
    for (const volumes of Map.groupBy(here, ({ tree }) => tree).values()) {
      const names = volumes.map(({ name }) => name)
      const trees = new Set(await Promise.all(names.map((name) => treeNamed(world, name))))
      assert.equal(trees.size, 1, `trees of ${names.join()}`)
      const blobs = volumes.map(allBlobs).reduce((all, more) => all.union(more))
      for (const tree of trees) {
        const files = await Array.fromAsync(disk.blobs(tree))
        assert.equal(files.length, blobs.size, `files of ${names.join()}`)
      }
      bytes += sizeOf(blobs)
    }
    const { usedBytes: held } = await disk.space()
    assert.equal(held - disk.asideBytes, bytes, `bytes on ${place}`)
  }
}

/** Nothing that any volume has is set aside, and what is goes when its time has come. */
export async function checkAside(world: World, model: Model): Promise<void> {
  for (const [place, disk] of world.disks) {
    const aside = disk.aside.map(({ name }) => name)
    for (const row of await world.cluster.rows('storage/volumes')) {
      const known = await world.cluster.catalog.knownBlobs(textAt(row, 'uuid'), aside)
      assert.deepEqual([...known], [], `blobs set aside in ${place} that ${textAt(row, 'name')} has`)
    }
  }
  await world.pass(SET_ASIDE_KEPT_MS + 1)
  await world.run(() => world.housekeeping.round())
  for (const [place, disk] of world.disks) assert.deepEqual(disk.aside, [], `blobs set aside in ${place}`)
  await checkDisks(world, model)
}

async function treeNamed(world: World, volume: string): Promise<string> {
  return treeOf(await world.cluster.row('storage/volumes', await world.volumeUuid(volume)))
}

/** No file is there that the catalog does not know, be it because it is about to be unlinked. */
export async function checkRubbish(world: World): Promise<void> {
  const rows = await world.cluster.rows('storage/volumes')
  for (const [place, disk] of world.disks) {
    for (const tree of await disk.list()) {
      const files = await Array.fromAsync(disk.blobs(tree))
      const volume = textAt(
        rows.find((row) => treeOf(row) === tree),
        'uuid',
      )
      const known = await world.cluster.catalog.knownBlobs(volume, files)
      const strangers = files.filter((file) => !known.has(file))
      assert.deepEqual(strangers, [], `files in ${place} that nothing knows`)
    }
  }
}
