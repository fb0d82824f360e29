/** Rows that many resources read of one another. */
import type { DraftOf, RowOf } from '../model/rows.ts'

export type Account = RowOf<'security/accounts'>
export type Aggregate = RowOf<'storage/aggregates'>
export type Bucket = RowOf<'protocols/s3/buckets'>
export type ObjectServer = RowOf<'protocols/s3/services'>
export type Snapshot = RowOf<'storage/volumes/{volume.uuid}/snapshots'>
export type Svm = RowOf<'svm/svms'>
export type Volume = RowOf<'storage/volumes'>

/** What may be given of a volume. */
export type VolumeDraft = DraftOf<'storage/volumes'>
