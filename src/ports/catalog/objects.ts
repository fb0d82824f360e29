import type {
  BucketCounters,
  SnapshotAt,
  ObjectRow,
  PartRow,
  UploadRow,
  UploadPosition,
  ListQuery,
  ListPage,
  VersionPosition,
  VersionsQuery,
  VersionsPage,
  ScanPage,
} from './rows.ts'

/** Objects of buckets, their versions and open uploads. */
export interface ObjectIndex {
  /** Counters of a bucket. */
  bucket(bucket: string): Promise<BucketCounters | undefined>

  /** Of all buckets, or of those of them that are named. */
  buckets(named?: readonly string[]): Promise<ReadonlyMap<string, BucketCounters>>

  /**
   * The row of a key with a version, or the current one, live or as a snapshot shows it. It may be a delete marker: a key
   * whose current row `isMarker` has no object.
   */
  object(bucket: string, key: Uint8Array, at?: SnapshotAt, version?: string): Promise<ObjectRow | undefined>

  /**
   * One page in byte order of keys; cost grows with the page, never with the bucket nor with the versions of its keys.
   * (At a snapshot also with the rows in between that it does not see.) Keys whose current row is a delete marker are
   * passed over; so is a common prefix that has no other keys. A page may end before its limit, even without anything,
   * when very many keys were passed over; `next` tells. A key that is written meanwhile is shown as before or as after.
   */
  list(query: ListQuery): Promise<ListPage>

  /** As `list`, with all rows of a key, newest first, delete markers too. */
  versions(query: VersionsQuery): Promise<VersionsPage>

  /**
   * All rows of a bucket in the order of `versions`, with everything that is known of them, for jobs that walk it. A row
   * that stays is met once. Pass `next` as `after`, also when the row it names has been deleted since. A page may end
   * before its limit when rows are very long.
   */
  scan(bucket: string, after: VersionPosition | undefined, limit: number, at?: SnapshotAt): Promise<ScanPage>

  /** An open multipart upload, with or without its parts (ordered by number). */
  upload(bucket: string, upload: string): Promise<UploadRow | undefined>
  parts(bucket: string, upload: string, afterNumber: number, limit: number): Promise<readonly PartRow[]>

  /** Open uploads ordered by key, then by upload id, after the given position. */
  uploads(bucket: string, after: UploadPosition | undefined, limit: number): Promise<readonly UploadRow[]>
}
