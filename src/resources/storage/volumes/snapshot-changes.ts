/** What is committed when a snapshot is taken or dropped, whoever asks for it: a request or a schedule. */
import type { Cluster } from '../../../core/cluster.ts'
import { failure, type Failure } from '../../../model/failure.ts'
import type { Change } from '../../../ports/catalog.ts'
import type { Snapshot } from '../../../records/rows.ts'

export const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'

/** The limit of the field for one volume. */
export const SNAPSHOTS_MAX = 1023

/** Takes the snapshot of this row: with uuid, name, volume, SVM and time. */
export function takeChanges(cluster: Cluster, row: Snapshot): Change[] {
  const volume = row['volume.uuid']
  return [
    { do: 'take-snapshot', volume, snapshot: row['uuid'], nowMs: row['create_time'] },
    cluster.put(SNAPSHOTS, { ...row, state: 'valid' }, { expect: 'absent' }),
    cluster.event('snapshot.created', { volume, snapshot: row['name'] }),
  ]
}

export function dropChanges(cluster: Cluster, snapshot: Pick<Snapshot, 'uuid' | 'name' | 'volume.uuid'>): Change[] {
  const volume = snapshot['volume.uuid']
  const key = snapshot['uuid']
  return [
    { do: 'drop-snapshot', volume, snapshot: key },
    { do: 'remove-record', type: SNAPSHOTS, key },
    cluster.event('snapshot.deleted', { volume, snapshot: snapshot['name'] }),
  ]
}

/** What keeps a snapshot, of a volume or of a bucket, from being deleted. */
export type Keepable = Pick<Snapshot, 'expiry_time' | 'owners'>

/** What clones are called among the owners of a snapshot, before their UUID. */
export const CLONE_OWNER = 'volume clone '

export function ownersOf(snapshot: Keepable): readonly string[] {
  return snapshot['owners'] ?? []
}

export function isHeldByClone(snapshot: Keepable): boolean {
  return ownersOf(snapshot).some((owner) => owner.startsWith(CLONE_OWNER))
}

/** Why the snapshot may not be deleted now, if it may not. */
export function whyKept(snapshot: Keepable, nowMs: number): Failure | undefined {
  const expiry = snapshot['expiry_time']
  if (expiry !== undefined && expiry > nowMs) {
    const until = new Date(expiry).toISOString()
    return failure('snapshotNotExpired', { until })
  }
  const owners = ownersOf(snapshot)
  if (owners.length > 0) {
    const name = isHeldByClone(snapshot) ? 'snapshotOfClone' : 'snapshotInUse'
    return failure(name, { owners: owners.join(', ') })
  }
  return undefined
}
