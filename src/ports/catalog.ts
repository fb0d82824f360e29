import type { Records } from './catalog/records.ts'
import type { ObjectIndex } from './catalog/objects.ts'
import type { VolumeIndex } from './catalog/volumes.ts'
import type { BlobIndex } from './catalog/blobs.ts'
import type { Telemetry } from './catalog/telemetry.ts'
import type { RecordsChange } from './catalog/record-changes.ts'
import type { VolumeChange } from './catalog/volume-changes.ts'
import type {
  DeleteCondition,
  Fields,
  LogName,
  ObjectDraft,
  ObjectLock,
  PartDraft,
  Tried,
  UploadRow,
  WriteCondition,
} from './catalog/rows.ts'

export type { BlobIndex, ObjectIndex, Records, Telemetry, VolumeIndex }
export type * from './catalog/rows.ts'
export { SHARING_BLOBS_MAX } from './catalog/rows.ts'
export { PROMISES, TREES } from './catalog/record-changes.ts'

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
export interface Catalog extends Records, ObjectIndex, VolumeIndex, BlobIndex, Telemetry, Commits {
  /** Lets go of connections and files. Commits already sent are settled first. */
  close(): Promise<void>
}

/** The one way to change anything in the catalog. Whoever is given it beside an interface that reads may change the rest, too. */
export interface Commits {
  /** Applies all changes or none. Rejects with `CommitRefused` when one does not hold; other errors: outcome unknown. */
  commit(changes: readonly Change[]): Promise<readonly Outcome[]>
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
  /** Adds to operation counters. With `of`, nothing is added where that record is not there: it may have just gone. */
  | {
      readonly do: 'count'
      readonly of?: { readonly type: string; readonly key: string }
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
  /** put-record: the revision it has now. others that are in the feed: the last one there. */
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
