/** What is committed when a snapshot is taken or dropped, whoever asks for it: a request or a schedule. */
import type { Cluster } from '../../../core/cluster.ts'
import { failure, type Failure } from '../../../model/failure.ts'
import { type Row, textAt } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'

export const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'

/** The limit of the field for one volume. */
export const SNAPSHOTS_MAX = 1023

/** Takes the snapshot of this row: with uuid, name, volume, SVM and time. */
export function takeChanges(cluster: Cluster, row: Row): Change[] {
  const volume = textAt(row, 'volume.uuid')
  return [
    { do: 'take-snapshot', volume, snapshot: textAt(row, 'uuid'), nowMs: Number(row['create_time']) },
    cluster.put(SNAPSHOTS, { ...row, state: 'valid' }, { expect: 'absent' }),
    cluster.event('snapshot.created', { volume, snapshot: row['name'] ?? '' }),
  ]
}

export function dropChanges(cluster: Cluster, snapshot: Row): Change[] {
  const volume = textAt(snapshot, 'volume.uuid')
  const key = textAt(snapshot, 'uuid')
  return [
    { do: 'drop-snapshot', volume, snapshot: key },
    { do: 'remove-record', type: SNAPSHOTS, key },
    cluster.event('snapshot.deleted', { volume, snapshot: snapshot['name'] ?? '' }),
  ]
}

/** What clones are called among the owners of a snapshot, before their UUID. */
export const CLONE_OWNER = 'volume clone '

export function ownersOf(snapshot: Row): readonly string[] {
  return (snapshot['owners'] ?? []) as readonly string[]
}

export function isHeldByClone(snapshot: Row): boolean {
  return ownersOf(snapshot).some((owner) => owner.startsWith(CLONE_OWNER))
}

/** Why the snapshot may not be deleted now, if it may not. */
export function whyKept(snapshot: Row, nowMs: number): Failure | undefined {
  const expiry = snapshot['expiry_time']
  if (typeof expiry === 'number' && expiry > nowMs) {
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
