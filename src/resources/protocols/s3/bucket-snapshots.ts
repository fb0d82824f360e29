/** Snapshots of one bucket: what is committed when one is taken or dropped, and which of them a request means. */
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import type { DraftOf, RowOf } from '../../../model/rows.ts'
import type { Change } from '../../../ports/catalog.ts'
import { copiesOf, SNAPSHOT_POLICIES } from '../../storage/snapshot-policies/copies.ts'
import { SNAPSHOTS } from '../../storage/volumes/snapshot-changes.ts'
import { BUCKETS } from './types.ts'
import type { Bucket } from '../../../records/rows.ts'

export const BUCKET_SNAPSHOTS = 'protocols/s3/services/{svm.uuid}/buckets/{s3_bucket.uuid}/snapshots'

/** A snapshot of one bucket. */
export type BucketSnapshot = RowOf<typeof BUCKET_SNAPSHOTS>

/** The limit of the field for one bucket. */
export const BUCKET_SNAPSHOTS_MAX = 1023

/** What the name of one looks like, so that it can stand behind that of the bucket. */
export const BUCKET_SNAPSHOT_NAME = /^(?!.*s3snap)(?!\.)[a-z0-9.-]{0,29}[a-z0-9]$/

/** `hourly.2026-11-21-1805`: as a schedule calls one, or nothing when it would be too long. */
export function bucketSnapshotName(prefix: string, minute: string): string | undefined {
  const name = `${prefix}.${minute}`.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-')
  return BUCKET_SNAPSHOT_NAME.test(name) ? name : undefined
}

/** Refuses a snapshot policy by which snapshots of a bucket could not be called. */
export async function checkSnapshotPolicy(cluster: Cluster, bucket: DraftOf<typeof BUCKETS>): Promise<void> {
  const policy = await cluster.find(SNAPSHOT_POLICIES, bucket['snapshot_policy.uuid'] ?? '')
  const names = copiesOf(policy).map(({ prefix }) => bucketSnapshotName(prefix, '2026-11-21_1805'))
  if (names.includes(undefined) || new Set(names).size < names.length) {
    throw failure('bucketSnapshotPrefixUnfit')
  }
}

/** Takes the snapshot of this row: with uuid, name, bucket, SVM and time. */
export async function takeBucketSnapshot(cluster: Cluster, row: BucketSnapshot): Promise<Change[]> {
  const key = row['s3_bucket.uuid'] ?? ''
  const bucket = await cluster.row(BUCKETS, key)
  const volume = bucket['volume.uuid'] ?? ''
  const snapshot = row['uuid']
  return [
    { do: 'take-snapshot', volume, bucket: key, snapshot, nowMs: row['create_time'] ?? cluster.now() },
    cluster.put(BUCKET_SNAPSHOTS, row, { expect: 'absent' }),
    cluster.event('bucket.snapshot.created', { bucket: key, snapshot: row['name'] }),
  ]
}

export function dropBucketSnapshot(
  cluster: Cluster,
  row: Pick<BucketSnapshot, 'uuid' | 'name' | 's3_bucket.uuid'>,
  volume: string,
): Change[] {
  const key = row['uuid']
  return [
    { do: 'drop-snapshot', volume, snapshot: key },
    { do: 'remove-record', type: BUCKET_SNAPSHOTS, key },
    cluster.event('bucket.snapshot.deleted', { bucket: row['s3_bucket.uuid'] ?? '', snapshot: row['name'] }),
  ]
}

/** The snapshot of a bucket, or of its volume, that a request names. */
export async function findSnapshot(
  cluster: Cluster,
  bucket: Bucket,
  { name, uuid }: { readonly name?: string | undefined; readonly uuid?: string | undefined },
): Promise<string> {
  const own = await namedOf(cluster, BUCKET_SNAPSHOTS, bucket['uuid'], { name, uuid })
  const found = own ?? (await namedOf(cluster, SNAPSHOTS, bucket['volume.uuid'] ?? '', { name, uuid }))
  if (found === undefined) {
    throw failure('bucketSnapshotUnknown')
  }
  return found
}

async function namedOf(
  cluster: Cluster,
  type: typeof BUCKET_SNAPSHOTS | typeof SNAPSHOTS,
  parent: string,
  { name, uuid }: { readonly name: string | undefined; readonly uuid: string | undefined },
): Promise<string | undefined> {
  const key = uuid ?? (await cluster.keyOfName(type, name ?? '', parent))
  const record = key === undefined ? undefined : await cluster.record(type, key)
  if (record?.parent !== parent || (name !== undefined && record.body['name'] !== name)) return undefined
  return record.key
}
