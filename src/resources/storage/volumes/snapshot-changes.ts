/** What is committed when a snapshot is taken or dropped, whoever asks for it: a request or a schedule. */
import type { Cluster } from '../../../core/cluster.ts'
import { failures, type Failure } from '../../../model/failure.ts'
import { type Row, textAt } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'

export const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'

/** The limit of the field for one volume. */
export const SNAPSHOTS_MAX = 1023

/** Takes the snapshot of this row: with uuid, name, volume, SVM and time. */
export async function takeChanges(cluster: Cluster, row: Row): Promise<Change[]> {
  const volume = textAt(row, 'volume.uuid')
  // The settings of the buckets are of the same instant as their objects.
  const buckets = await cluster.rows('protocols/s3/buckets', volume)
  return [
    { do: 'take-snapshot', volume, snapshot: textAt(row, 'uuid'), nowMs: Number(row['create_time']) },
    cluster.put(SNAPSHOTS, { ...row, state: 'valid', $buckets: buckets }, { expect: 'absent' }),
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

/** Why the snapshot may not be deleted now, if it may not. */
export function whyKept(snapshot: Row, nowMs: number): Failure | undefined {
  const expiry = snapshot['expiry_time']
  if (typeof expiry === 'number' && expiry > nowMs) {
    const until = new Date(expiry).toISOString()
    return failures.inUse(`The snapshot has not expired. It can be deleted from ${until} on.`, undefined, 1638555)
  }
  const owners = snapshot['owners']
  if (Array.isArray(owners) && owners.length > 0) {
    return failures.inUse(`The snapshot is in use by ${owners.join(', ')}. Release it there first.`, undefined, 1638543)
  }
  return undefined
}
