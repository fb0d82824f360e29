/** Changes of volumes: their sums and places, quotas, snapshots, restores, clones and moves. */
import type { KeyRange, QuotaLimits, QuotaTarget } from './rows.ts'

/** One of the changes of a commit, as `Change` in `catalog.ts`. */
export type VolumeChange =
  /**
   * Opens a volume's counters. Repeating it changes nothing. `tree` is what holds the files of its blobs, its own name
   * unless said. Volumes that share a tree share its blobs: one is needed as long as any of them needs it.
   */
  | { readonly do: 'open-volume'; readonly volume: string; readonly sizeBytes: number; readonly tree?: string }
  /**
   * Says in which aggregate a volume lies, and whether its whole size is promised to it there: from here on the sums of
   * aggregates count it so. To be repeated when either changes. Refused `full` with scope 'aggregate' when the sizes of the
   * volumes there add up to more than 2^62 already, so that no sum passes 64 bits.
   */
  | { readonly do: 'place-volume'; readonly volume: string; readonly aggregate: string; readonly isGuaranteed: boolean }
  /**
   * Refused `full` when what the volume holds does not fit into the new size. The reserve, as it was unless said and
   * 0 at first, is the part of the size that objects do not get: only what snapshots alone hold counts against it. A
   * volume that grows is refused as `place-volume` refuses one that comes.
   */
  | {
      readonly do: 'resize-volume'
      readonly volume: string
      readonly sizeBytes: number
      readonly reserveBytes?: number
    }
  /**
   * From now on what the volume holds (objects, uploads, buckets, snapshots) is refused changes as `read-only`, or takes
   * them again. Its size may change, and it may be closed. Refused `restoring` while it is taken back to a snapshot.
   */
  | { readonly do: 'protect-volume'; readonly volume: string; readonly isReadOnly: boolean }
  /**
   * Changes that follow in this commit are not refused `read-only` by this volume. For replication, which is the only
   * one that may change what it is the destination of.
   */
  | { readonly do: 'replicate-into'; readonly volume: string }
  /**
   * Forgets all rows of a volume. Refused `not-empty` while it has buckets, unless these may go with it. What only it
   * needed of a tree that it shares becomes unneeded. Repeating it changes nothing.
   */
  | { readonly do: 'close-volume'; readonly volume: string; readonly withBuckets?: boolean }

  /**
   * Gives a target limits of its own, in place of the default ones; `null` takes them away. They hold from this commit on,
   * also where more is held already: then nothing more fits.
   */
  | {
      readonly do: 'set-quota'
      readonly volume: string
      readonly quota: QuotaTarget
      readonly limits: QuotaLimits | null
    }
  /** No target of the volume has limits any more. */
  | { readonly do: 'clear-quotas'; readonly volume: string }

  /** Constant time at any number of objects. With `bucket`, of that alone. Refused `exists` when the uuid is there. */
  | {
      readonly do: 'take-snapshot'
      readonly volume: string
      readonly bucket?: string
      readonly snapshot: string
      readonly nowMs: number
    }
  /** Constant time: the rows only it held are let go by `reclaim`. Repeating it changes nothing. */
  | { readonly do: 'drop-snapshot'; readonly volume: string; readonly snapshot: string }
  /**
   * Takes a volume back to a snapshot of all of it. From here on it is read as the snapshot shows it, and refuses changes `restoring`;
   * newer snapshots are gone, also those of buckets. `restore-rows` moves a batch of rows; `finish-restore` lets changes in again, with the sums
   * as they were (refused `not-empty` while rows are left). Each may be repeated. Open uploads stay; buckets made since are
   * empty. Refused `missing` with scope 'snapshot' when it is not there.
   */
  | { readonly do: 'begin-restore'; readonly volume: string; readonly snapshot: string }
  /** The outcome's `next` is the `after` of the next batch; without one there is none. */
  | { readonly do: 'restore-rows'; readonly volume: string; readonly after?: string; readonly limit: number }
  | { readonly do: 'finish-restore'; readonly volume: string }
  /**
   * Gives an empty bucket of a clone the rows that a bucket of the volume whose tree it shares has in a snapshot: at most
   * `limit` of them, from `after` on. They keep versions and order, and have no locks. Without `next` in the outcome all
   * are there, and the sums with them. Repeating it from an earlier place changes nothing. Refused `missing` with scope
   * 'from' when that bucket is gone: it goes for good once no snapshot shows rows of it.
   */
  | {
      readonly do: 'clone-rows'
      readonly bucket: string
      readonly from: string
      readonly snapshot: string
      readonly after?: string
      readonly limit: number
    }
  /**
   * What a clone has from its parent counts as its own from here on. Needed before the parent may let go of what the clone
   * began with, is closed, or moves: else nobody would count it. They go on sharing files.
   * Repeating it changes nothing, nor does it where the volume is gone.
   */
  | { readonly do: 'count-as-own'; readonly volume: string }
  /**
   * Moves a volume to another tree, whose files somebody else sees to. From `begin-move` on, blobs that come to the volume
   * are noted as its `arrivals`, so that who copies meets each blob in `blobs` or there. `move-volume` says where all its
   * blobs are from now on; no more are noted then. `drop-arrivals` forgets those that were copied, `end-move` all of them.
   * Each may be repeated.
   */
  | { readonly do: 'begin-move'; readonly volume: string }
  | { readonly do: 'move-volume'; readonly volume: string; readonly tree: string }
  | { readonly do: 'drop-arrivals'; readonly volume: string; readonly blobs: readonly string[] }
  | { readonly do: 'end-move'; readonly volume: string }
  /**
   * Takes keys of a bucket back to a snapshot of it or of its volume, and leaves newer snapshots as they are. From here on these
   * keys are not written, no snapshot of the volume is taken, and that one not dropped: all refused `restoring`.
   *
   * `restore-range` first looks at the rows, batch by batch, which changes nothing: refused `locked` when a row would go
   * that is held, or locked at `nowMs`, and the snapshot does not have it held as much; `full` when the bucket would have
   * more than its limit. Then, from one commit on, the keys and the sums of the bucket are read as the snapshot shows them,
   * and the rows move. `finish-range-restore` lets changes in again (refused `not-empty` before the last row has moved),
   * `abandon-range-restore` gives up what has only looked so far (refused `restoring` later). How far it is, is in the
   * catalog: each may be repeated, and all may be in one commit. Open uploads stay.
   *
   * Refused `missing` with scope 'snapshot' when it is not there, `restoring` when the bucket is amid another one.
   */
  | {
      readonly do: 'begin-range-restore'
      readonly bucket: string
      readonly snapshot: string
      readonly range: KeyRange
      readonly nowMs: number
    }
  /** Moves at most so many rows, or looks at some times as many. The outcome has `next` while there is more to do. */
  | { readonly do: 'restore-range'; readonly bucket: string; readonly limit: number }
  | { readonly do: 'finish-range-restore'; readonly bucket: string }
  | { readonly do: 'abandon-range-restore'; readonly bucket: string }
  /**
   * Lets go of at most `limit` rows of the history that no snapshot sees, and looks at some times as many. The outcome
   * tells how many went, and with `next` that there may be more.
   */
  | { readonly do: 'reclaim'; readonly volume: string; readonly limit: number }
