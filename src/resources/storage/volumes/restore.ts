/**
 * Takes a volume, or with `restore_to.path` a part of it, back to one of its snapshots:
 * `PATCH /storage/volumes/{uuid}?restore_to.snapshot.name=…`.
 */
import type { Spelling } from '../../../core/action.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { Interrupted, type Work } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { text } from '../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../model/resource.ts'
import type { ArgumentsOf, SomeType } from '../../../model/rows.ts'
import type { Change, SnapshotRow } from '../../../ports/catalog.ts'
import { readLockFields } from '../../../records/lock-fields.ts'
import { storedRow } from '../../../records/stored.ts'
import { BUCKET_SNAPSHOTS } from '../../protocols/s3/bucket-snapshots.ts'
import { patiently } from './patiently.ts'
import { leaveRange, plannedRange, restoreRange, type RangeInput, type RangeMemo } from './range-restore.ts'
import { concludeWithDamage } from './restored-damage.ts'
import { SNAPSHOTS, whyKept } from './snapshot-changes.ts'
import { insistOnReadWrite } from './types.ts'
import type { Volume } from '../../../records/rows.ts'

/** Rows in one commit: few enough that writers to other volumes hardly wait. */
const BATCH = 500
const NOTED_BATCHES = 20

export const restoreArgs = {
  'restore_to.snapshot.name': {
    doc: 'The name of the snapshot to restore the volume from. Newer snapshots are deleted.',
    kind: text(),
  },
  'restore_to.snapshot.uuid': {
    doc: 'The UUID of the snapshot to restore the volume from. Newer snapshots are deleted.',
    kind: text(),
  },
  'restore_to.path': {
    doc: 'The part of the volume to restore: `/<bucket>`, `/<bucket>/<prefix>/` or `/<bucket>/<key>`. Newer snapshots are kept.',
    kind: text(),
  },
} as const satisfies Fields

/** The same as fields of the body, as some tools send them. None of them is kept. */
export const restoreFields: Record<string, FieldDeclaration> = Object.fromEntries(
  Object.entries(restoreArgs).map(([path, declared]) => [path, { ...declared, set: 'modify' }]),
)

/** The same as arguments of the action. */
export const restoreActionArgs = {
  'snapshot.name': restoreArgs['restore_to.snapshot.name'],
  'snapshot.uuid': restoreArgs['restore_to.snapshot.uuid'],
  path: restoreArgs['restore_to.path'],
} as const satisfies Fields

export const restoreSpelling: Spelling = {
  asks: { 'restore_to.snapshot.name': 'any', 'restore_to.snapshot.uuid': 'any', 'restore_to.path': 'any' },
  args: {
    'snapshot.name': 'restore_to.snapshot.name',
    'snapshot.uuid': 'restore_to.snapshot.uuid',
    path: 'restore_to.path',
  },
}

/** What the job needs to know: the snapshot, and the part where it is not all. */
export type PlannedRestore = {
  readonly $restore?: string
  readonly $range?: RangeInput
}

/** Whether newer snapshots are gone, and where the next batch of rows begins. */
type RestoreMemo = RangeMemo & { readonly begun: boolean; readonly after: string }

type RestoreWork = Work<PlannedRestore & { readonly name: string }, RestoreMemo>

/** The snapshot that a request names, if it does. Refuses what cannot be undone for somebody who relies on it. */
export async function plannedRestore(
  cluster: Cluster,
  volume: Volume,
  args: ArgumentsOf<typeof restoreActionArgs>,
): Promise<PlannedRestore> {
  const name = args['snapshot.name']
  const uuid = args['snapshot.uuid']
  const path = args.path
  if (name === undefined && uuid === undefined) {
    throw failure('restoreWithoutSnapshot')
  }
  if (name === '') {
    throw failure('restoreSnapshotMissing')
  }
  const key = volume['uuid']
  const found = uuid ?? (await cluster.keyOfName(SNAPSHOTS, name ?? '', key))
  const row = found === undefined ? undefined : await cluster.find(SNAPSHOTS, found)
  if (row?.['volume.uuid'] !== key || (name !== undefined && row['name'] !== name)) {
    throw failure('restoreSnapshotUnknown')
  }
  insistOnReadWrite(volume, 'volumeProtected')
  if (volume['state'] === 'offline') throw failure('volumeOffline')
  if (path !== undefined) return { $range: await plannedRange(cluster, volume, row['uuid'], path) }
  await newerSnapshots(cluster, key, row['uuid'])
  await insistOnNoLocks(cluster, key)
  return { $restore: row['uuid'] }
}

interface Newer {
  readonly type: SomeType
  readonly key: string
}

/** The snapshots that go with it, also those of its buckets, unless one of them may not be deleted now. */
async function newerSnapshots(cluster: Cluster, volume: string, snapshot: string): Promise<readonly Newer[]> {
  const taken = await cluster.catalog.snapshots(volume)
  const wanted = taken.find((one) => one.snapshot === snapshot)
  if (wanted === undefined) throw failure('snapshotNotFound', {}, { target: 'restore_to.snapshot.name' })
  const newerIn = (of: SomeType, all: readonly SnapshotRow[]) =>
    all.filter(({ epoch }) => epoch > wanted.epoch).map((one): Newer => ({ type: of, key: one.snapshot }))
  const newer = newerIn(SNAPSHOTS, taken)
  for (const { key } of newer) {
    const row = await cluster.find(SNAPSHOTS, key)
    const kept = row === undefined ? undefined : whyKept(row, cluster.now())
    if (kept !== undefined) throw kept
  }
  return [...newer, ...newerIn(BUCKET_SNAPSHOTS, await cluster.catalog.bucketSnapshots(volume))]
}

async function insistOnNoLocks(cluster: Cluster, key: string): Promise<void> {
  for (const bucket of await cluster.rows('protocols/s3/buckets', key)) {
    if (readLockFields(storedRow('protocols/s3/buckets', bucket)) === undefined) continue
    throw failure('restoreBreaksBucketLocks', { bucket: bucket['name'] })
  }
}

export async function restore(cluster: Cluster, work: RestoreWork): Promise<void> {
  const range = work.input.$range
  if (range === undefined) await restoreVolume(cluster, work)
  else await restoreRange(cluster, work, range)
}

export async function undoRestore(cluster: Cluster, work: RestoreWork): Promise<void> {
  const range = work.input.$range
  if (range !== undefined) await leaveRange(cluster, work, range)
}

/**
 * There is no way back from it: newer snapshots are gone with the first commit. So it does not fail half way, but waits for
 * the catalog, and goes on after a crash where it was.
 */
async function restoreVolume(cluster: Cluster, work: RestoreWork): Promise<void> {
  const snapshot = work.input.$restore
  if (snapshot === undefined) return
  const volume = work.key
  if (work.memo.begun !== true) await patiently(cluster, work, () => begin(cluster, work, snapshot))
  for (let batch = 1; ; batch++) {
    if (work.stopping.aborted) throw new Interrupted()
    const { after } = work.memo
    const [outcome] = await patiently(cluster, work, () =>
      cluster.catalog.commit([{ do: 'restore-rows', volume, limit: BATCH, ...(after === undefined ? {} : { after }) }]),
    )
    if (outcome?.next === undefined) break
    work.memo.after = outcome.next
    // A crash goes on from here. From an earlier place it does the same, and takes longer.
    if (batch % NOTED_BATCHES === 0) await patiently(cluster, work, () => work.progress(0.5, 'Rows are moved.'))
    // Others get their turn between two batches.
    await cluster.system.clock.sleep(1)
  }
  await patiently(cluster, work, () =>
    cluster.catalog.commit([
      { do: 'finish-restore', volume },
      cluster.event('volume.restored', { volume: work.input['name'], snapshot }),
    ]),
  )
  await concludeWithDamage(cluster, work, { volume })
}

/** The records of newer snapshots go with what they stand for. */
async function begin(cluster: Cluster, work: RestoreWork, snapshot: string): Promise<void> {
  // What was looked at when the job was planned may have changed while it waited.
  const newer = await newerSnapshots(cluster, work.key, snapshot)
  await insistOnNoLocks(cluster, work.key)
  const changes: Change[] = [
    { do: 'begin-restore', volume: work.key, snapshot },
    ...newer.map(({ type, key }): Change => ({ do: 'remove-record', type, key })),
  ]
  await work.commit(changes, { begun: true })
}
