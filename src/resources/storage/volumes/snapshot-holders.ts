/** What a snapshot policy makes snapshots of: a volume, or one bucket. Both are served by the same schedules. */
import type { Cluster } from '../../../core/cluster.ts'
import type { RowOf, SomeType } from '../../../model/rows.ts'
import type { Change } from '../../../ports/catalog.ts'
import {
  BUCKET_SNAPSHOTS,
  bucketSnapshotName,
  dropBucketSnapshot,
  takeBucketSnapshot,
} from '../../protocols/s3/bucket-snapshots.ts'
import { BUCKETS } from '../../protocols/s3/types.ts'
import { dropChanges, type Keepable, SNAPSHOTS, takeChanges } from './snapshot-changes.ts'
import { isScheduled } from './types.ts'
import type { Bucket, Snapshot, Volume } from '../../../records/rows.ts'

/** A snapshot that a schedule makes, as both kinds have it. */
export type NewSnapshot = Pick<Snapshot, 'uuid' | 'name' | 'create_time' | 'snapmirror_label'>
export type ScheduledSnapshot = NewSnapshot & Keepable

export interface Holder {
  /** Its record, as it was read; and its snapshot policy. */
  readonly type: SomeType
  readonly policy: string | undefined
  readonly revision: number
  /** Whether its volume is. */
  readonly isOnline: boolean
  /** What a snapshot of this prefix and minute is called; nothing when the prefix makes no name. */
  nameOf(prefix: string, ms: number): string | undefined
  /** Oldest first by the order in which they were taken, which a clock that was wrong for a while does not disturb. */
  snapshotsByAge(): Promise<ScheduledSnapshot[]>
  take(snapshot: NewSnapshot): Change[] | Promise<Change[]>
  drop(snapshot: ScheduledSnapshot): Change[]
  /** Tells that a snapshot was not taken. */
  skipped(name: string): Change
}

/** The volume or the bucket of a uuid. */
export async function findHolder(cluster: Cluster, key: string): Promise<Holder | undefined> {
  const volume = await cluster.record('storage/volumes', key)
  if (volume !== undefined) return volumeHolder(cluster, key, volume.body, volume.revision)
  const bucket = await cluster.record(BUCKETS, key)
  return bucket === undefined ? undefined : bucketHolder(cluster, key, bucket.body, bucket.revision)
}

function volumeHolder(cluster: Cluster, key: string, row: Volume, revision: number): Holder {
  return {
    type: 'storage/volumes',
    policy: row['snapshot_policy.uuid'],
    revision,
    isOnline: isScheduled(row),
    nameOf: (prefix, ms) => `${prefix}.${minute(ms)}`,
    async snapshotsByAge() {
      const order = await cluster.catalog.snapshots(key)
      return inOrder(cluster, SNAPSHOTS, key, order)
    },
    take: (snapshot) => takeChanges(cluster, { ...snapshot, 'volume.uuid': key, 'svm.uuid': row['svm.uuid'] }),
    drop: ({ uuid, name }) => dropChanges(cluster, { uuid, name, 'volume.uuid': key }),
    skipped: (name) => cluster.event('snapshot.scheduled.skipped', { volume: key, snapshot: name }),
  }
}

async function bucketHolder(cluster: Cluster, key: string, row: Bucket, revision: number): Promise<Holder> {
  const volume = row['volume.uuid'] ?? ''
  const isOnline = isScheduled(await cluster.find('storage/volumes', volume))
  return {
    type: BUCKETS,
    policy: row['snapshot_policy.uuid'],
    revision,
    isOnline,
    nameOf: (prefix, ms) => bucketSnapshotName(prefix, minute(ms)),
    async snapshotsByAge() {
      const order = await cluster.catalog.bucketSnapshots(volume, key)
      return inOrder(cluster, BUCKET_SNAPSHOTS, key, order)
    },
    take: (snapshot) =>
      takeBucketSnapshot(cluster, {
        ...snapshot,
        bucket_uuid: key,
        's3_bucket.uuid': key,
        'svm.uuid': row['svm.uuid'],
      }),
    drop: ({ uuid, name }) => dropBucketSnapshot(cluster, { uuid, name, 's3_bucket.uuid': key }, volume),
    skipped: (name) => cluster.event('bucket.snapshot.skipped', { bucket: key, snapshot: name }),
  }
}

async function inOrder<Type extends typeof SNAPSHOTS | typeof BUCKET_SNAPSHOTS>(
  cluster: Cluster,
  type: Type,
  parent: string,
  order: readonly { readonly snapshot: string }[],
): Promise<RowOf<Type>[]> {
  const records = await cluster.records(type, { parent })
  const rows = new Map(records.map(({ key, body }) => [key, body]))
  return order.map(({ snapshot }) => rows.get(snapshot)).filter((row) => row !== undefined)
}

/** `2026-11-21_1805`, in UTC. */
function minute(ms: number): string {
  const time = new Date(ms).toISOString()
  return `${time.slice(0, 10)}_${time.slice(11, 13)}${time.slice(14, 16)}`
}
