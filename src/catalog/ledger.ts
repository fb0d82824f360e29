/**
 * The writer's working copy of the sums: volumes, buckets, the revision and the sequence. Many commits of a batch change
 * the same few rows, so they are changed here and written once, before COMMIT, by `flush`. The writer is the only one
 * that writes, so the copy stays true between batches; after any rollback it must be thrown away with `forget`.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Versioning } from '../ports/catalog.ts'
import { isWithin } from './prefixes.ts'
import type { KeyBounds } from './prefixes.ts'
import { refuse } from './refusal.ts'
import { query, write } from './statements.ts'
import type { Value } from './statements.ts'

/** Revisions that the change feed reaches back. */
export const FEED_REVISIONS = 10_000

export interface VolumeSums {
  readonly id: number
  readonly uuid: string
  readonly tree: string
  /** 1: blobs that come to it are noted, because it is being moved. */
  readonly moving: number
  sizeBytes: number
  reserveBytes: number
  usedBytes: number
  snapshotBytes: number
  /** Nothing: it has become the owner of what it had from its parent. */
  inheritedBytes: number | null
  savedByCompressionBytes: number
  savedByDedupeBytes: number
  epoch: number
  /** The epoch of the newest snapshot of all of it, or 0. */
  lastSnapshotEpoch: number
  /** The epoch of the snapshot it is being taken back to, or 0. */
  restoring: number
  /** How often that has moved rows: readers of several turns begin again. */
  moves: number
  /** 1: only replication changes what it holds. */
  readOnly: number
}

export interface BucketSums {
  readonly id: number
  readonly uuid: string
  readonly volume: VolumeSums
  limitBytes: number
  usedBytes: number
  objects: number
  /** Rows that are not current, and delete markers. */
  versions: number
  versioning: Versioning
  /** The epoch of the newest snapshot of it alone, or 0. Not kept with it: found when it is read. */
  lastSnapshotEpoch: number
  /** Keys that are being taken back to a snapshot. */
  restoring: KeyBounds | undefined
}

type BucketColumns = Omit<BucketSums, 'volume' | 'restoring'> & {
  readonly volumeUuid: string
  readonly start: Uint8Array | null
  readonly until: Uint8Array | null
}

/** More are not kept between batches. */
const KEPT_MAX = 10_000

export type Write = (...values: Value[]) => number

/** Other sums that are changed in memory and written once, with those of the ledger. */
export interface JoinedSums {
  flush(): void
  forget(): void
}

export class Ledger {
  readonly #db: DatabaseSync
  readonly #volumes = new Map<string, VolumeSums>()
  readonly #buckets = new Map<string, BucketSums>()
  readonly #changedVolumes = new Set<VolumeSums>()
  readonly #changedBuckets = new Set<BucketSums>()
  readonly #joined: JoinedSums[] = []
  readonly #findVolume
  readonly #findBucket
  readonly #findState
  readonly #saveVolume
  readonly #saveBucket
  readonly #saveState
  readonly #feed
  readonly #trim
  #state: { revision: number; seq: number } | undefined
  #stateChanged = false
  #writes = 0
  /** The volume that the commit which is being applied replicates into. */
  replicated: string | undefined

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#findVolume = query<VolumeSums>(
      db,
      `SELECT id, uuid, tree, size AS sizeBytes, reserve AS reserveBytes, used AS usedBytes,
         snapshot_bytes AS snapshotBytes, inherited AS inheritedBytes, epoch, last_snapshot_epoch AS lastSnapshotEpoch,
         restoring, moves, moving, read_only AS readOnly, saved_by_compression AS savedByCompressionBytes,
         saved_by_dedupe AS savedByDedupeBytes FROM volumes WHERE uuid = ?`,
    )
    this.#findBucket = query<BucketColumns>(
      db,
      `SELECT b.id, b.uuid, v.uuid AS volumeUuid, b.size_limit AS limitBytes, b.used AS usedBytes, b.objects,
           b.versions, b.versioning, r.start, r.until, coalesce((SELECT max(s.epoch) FROM snapshots s
             WHERE s.volume = b.volume AND s.bucket = b.id), 0) AS lastSnapshotEpoch
         FROM buckets b JOIN volumes v ON v.id = b.volume LEFT JOIN restores r ON r.bucket = b.id
         WHERE b.uuid = ? AND b.closed = 0`,
    )
    this.#findState = query<{ revision: number; seq: number }>(db, 'SELECT revision, seq FROM state')
    this.#saveVolume = write(
      db,
      `UPDATE volumes SET size = ?, used = ?, snapshot_bytes = ?, epoch = ?, last_snapshot_epoch = ?, restoring = ?,
         moves = ?, inherited = ?, reserve = ?, read_only = ?, saved_by_compression = ?, saved_by_dedupe = ?,
         changed = ? WHERE id = ?`,
    )
    this.#saveBucket = write(
      db,
      'UPDATE buckets SET size_limit = ?, used = ?, objects = ?, versions = ?, versioning = ? WHERE id = ?',
    )
    this.#saveState = write(db, 'UPDATE state SET revision = ?, seq = ?')
    this.#feed = write(db, 'INSERT INTO changes (revision, type, key) VALUES (?, ?, ?)')
    this.#trim = write(db, 'DELETE FROM changes WHERE revision <= ?')
  }

  /** Changes made so far, in rows and in sums. A refusal that finds it unmoved has left nothing to undo. */
  get writes(): number {
    return this.#writes
  }

  /** Has other sums written and forgotten at the same moments. Who changes them says so with `note`. */
  join(sums: JoinedSums): void {
    this.#joined.push(sums)
  }

  /** Something was changed that did not go through the ledger. */
  note(): void {
    this.#writes++
  }

  /** A statement that changes rows. Every change must go through here or `change…`, so that it is noticed. */
  write(sql: string): Write {
    const run = write(this.#db, sql)
    return (...values) => {
      this.#writes++
      return run(...values)
    }
  }

  findVolume(uuid: string): VolumeSums | undefined {
    let volume = this.#volumes.get(uuid)
    if (volume === undefined) {
      volume = this.#findVolume.get(uuid)
      if (volume !== undefined) this.#volumes.set(uuid, volume)
    }
    return volume
  }

  volume(uuid: string): VolumeSums {
    return this.findVolume(uuid) ?? refuse('missing', 'volume')
  }

  findBucket(uuid: string): BucketSums | undefined {
    const kept = this.#buckets.get(uuid)
    if (kept !== undefined) return kept
    const row = this.#findBucket.get(uuid)
    if (row === undefined) return undefined
    const { volumeUuid, start, until, ...sums } = row
    const restoring = start === null || until === null ? undefined : { start, until }
    const bucket = { ...sums, restoring, volume: this.volume(volumeUuid) }
    this.#buckets.set(uuid, bucket)
    return bucket
  }

  /** A bucket to be changed, in what it has of a key or otherwise. */
  bucket(uuid: string, key?: Uint8Array): BucketSums {
    const bucket = this.findBucket(uuid) ?? refuse('missing', 'bucket')
    this.insistOnWritable(bucket.volume)
    if (bucket.volume.restoring !== 0) refuse('restoring')
    if (key !== undefined) checkWritable(bucket, key)
    return bucket
  }

  /** Refused for a volume that only replication changes, unless the commit is one of replication. */
  insistOnWritable(volume: VolumeSums): void {
    if (volume.readOnly !== 0 && volume.uuid !== this.replicated) refuse('read-only')
  }

  changeVolume(volume: VolumeSums, change: Partial<VolumeSums>): void {
    Object.assign(volume, change)
    this.#changedVolumes.add(volume)
    this.#writes++
  }

  changeBucket(bucket: BucketSums, change: Partial<BucketSums>): void {
    Object.assign(bucket, change)
    this.#changedBuckets.add(bucket)
    this.#writes++
  }

  /** To be called when the rows of these are about to go. */
  release(sums: VolumeSums | BucketSums): void {
    if ('volume' in sums) {
      this.#buckets.delete(sums.uuid)
      this.#changedBuckets.delete(sums)
    } else {
      this.#volumes.delete(sums.uuid)
      this.#changedVolumes.delete(sums)
    }
    this.#writes++
  }

  get revision(): number {
    return this.#current().revision
  }

  /** Puts a change into the feed. Gives its revision. */
  noteChange(type: string, key: string): number {
    this.#stateChanged = true
    this.#writes++
    const revision = ++this.#current().revision
    this.#feed(revision, type, key)
    if (revision > FEED_REVISIONS) this.#trim(revision - FEED_REVISIONS)
    return revision
  }

  nextSeq(): number {
    this.#stateChanged = true
    this.#writes++
    return ++this.#current().seq
  }

  /** Changes of records and objects that the catalog has seen, ever. */
  get changes(): number {
    const { revision, seq } = this.#current()
    return revision + seq
  }

  #current(): { revision: number; seq: number } {
    this.#state ??= this.#findState.get()
    if (this.#state === undefined) throw new Error('The catalog has lost its state row. Restore it from a backup.')
    return this.#state
  }

  /** Writes what changed into the open transaction. */
  flush(): void {
    for (const v of this.#changedVolumes) {
      const sums = [v.sizeBytes, v.usedBytes, v.snapshotBytes, v.epoch, v.lastSnapshotEpoch, v.restoring, v.moves]
      const more = [v.inheritedBytes, v.reserveBytes, v.readOnly, v.savedByCompressionBytes, v.savedByDedupeBytes]
      this.#saveVolume(...sums, ...more, this.nextSeq(), v.id)
    }
    for (const b of this.#changedBuckets) {
      this.#saveBucket(b.limitBytes, b.usedBytes, b.objects, b.versions, b.versioning, b.id)
    }
    for (const sums of this.#joined) sums.flush()
    if (this.#stateChanged) this.#saveState(this.#current().revision, this.#current().seq)
    this.#changedVolumes.clear()
    this.#changedBuckets.clear()
    this.#stateChanged = false
    if (this.#volumes.size + this.#buckets.size > KEPT_MAX) this.forget()
  }

  /** After a rollback: everything is read again. */
  forget(): void {
    this.#volumes.clear()
    this.#buckets.clear()
    this.#changedVolumes.clear()
    this.#changedBuckets.clear()
    for (const sums of this.#joined) sums.forget()
    this.#state = undefined
    this.#stateChanged = false
  }
}

export function checkWritable({ restoring }: BucketSums, key: Uint8Array): void {
  if (restoring !== undefined && isWithin(restoring, key)) refuse('restoring')
}
