/**
 * The snapshot of its parent that a clone began with. It names the clone among its owners, and so stays until the clone is
 * deleted or split: the blobs that both need are then needed by both, and what the clone shares is known without a search.
 */
import { alone } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { treeOf } from '../../../storage/tree-of.ts'
import { failure } from '../../../model/failure.ts'
import type { Change, StoredRecord } from '../../../ports/catalog.ts'
import { AGGREGATES_LOCK } from '../aggregates/space.ts'
import { BASE, PARENT } from './clone-fields.ts'
import { insistOnNoMove } from './movement.ts'
import { CLONE_OWNER, dropChanges, ownersOf, SNAPSHOTS, SNAPSHOTS_MAX, takeChanges } from './snapshot-changes.ts'
import type { Snapshot, Volume } from '../../../records/rows.ts'

/** Set where the snapshot was taken for the clone alone: it goes when the clone needs it no more. */
export const TAKEN = '$baseTaken'

const ownerOf = (clone: Volume) => CLONE_OWNER + clone['uuid']

/** A volume is not moved while a clone of it is being made, which is of the tree where it is. */
export async function insistOnNoneBeingCloned(cluster: Cluster, volume: string): Promise<void> {
  for (const snapshot of await cluster.rows(SNAPSHOTS, volume)) {
    for (const owner of ownersOf(snapshot).filter((one) => one.startsWith(CLONE_OWNER))) {
      if ((await cluster.find('storage/volumes', owner.slice(CLONE_OWNER.length))) !== undefined) continue
      throw failure('volumeBeingCloned')
    }
  }
}

/** Those of a volume that have not been split. */
export async function clonesOf(cluster: Cluster, volume: string): Promise<Volume[]> {
  return (await cluster.rows('storage/volumes')).filter((row) => (row[PARENT] ?? '') === volume)
}

/** Takes the snapshot for the clone, or holds on to the one that was chosen. Repeating it is fine. */
export async function holdBase(cluster: Cluster, clone: Volume): Promise<void> {
  const volume = clone[PARENT] ?? ''
  await alone(cluster, [`volume:${volume}`], (cluster) =>
    // No move begins between the look and the commit.
    alone(cluster, [AGGREGATES_LOCK], (cluster) => holdInPlace(cluster, clone)),
  )
}

async function holdInPlace(cluster: Cluster, clone: Volume): Promise<void> {
  const parent = await cluster.row('storage/volumes', clone[PARENT] ?? '')
  insistOnNoMove(parent)
  if (treeOf(parent) !== treeOf(clone)) {
    throw failure('cloneParentMoved')
  }
  const record = await cluster.record(SNAPSHOTS, clone[BASE] ?? '')
  if (record === undefined) await takeBase(cluster, clone)
  else if (!ownersOf(record.body).includes(ownerOf(clone))) {
    const owners = [...ownersOf(record.body), ownerOf(clone)]
    await cluster.commit([cluster.put(SNAPSHOTS, { ...record.body, owners }, { expect: record.revision })])
  }
}

async function takeBase(cluster: Cluster, clone: Volume): Promise<void> {
  if (clone[TAKEN] !== true) throw failure('snapshotNotFound', {}, { target: 'clone.parent_snapshot.uuid' })
  const volume = clone[PARENT] ?? ''
  const parent = await cluster.row('storage/volumes', volume)
  if ((await cluster.catalog.snapshots(volume)).length >= SNAPSHOTS_MAX) {
    throw failure('cloneParentSnapshotLimit', { max: SNAPSHOTS_MAX })
  }
  const now = cluster.now()
  const row: Snapshot = {
    uuid: clone[BASE] ?? '',
    name: baseName(clone['name'], clone[BASE] ?? '', now),
    'volume.uuid': volume,
    'svm.uuid': parent['svm.uuid'],
    create_time: now,
    owners: [ownerOf(clone)],
  }
  await cluster.commit(takeChanges(cluster, row))
}

/** Clones of several SVMs may have one name and be made in the same second: a number of the snapshot's UUID tells them apart. */
function baseName(clone: string, snapshot: string, nowMs: number): string {
  const number = Number.parseInt(snapshot.replaceAll('-', '').slice(-8), 16)
  return `clone_${clone}.${new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '')}.${number}`
}

/** Lets go of the snapshot, in one commit with the changes that end the need for it. */
export async function releaseBase(cluster: Cluster, clone: Volume, changes: readonly Change[] = []): Promise<void> {
  await alone(cluster, [`volume:${clone[PARENT] ?? ''}`], async (cluster) => {
    const record = await cluster.record(SNAPSHOTS, clone[BASE] ?? '')
    const released = record === undefined ? [] : releaseChanges(cluster, clone, record)
    if (changes.length + released.length > 0) await cluster.commit([...changes, ...released])
  })
}

function releaseChanges(cluster: Cluster, clone: Volume, record: StoredRecord<Snapshot>): Change[] {
  const row = record.body
  const owners = ownersOf(row).filter((owner) => owner !== ownerOf(clone))
  if (owners.length === ownersOf(row).length) return []
  if (clone[TAKEN] === true && owners.length === 0) {
    return [
      { do: 'check-record', type: SNAPSHOTS, key: record.key, expect: record.revision },
      ...dropChanges(cluster, row),
    ]
  }
  return [cluster.put(SNAPSHOTS, { ...row, owners }, { expect: record.revision })]
}
