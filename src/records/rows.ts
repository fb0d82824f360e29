/** Rows that many resources read of one another. */
import type { DraftOf, RowOf } from '../model/rows.ts'

export type Account = RowOf<'security/accounts'>
export type Aggregate = RowOf<'storage/aggregates'>
/** What is known of a damaged object, or of a file that no object needs. */
export type Damage = RowOf<'private/damaged-objects'>
export type Bucket = RowOf<'protocols/s3/buckets'>
export type ObjectServer = RowOf<'protocols/s3/services'>
export type Qtree = RowOf<'storage/qtrees'>
export type QuotaRule = RowOf<'storage/quota/rules'>
export type Snapshot = RowOf<'storage/volumes/{volume.uuid}/snapshots'>
export type Svm = RowOf<'svm/svms'>
export type Volume = RowOf<'storage/volumes'>
/** A volume that was deleted and can be recovered. */
export type QueuedVolume = RowOf<'private/cli/volume/recovery-queue'>
/** A volume whose blobs are stored: one in use, or in the recovery queue. */
export type StoredVolume = Volume | QueuedVolume

/** What may be given of a volume. */
export type VolumeDraft = DraftOf<'storage/volumes'>
