import type { RecordsChange } from './catalog-record-changes.ts'
import type { VolumeChange } from './catalog-volume-changes.ts'
import type {
  AggregateCounters,
  BlobRef,
  BucketCounters,
  ChangedVolume,
  DeleteCondition,
  Fields,
  KeptRecord,
  ListPage,
  ListQuery,
  LogEntry,
  LogName,
  ObjectDraft,
  ObjectLock,
  ObjectRow,
  PartDraft,
  PartRow,
  QuotaRoom,
  QuotaRow,
  RecordChange,
  RecordsWithin,
  ScanPage,
  SampleBlock,
  SnapshotAt,
  SnapshotRow,
  StoredBlob,
  StoredRecord,
  UntidyVolume,
  Tried,
  UploadPosition,
  UploadRow,
  VersionPosition,
  VersionsPage,
  VersionsQuery,
  VolumeCounters,
  WriteCondition,
} from './catalog-rows.ts'

export type * from './catalog-rows.ts'
export { SHARING_BLOBS_MAX } from './catalog-rows.ts'

/**
 * The catalog: records of the model, the ordered object index, counters and logs. It is the only truth: a blob file
 * without a row is rubbish, a row without its blob must never exist.
 *
 * Reads see everything acknowledged before they began. Every write goes through `commit`, which is atomic, serialisable
 * and durable on return: it survives `kill -9` and power loss. Many commits may share one sync (group commit).
 *
 * Time in the index is counted in epochs, one counter for each volume. A row is born in the current epoch; a snapshot
 * is one row that keeps the current epoch and moves the volume to the next. A row that is replaced or deleted while a
 * snapshot still sees it (born <= snapshot.epoch) is moved to the history with the epoch of its death, so the rows of
 * a snapshot are those with born <= snapshot.epoch < died. Live listings never walk over dead rows.
 *
 *     epoch 1        epoch 2           epoch 3
 *     put a (born 1)                   put a (born 3): the first a moves to history, died 3
 *     --- snapshot s1 (epoch 1) ---    ------- snapshot s2 (epoch 2) -------
 *     s1 shows a(born 1, died 3): 1 <= 1 < 3.   s2 too: 1 <= 2 < 3.   Live shows a(born 3).
 *
 * A snapshot may be of one bucket alone. It has its epoch of the same counter, and sees nothing of other buckets: rows of
 * the history are those that a snapshot of their volume or of their bucket sees.
 *
 * A key may have several rows, its versions; delete markers are rows too. The one written last is the current row. When
 * it goes, the one written before it is the current row again:
 *
 *     put k (v1)   put k (v2)   delete k (marker v3)   delete version v3   delete version v2
 *     v1           v2 v1        [v3] v2 v1             v2 v1               v1                  newest first
 */
export interface Catalog {
  /** One record, or nothing. */
  record(type: string, key: string): Promise<StoredRecord | undefined>

  /**
   * All records of a type, or those under one parent, ordered by key. With `after`, at most so many after that key, in a
   * turn of the event loop of its own: a walk meets every record once that stays. Such a page ends before its limit when
   * records are long, after one at the earliest; the walk is over with an empty one.
   */
  records(type: string, within?: RecordsWithin): Promise<StoredRecord[]>

  /**
   * Records of a type under a volume, as one of its snapshots shows them: those that were put with `isInSnapshots`. At most
   * so many after a key, in pages as those of `records`. Nothing where there is no such snapshot.
   */
  recordsAt(
    type: string,
    of: { readonly volume: string; readonly snapshot: string },
    after: string,
    limit: number,
  ): Promise<readonly KeptRecord[]>

  /** The key of the record that holds a unique value in a scope, such as scope `svm.name`, value `svm1`. */
  holder(scope: string, value: string): Promise<{ readonly type: string; readonly key: string } | undefined>

  /**
   * A number that grows with every commit that touches a record. Equal numbers mean that no record changed between the
   * two reads: callers may keep what they derived from records. An engine that knows it at once gives it without a promise,
   * as requests ask for it before everything that they look up.
   */
  revision(): number | Promise<number>

  /**
   * How many changes of records, objects and volumes it has seen, ever. Equal numbers mean that neither a record nor a
   * counter of a volume changed between the two reads. Where a volume lies, and that it is gone, changes with its record.
   */
  changesMade(): number | Promise<number>

  /** Which records changed after a revision, oldest first. `undefined` when the feed no longer reaches back so far. */
  changes(after: number, limit: number): Promise<readonly RecordChange[] | undefined>

  /** Applies all changes or none. Rejects with `CommitRefused` when one does not hold; other errors: outcome unknown. */
  commit(changes: readonly Change[]): Promise<readonly Outcome[]>

  /** Counters of a volume's index: sizes and epoch, true as of the last commit. */
  volume(volume: string): Promise<VolumeCounters | undefined>
  volumes(): Promise<ReadonlyMap<string, VolumeCounters>>
  /** Volumes whose tree is this one, in the order of their names. Cost grows with their number alone. */
  volumesIn(tree: string): Promise<readonly string[]>
  /**
   * Volumes whose size, or what they hold, changed after a `change` that was read before (0: all), oldest first. Each has
   * the number of its last change alone.
   */
  changedVolumes(after: number, limit: number): Promise<readonly ChangedVolume[]>
  /** Volumes in which there is something to `reclaim`, or blobs that are not needed. Cost grows with their number alone. */
  untidyVolumes(): Promise<readonly UntidyVolume[]>
  /** Sums over the volumes that were placed in an aggregate. Constant time at any number of them. */
  aggregate(aggregate: string): Promise<AggregateCounters>

  /** Counters of a bucket. */
  bucket(bucket: string): Promise<BucketCounters | undefined>
  /** Of all buckets, or of those of them that are named. */
  buckets(named?: readonly string[]): Promise<ReadonlyMap<string, BucketCounters>>

  /** All of a volume that limits hold for, their own or the default ones, in the order of their index. */
  quotas(volume: string): Promise<readonly QuotaRow[]>
  /** What is left to objects of an owner, by each hard limit that stands against them. Constant time. */
  quotaRoom(volume: string, owner: string): Promise<readonly QuotaRoom[]>

  /** Snapshots of a whole volume, oldest first. */
  snapshots(volume: string): Promise<readonly SnapshotRow[]>
  /** Snapshots of single buckets of a volume, or of the one named, oldest first. */
  bucketSnapshots(volume: string, bucket?: string): Promise<readonly SnapshotRow[]>

  /**
   * For each snapshot of a volume or of a bucket in it, the bytes that it sees and that neither the live index nor a later snapshot does:
   * what deleting it and all earlier ones would free of it. Cost grows with the rows that died, not with the volume.
   */
  snapshotBytes(volume: string): Promise<ReadonlyMap<string, number>>

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

  /**
   * Blobs that no row needs any more, of this volume nor of another that shares its tree, oldest first. They are to be
   * unlinked, then dropped with `drop-blobs`. Those that were given up come first.
   */
  unneededBlobs(volume: string, limit: number): Promise<readonly string[]>
  /** Those of the unneeded blobs that were given up with `give-up-blobs`: their files are kept, elsewhere. */
  givenUpBlobs(volume: string, limit: number): Promise<readonly string[]>
  /**
   * Which of these blobs the index knows, needed or not, of all volumes that share the tree of this one. With `trees`: of
   * this volume, and of all that have one of these.
   */
  knownBlobs(volume: string, blobs: readonly string[], trees?: readonly string[]): Promise<ReadonlySet<string>>
  /** Blobs that a volume knows, needed or not, in the order of their names, after the one named. */
  blobs(volume: string, after: string, limit: number): Promise<readonly BlobRef[]>
  /** Blobs that came to a volume since its move began, and that were not dropped from the list, in the order of names. */
  arrivals(volume: string, limit: number): Promise<readonly BlobRef[]>
  /** Needed blobs after a name, in the order of names. A page may end before its limit; `next` tells whether there is more. */
  storedBlobs(
    volume: string,
    after: string,
    limit: number,
  ): Promise<{ readonly blobs: readonly StoredBlob[]; readonly next?: string }>
  /** How a blob is stored that some row needs; nothing of others. */
  storedBlob(volume: string, blob: string): Promise<StoredBlob | undefined>
  /** How many needed blobs of all volumes have no checksum yet, as files of earlier releases; counted up to a million. */
  unverifiedBlobs(): Promise<number>
  /** Needed blobs with this digest and size, those with the last names first; or only those of one group. */
  twins(
    volume: string,
    of: { readonly digest: string; readonly sizeBytes: number; readonly group?: string },
    limit: number,
  ): Promise<readonly StoredBlob[]>

  /**
   * Entries of a log, newest first, in a turn of the event loop of its own. It ends before the limit when entries are long,
   * after one at the earliest: a walk is over with an empty one.
   */
  log(name: LogName, query: { readonly before?: number; readonly limit: number }): Promise<readonly LogEntry[]>

  /**
   * Values of operation counters: one map of names to totals for each row of a table. With `page`, of at most so many
   * rows after the one named, in order, and in a turn of the event loop of its own; or of the rows `named`.
   */
  counters(
    table: string,
    page?: { readonly after: string; readonly limit: number } | { readonly named: readonly string[] },
  ): Promise<ReadonlyMap<string, Readonly<Record<string, number>>>>

  /** Samples of one block of time, in the order of rows, after the row named; in a turn of the event loop of its own. */
  samples(step: number, block: number, after: string, limit: number): Promise<readonly SampleBlock[]>
  /** Samples of one row in the blocks named, where there are some. */
  samplesOf(step: number, row: string, blocks: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>>
  /** The last block of a step before this one that has samples of any row. */
  lastSamples(step: number, before: number): Promise<number | undefined>

  /** Lets go of connections and files. Commits already sent are settled first. */
  close(): Promise<void>
}

/**
 * One change within a commit. Uuids name volumes, buckets and snapshots.
 *
 * Refusals are named with each change; every change may also be refused `missing` when the volume, bucket or upload it
 * names is not there.
 */
export type Change =
  /** Of records. */
  | RecordsChange
  /** Of volumes, with their quotas, snapshots, restores, clones and moves. */
  | VolumeChange
  | { readonly do: 'open-bucket'; readonly bucket: string; readonly volume: string; readonly limitBytes: number }
  /** Refused `full` when the bucket holds more than the new limit. */
  | { readonly do: 'limit-bucket'; readonly bucket: string; readonly limitBytes: number }
  /** From now on new rows leave the others of their key (enabled), or replace the one with version 'null' (suspended). */
  | { readonly do: 'version-bucket'; readonly bucket: string; readonly state: 'enabled' | 'suspended' }
  /**
   * Refused `not-empty` while it holds rows or open uploads, or has snapshots of its own (with scope 'snapshot'). Rows that
   * snapshots of the volume hold stay with that.
   * Repeating it changes nothing.
   */
  | { readonly do: 'close-bucket'; readonly bucket: string }

  /**
   * Makes this the current object of the key. Refused `full` (with `scope` volume, bucket, or quota:tree, quota:user,
   * quota:group when a hard limit of one of these stands against it) when it does not fit,
   * `condition`/`absent` by its condition. Its blobs must be durable, and are owned by the index from here on; a blob
   * that is already known to the volume is shared. Refused `missing` with scope 'blob' when a blob was needed before and
   * is not any more: its file may be gone. A copy that names the blobs of another object says `shares`: then it is refused
   * `missing` unless all of them are needed at this moment, so that a copy of what was just deleted cannot come to be.
   * `tree` is where new blobs were written: refused `moved` when the volume is in another by now.
   *
   * While versioning is enabled the row is added with the draft's version, an id that the caller made: refused `missing`
   * with scope 'version' when that is 'null', `exists` with scope 'version' when a row of the key has it. Otherwise the
   * row gets version 'null' and replaces the one that has it, current or not: refused `locked` when that row is held,
   * or locked at `nowMs` (without it, however long ago that ended). The outcome tells the version.
   */
  | {
      readonly do: 'put-object'
      readonly bucket: string
      readonly key: Uint8Array
      readonly object: ObjectDraft
      readonly condition?: WriteCondition
      readonly shares?: boolean
      readonly tree?: string
      readonly nowMs?: number
    }
  /**
   * With `version`: removes exactly that row. Refused `locked` when it is held or locked at `nowMs` (as for `put-object`).
   *
   * Without, while versioning is off: removes the object. Enabled: adds a delete marker with the id of `marker`, also
   * when the key is not there. Suspended: adds a marker of version 'null', which replaces the row that has it (refused
   * `locked` as above). Refused `missing` with scope 'marker' when a marker is needed and not given.
   *
   * Removing what is not there is fine (outcome `found: false`), unless a condition says otherwise.
   */
  | {
      readonly do: 'delete-object'
      readonly bucket: string
      readonly key: Uint8Array
      readonly version?: string
      readonly marker?: MarkerDraft
      readonly condition?: DeleteCondition
      readonly nowMs?: number
      readonly bypassGovernance?: boolean
    }
  /**
   * Changes lock, hold or details of a row, of the current one without `version`, and makes no version of it. Snapshots
   * go on showing the row as it was. Refused `absent` when there is no such row, with scope 'marker' when it is a marker.
   *
   * A lock that has not ended at `nowMs` may only be extended in its mode; governance may be changed and removed with
   * `bypassGovernance`. Anything else is refused `locked`.
   */
  | {
      readonly do: 'amend-object'
      readonly bucket: string
      readonly key: Uint8Array
      readonly version?: string
      readonly nowMs: number
      /** `null` removes it. */
      readonly lock?: ObjectLock | null
      readonly legalHold?: boolean
      /** Details named here take the place of those the row has; `null` removes one. The owner stays who it is. */
      readonly details?: Fields
      readonly bypassGovernance?: boolean
    }
  | { readonly do: 'open-upload'; readonly bucket: string; readonly upload: UploadRow }
  /** A part of the same number is replaced. Refused `full`, or `too-large` when the parts would exceed `maxTotalBytes`. */
  | {
      readonly do: 'put-part'
      readonly bucket: string
      readonly upload: string
      readonly part: PartDraft
      readonly maxTotalBytes: number
      /** As for `put-object`. */
      readonly shares?: boolean
      readonly tree?: string
    }
  /**
   * Closes the upload and makes the object of the named parts; parts not named are let go. The object's blobs are those
   * of the parts. Refused `parts` when a part named is not there with that ETag any more. Versions are as for
   * `put-object`.
   */
  | {
      readonly do: 'complete-upload'
      readonly bucket: string
      readonly upload: string
      readonly parts: readonly { readonly number: number; readonly etag: string }[]
      readonly object: ObjectDraft
      readonly condition?: WriteCondition
      readonly nowMs?: number
    }
  | { readonly do: 'abort-upload'; readonly bucket: string; readonly upload: string }

  /**
   * Files of a tree whose blobs no volume of the tree knows: from now on these are unneeded, so no row may name them, and
   * files of uploads that are still under way cannot become those of objects. Those that are known are left. Refused
   * `moved` where the volume has another tree.
   */
  | { readonly do: 'give-up-blobs'; readonly volume: string; readonly tree: string; readonly blobs: readonly string[] }
  /** Forgets unneeded blobs whose files are gone. Those that are needed, or not known, are left. */
  | { readonly do: 'drop-blobs'; readonly volume: string; readonly blobs: readonly string[] }

  /**
   * These blobs, of the same bytes, have become one file of so many bytes. Of those that nothing needs any more nothing is
   * said. Refused `stale` unless all are named that shared a file with one of them before, `exists` when they are more
   * than `SHARING_BLOBS_MAX`.
   */
  | {
      readonly do: 'store-blobs'
      readonly volume: string
      readonly blobs: readonly string[]
      readonly storedBytes: number
    }
  /**
   * The blob, of the same bytes as its twin, has become the same file; who shared one with it before keeps that. Refused
   * `missing` with scope 'blob' when one of them is not needed, `full` with scope 'blob' when as many as
   * `SHARING_BLOBS_MAX` share that of the twin.
   */
  | { readonly do: 'share-blob'; readonly volume: string; readonly blob: string; readonly twin: string }
  /** Keeps what was found out about a blob. Of one that is not known nothing is kept. */
  | {
      readonly do: 'note-blob'
      readonly volume: string
      readonly blob: string
      readonly digest?: string
      readonly crc?: number
      readonly tried?: Tried
    }

  /** Adds an entry; the oldest beyond `keep` go. */
  | {
      readonly do: 'append-log'
      readonly log: LogName
      readonly timeMs: number
      readonly body: Fields
      readonly keep: number
    }
  /** Adds to operation counters. */
  | {
      readonly do: 'count'
      readonly table: string
      readonly row: string
      readonly add: Readonly<Record<string, number>>
    }
  /** Removes the rows of operation counters whose name is this or begins with this and ':'. */
  | { readonly do: 'drop-counters'; readonly table: string; readonly row: string }
  /**
   * Writes the samples that a row has in one block of time, in place of those it had. Steps tell series of samples apart:
   * the length of one sample. What the bytes mean is the caller's.
   */
  | {
      readonly do: 'put-samples'
      readonly step: number
      readonly block: number
      readonly row: string
      readonly body: Uint8Array
    }
  /** Lets go of at most `limit` entries of a step in blocks before this one. The outcome's `reclaimed` tells how many. */
  | { readonly do: 'drop-samples'; readonly step: number; readonly before: number; readonly limit: number }

/** A delete marker to be. The version does not matter while versioning is suspended: it becomes 'null'. */
export interface MarkerDraft {
  readonly version: string
  readonly modifiedMs: number
  readonly details?: Fields
}

/** What a change did, where there is something to tell. */
export interface Outcome {
  /** put-record: the revision it has now. */
  readonly revision?: number
  /** delete-object, remove-record, abort-upload: whether there was something (an object, or the row of the version). */
  readonly found?: boolean
  /** put-object, complete-upload: whether the key had an object before, be it kept as a version or not. */
  readonly replaced?: boolean
  /** put-object, complete-upload, amend-object: of the row; delete-object: of the row removed or the marker added. */
  readonly version?: string
  /** delete-object: with `version`, whether the row removed was a marker; without, `true` when a marker was added. */
  readonly marker?: boolean
  /** take-snapshot: the epoch it shows. */
  readonly epoch?: number
  /** reclaim, drop-samples: rows let go. Of drop-samples less than the limit means that none is left. */
  readonly reclaimed?: number
  /** give-up-blobs: those that nobody knew. */
  readonly blobs?: readonly string[]
  /** restore-rows, restore-range: rows looked at. */
  readonly restored?: number
  /** restore-rows, clone-rows: where the next batch begins. restore-range: what it is at. reclaim: there may be more. */
  readonly next?: string
}

export type RefusalReason =
  /** The disk of the catalog is full, and the commit needs space there. Those that free space are taken. */
  | 'no-space'
  /** The volume, or the key, is being taken back to a snapshot. */
  | 'restoring'
  /** The volume is one that only replication changes. */
  | 'read-only'
  /** The volume is in another tree than the one that new blobs were written to. */
  | 'moved'
  | 'missing'
  | 'exists'
  | 'stale'
  | 'taken'
  | 'full'
  | 'not-empty'
  | 'condition'
  | 'absent'
  | 'locked'
  | 'too-large'
  | 'parts'

/** A change did not hold, so nothing of the commit was done. */
export class CommitRefused extends Error {
  readonly reason: RefusalReason
  /** Index of the change in the commit. */
  readonly change: number
  /** `taken`: the unique scope. `full`: 'volume', 'bucket' or 'quota:' and the type of the quota. `parts`: the part number. Others: as said with the change. */
  readonly scope: string

  constructor(reason: RefusalReason, change: number, scope = '') {
    super(`commit refused: ${reason}${scope === '' ? '' : ` (${scope})`}`)
    this.name = 'CommitRefused'
    this.reason = reason
    this.change = change
    this.scope = scope
  }
}

/** The writer cannot be reached or did not answer: whether the commit was done is unknown. */
export class CatalogUnavailable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CatalogUnavailable'
  }
}
