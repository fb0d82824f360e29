/**
 * Volumes of type `dp` are the destination of a replication, those of type `ls` are load-sharing mirrors: only
 * replication changes what they hold. The catalog refuses everybody else, in whatever process they are; what is refused
 * here beforehand is refused for the sake of a better answer.
 *
 * Replication writes by beginning its commits with `replicate-into`, and breaks a destination off with `typeChanges`.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import type { Change, StoredRecord } from '../../../ports/catalog.ts'
import type { Volume } from '../../../records/rows.ts'
import { replicaTypes } from '../../../records/volume-types.ts'

export type VolumeType = 'rw' | 'dp' | 'ls'

export function isReadOnly(volume: Volume): boolean {
  return replicaTypes.some((type) => type === volume['type'])
}

/** Whether schedules make snapshots of a volume: they wait while it is not served, and replication makes its own. */
export function isScheduled(volume: Volume | undefined): boolean {
  return volume !== undefined && volume['state'] === 'online' && !isReadOnly(volume)
}

/** Refuses what only a read-write volume takes, with the failure that clients know for it. */
export function insistOnReadWrite(
  volume: Volume,
  name: 'volumeProtected' | 'snapshotsProtected' | 'bucketVolumeProtected',
): void {
  if (!isReadOnly(volume)) return
  throw failure(name, { volume: volume['name'], type: volume['type'] ?? '' })
}

/** What makes the volume of this record one of another type: the record and what the catalog refuses, in one commit. */
export function typeChanges(cluster: Cluster, record: StoredRecord<Volume>, type: VolumeType): Change[] {
  const volume: Volume = { ...record.body, type }
  return [
    { do: 'protect-volume', volume: record.key, isReadOnly: isReadOnly(volume) },
    cluster.put('storage/volumes', volume, { expect: record.revision }),
  ]
}
