/**
 * Clones: a volume that begins with what another has in a snapshot. The two share a tree of blobs, so no bytes move; the
 * index gives the clone rows of its own, batch by batch, before the clone is seen by anybody.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { recordsAt } from '../../../core/read/record-of.ts'
import { removeUnder } from '../../../core/read/record-pages.ts'
import { treeOf } from '../../../storage/tree-of.ts'
import { Interrupted, type Work } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { printSize } from '../../../model/kinds/index.ts'
import { CommitRefused, type Change } from '../../../ports/catalog.ts'
import { holdBase, releaseBase, TAKEN } from './clone-base.ts'
import { bucketOf, bucketRecords, CAME_WITH_CLONE, isNameTaken, type Making, openBuckets } from './clone-buckets.ts'
import { BASE, isClone, PARENT } from './clone-fields.ts'
import { insistOnNoMove } from './movement.ts'
import { chargedTo } from './reserve.ts'
import { isHeldByClone, SNAPSHOTS } from './snapshot-changes.ts'
import { readLockFields } from '../../../records/lock-fields.ts'
import { storedRow } from '../../../records/stored.ts'
import type { Bucket, Volume, VolumeDraft } from '../../../records/rows.ts'

const VOLUMES = 'storage/volumes'
const BUCKETS = 'protocols/s3/buckets'
/** Rows in one commit: few enough that writers to other volumes hardly wait. */
const BATCH = 500
const NOTED_BATCHES = 20
/** Records of buckets read in one turn of the event loop. */
const BUCKETS_A_TURN = 50
const TRIES_MAX = 20

/** The volume that a new one is to be a clone of, if it is. */
export async function parentOf(cluster: Cluster, draft: VolumeDraft): Promise<Volume | undefined> {
  const name = draft['clone.parent_volume.name'] ?? ''
  const given = draft[PARENT] ?? ''
  if (draft['clone.is_flexclone'] !== true) {
    if (name === '' && given === '') return undefined
    throw failure('fieldRequired', { field: 'clone.is_flexclone' })
  }
  if (name === '' && given === '') throw failure('fieldRequired', { field: 'clone.parent_volume.name' })
  const svm = await svmOfParent(cluster, draft)
  const key = given === '' ? await cluster.keyOfName(VOLUMES, name, svm) : given
  const parent = key === undefined ? undefined : await cluster.find(VOLUMES, key)
  if (parent === undefined || (name !== '' && parent['name'] !== name)) {
    throw failure('cloneParentNotFound', { name: (name || given).slice(0, 80) })
  }
  insistOnNoMove(parent)
  if (parent['state'] === 'offline') throw failure('cloneParentOffline')
  return parent
}

async function svmOfParent(cluster: Cluster, draft: VolumeDraft): Promise<string> {
  const uuid = draft['clone.parent_svm.uuid'] ?? ''
  const name = draft['clone.parent_svm.name'] ?? ''
  if (uuid !== '') return uuid
  if (name === '') return draft['svm.uuid'] ?? ''
  const found = await cluster.keyOfName('svm/svms', name)
  if (found === undefined) {
    throw failure('cloneParentSvmNotFound', { name: name.slice(0, 80) })
  }
  return found
}

/** A volume that is about to be made, as a clone. What its parent is called is looked up where it is read. */
export async function cloneOf(cluster: Cluster, volume: Volume, parent: Volume): Promise<Volume> {
  const chosen = await chosenSnapshot(cluster, volume, parent)
  const { 'clone.parent_volume.name': _, 'clone.parent_snapshot.name': __, ...rest } = volume
  const { 'clone.parent_svm.name': ___, 'clone.parent_svm.uuid': ____, ...row } = rest
  return {
    ...row,
    $tree: treeOf(parent),
    'clone.is_flexclone': true,
    [PARENT]: parent['uuid'],
    [BASE]: chosen ?? cluster.system.random.uuid(),
    ...(chosen === undefined ? { [TAKEN]: true } : {}),
  }
}

async function chosenSnapshot(cluster: Cluster, draft: VolumeDraft, parent: Volume): Promise<string | undefined> {
  const name = draft['clone.parent_snapshot.name'] ?? ''
  const given = draft[BASE] ?? ''
  if (name === '' && given === '') return undefined
  const volume = parent['uuid']
  const key = given === '' ? await cluster.keyOfName(SNAPSHOTS, name, volume) : given
  const row = key === undefined ? undefined : await cluster.find(SNAPSHOTS, key)
  if (row?.['volume.uuid'] === volume && (name === '' || row['name'] === name)) return key
  throw failure('cloneSnapshotUnknown')
}

/** What the making of a clone notes. */
type CloneMemo = {
  /** What its buckets are made of: see `bucketOf`. */
  readonly making: string
  /** The last bucket of the parent whose rows were copied, and in the next one the last row. */
  readonly copied: string
  readonly after: string | null
  /** The last bucket of the parent that has a record in the clone. */
  readonly named: string
}

type CloneWork = Work<Volume, CloneMemo>

export async function takeBase(cluster: Cluster, { input }: Work<Volume>): Promise<void> {
  if (isClone(input)) await holdBase(cluster, input)
}

export async function giveBackBase(cluster: Cluster, { input }: Work<Volume>): Promise<void> {
  if (isClone(input)) await releaseBase(cluster, input)
}

/** Repeated after a crash, it goes on where it last noted to be; from an earlier place it does the same. */
export async function copyRows(cluster: Cluster, work: CloneWork): Promise<void> {
  if (!isClone(work.input)) return
  const making = await openClone(cluster, work)
  for await (const rows of bucketsInBase(cluster, work.input, work.memo.copied ?? '')) {
    await cluster.catalog.commit(openBuckets(making, rows))
    for (const row of rows) {
      const from = row['uuid']
      await copyBucket(cluster, work, { from, to: bucketOf(making.making, from) })
      work.memo.copied = from
    }
  }
}

async function copyBucket(
  cluster: Cluster,
  work: CloneWork,
  { from, to }: { from: string; to: string },
): Promise<void> {
  for (let batch = 1; ; batch++) {
    if (work.stopping.aborted) throw new Interrupted()
    const { after } = work.memo
    const next = await copyBatch(cluster, {
      bucket: to,
      from,
      snapshot: work.input[BASE] ?? '',
      limit: BATCH,
      ...(typeof after === 'string' ? { after } : {}),
    })
    work.memo.after = next ?? null
    if (next === undefined) return
    if (batch % NOTED_BATCHES === 0) await work.progress(0, 'Rows are copied.')
    // Others get their turn between two batches.
    await cluster.system.clock.sleep(1)
  }
}

/** Where the next batch begins, if there is one. */
async function copyBatch(
  cluster: Cluster,
  batch: Omit<Extract<Change, { do: 'clone-rows' }>, 'do'>,
): Promise<string | undefined> {
  try {
    const [outcome] = await cluster.catalog.commit([{ do: 'clone-rows', ...batch }])
    return outcome?.next
  } catch (failure) {
    // A bucket that was deleted since, and that the snapshot shows without any rows.
    if (failure instanceof CommitRefused && failure.reason === 'missing' && failure.scope === 'from') return undefined
    throw failure
  }
}

async function openClone(cluster: Cluster, work: CloneWork): Promise<Making> {
  const { key, input, memo } = work
  if (memo.making === undefined) {
    await work.commit([{ do: 'open-volume', volume: key, tree: treeOf(input), sizeBytes: input['size'] }], {
      making: cluster.system.random.uuid(),
    })
  }
  return { key, making: memo.making ?? '' }
}

/**
 * The records of the parent's buckets after one of them, as they were when the snapshot was taken: some in each turn of
 * the event loop, and so few that one commit can write as many.
 */
async function* bucketsInBase(
  cluster: Cluster,
  clone: Volume,
  after: string,
): AsyncGenerator<readonly Bucket[], void, void> {
  const of = { volume: clone[PARENT] ?? '', snapshot: clone[BASE] ?? '' }
  for (let key = after; ;) {
    const records = await recordsAt(cluster.catalog, BUCKETS, of, key, BUCKETS_A_TURN)
    const last = records.at(-1)
    if (last === undefined) return
    yield records.map(({ body }) => body)
    key = last.key
    await cluster.system.turn()
  }
}

/**
 * Gives the buckets of a clone their records, before it has its own: they may be too many for one commit. Until the
 * volume is known, nobody is served from them.
 */
export async function nameBuckets(cluster: Cluster, work: CloneWork): Promise<void> {
  const { key, input, memo } = work
  if (!isClone(input)) return
  const counters = await cluster.catalog.volume(key)
  const used = counters === undefined ? 0 : chargedTo(input, counters)
  if (used > input['size']) {
    throw failure('cloneTooSmall', { used: printSize(used) })
  }
  const making = { key, making: memo.making ?? '' }
  for await (const rows of bucketsInBase(cluster, input, memo.named ?? '')) {
    if (work.stopping.aborted) throw new Interrupted()
    const named = rows.at(-1)?.['uuid'] ?? ''
    for (let tries = 1; ; tries++) {
      try {
        await work.commit(await bucketRecords(cluster, input, making, rows), { named })
        break
      } catch (failure) {
        // A client of the object store may have made a bucket of the name that one of the clone was to have.
        if (!isNameTaken(failure) || tries >= TRIES_MAX) throw failure
      }
    }
  }
}

/** Takes the records back. */
export async function forgetBuckets(cluster: Cluster, { key, input }: Work<Volume>): Promise<void> {
  if (isClone(input)) await removeUnder(cluster, BUCKETS, key)
}

/** What was copied goes, before anybody has seen it. */
export async function dropRows(cluster: Cluster, { key, input }: Work<Volume>): Promise<void> {
  if (isClone(input)) await cluster.commit([{ do: 'close-volume', volume: key, withBuckets: true }])
}

/** A volume cannot go before its clones, also those that are still being made: they need the snapshots they began with. */
export async function insistOnNoClones(cluster: Cluster, key: string): Promise<void> {
  if (!(await cluster.rows(SNAPSHOTS, key)).some(isHeldByClone)) return
  throw failure('volumeHasClones')
}

/** Buckets that go with a clone, and those that keep it from going. */
export async function bucketsIn(cluster: Cluster, volume: string): Promise<{ own: Bucket[]; others: Bucket[] }> {
  const buckets = await cluster.rows(BUCKETS, volume)
  const held = new Set((await cluster.catalog.bucketSnapshots(volume)).map(({ bucket }) => bucket))
  const goes = (bucket: Bucket) => bucket[CAME_WITH_CLONE] === true && !hasLocks(bucket) && !held.has(bucket['uuid'])
  return { own: buckets.filter(goes), others: buckets.filter((bucket) => !goes(bucket)) }
}

function hasLocks(bucket: Bucket): boolean {
  return readLockFields(storedRow('protocols/s3/buckets', bucket)) !== undefined
}

/** Makes a clone a volume of its own. Both go on needing the blobs that they share, and count them each for itself. */
export async function splitClone(cluster: Cluster, { key, input }: Work<{ readonly $split?: true }>): Promise<void> {
  if (input.$split !== true) return
  const record = await cluster.record(VOLUMES, key)
  if (record === undefined) throw failure('volumeNotFound')
  const clone = record.body
  if (!isClone(clone)) return
  const own = Object.entries(clone).filter(([path]) => !path.startsWith('clone.') && path !== TAKEN)
  await releaseBase(cluster, clone, [
    cluster.put(VOLUMES, Object.fromEntries(own) as typeof clone, { expect: record.revision }),
    { do: 'count-as-own', volume: key },
    cluster.event('volume.clone.split', { volume: clone['name'] }),
  ])
}
