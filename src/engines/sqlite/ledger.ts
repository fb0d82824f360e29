/**
 * The writer's working copy of the sums: volumes, buckets, the revision and the sequence. Many commits of a batch change
 * the same few rows, so they are changed here and written once, before COMMIT, by `flush`. The writer is the only one
 * that writes, so the copy stays true between batches; after any rollback it must be thrown away with `forget`.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Versioning } from '../../ports/catalog.ts'
import { refuse } from './refusal.ts'
import { query } from './statements.ts'
import type { Value } from './statements.ts'

export interface VolumeSums {
  readonly id: number
  readonly uuid: string
  sizeBytes: number
  usedBytes: number
  snapshotBytes: number
  savedByCompressionBytes: number
  savedByDedupeBytes: number
  epoch: number
  /** The epoch of the newest snapshot that is there, or 0. */
  lastSnapshotEpoch: number
  /** The epoch of the snapshot it is being taken back to, or 0. */
  restoring: number
  /** How often that has moved rows: readers of several turns begin again. */
  moves: number
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
}

/** More are not kept between batches. */
const KEPT_MAX = 10_000

export type Write = (...values: Value[]) => number

export class Ledger {
  readonly #db: DatabaseSync
  readonly #volumes = new Map<string, VolumeSums>()
  readonly #buckets = new Map<string, BucketSums>()
  readonly #changedVolumes = new Set<VolumeSums>()
  readonly #changedBuckets = new Set<BucketSums>()
  readonly #findVolume
  readonly #findBucket
  readonly #findState
  readonly #saveVolume
  readonly #saveBucket
  readonly #saveState
  #state: { revision: number; seq: number } | undefined
  #stateChanged = false
  #writes = 0

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#findVolume = query<VolumeSums>(
      db,
      `SELECT id, uuid, size AS sizeBytes, used AS usedBytes, snapshot_bytes AS snapshotBytes, epoch,
         last_snapshot_epoch AS lastSnapshotEpoch, restoring, moves, saved_by_compression AS savedByCompressionBytes,
         saved_by_dedupe AS savedByDedupeBytes FROM volumes WHERE uuid = ?`,
    )
    this.#findBucket = query<BucketSums & { volumeUuid: string }>(
      db,
      `SELECT b.id, b.uuid, v.uuid AS volumeUuid, b.size_limit AS limitBytes, b.used AS usedBytes, b.objects,
           b.versions, b.versioning
         FROM buckets b JOIN volumes v ON v.id = b.volume WHERE b.uuid = ? AND b.closed = 0`,
    )
    this.#findState = query<{ revision: number; seq: number }>(db, 'SELECT revision, seq FROM state')
    this.#saveVolume = db.prepare(
      `UPDATE volumes SET size = ?, used = ?, snapshot_bytes = ?, epoch = ?, last_snapshot_epoch = ?, restoring = ?,
         moves = ?, saved_by_compression = ?, saved_by_dedupe = ? WHERE id = ?`,
    )
    this.#saveBucket = db.prepare(
      'UPDATE buckets SET size_limit = ?, used = ?, objects = ?, versions = ?, versioning = ? WHERE id = ?',
    )
    this.#saveState = db.prepare('UPDATE state SET revision = ?, seq = ?')
  }

  /** Changes made so far, in rows and in sums. A refusal that finds it unmoved has left nothing to undo. */
  get writes(): number {
    return this.#writes
  }

  /** Prepares a statement that changes rows. Every change must go through here or `change…`, so that it is noticed. */
  write(sql: string): Write {
    const statement = this.#db.prepare(sql)
    return (...values) => {
      this.#writes++
      return Number(statement.run(...values).changes)
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
    const { volumeUuid, ...sums } = row
    const bucket = { ...sums, volume: this.volume(volumeUuid) }
    this.#buckets.set(uuid, bucket)
    return bucket
  }

  /** A bucket to be changed. */
  bucket(uuid: string): BucketSums {
    const bucket = this.findBucket(uuid) ?? refuse('missing', 'bucket')
    if (bucket.volume.restoring !== 0) refuse('restoring')
    return bucket
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

  nextRevision(): number {
    this.#stateChanged = true
    this.#writes++
    return ++this.#current().revision
  }

  nextSeq(): number {
    this.#stateChanged = true
    this.#writes++
    return ++this.#current().seq
  }

  #current(): { revision: number; seq: number } {
    this.#state ??= this.#findState.get()
    if (this.#state === undefined) throw new Error('The catalog has lost its state row. Restore it from a backup.')
    return this.#state
  }

  /** Writes what changed into the open transaction. */
  flush(): void {
    for (const v of this.#changedVolumes) {
      const { sizeBytes, usedBytes, snapshotBytes, epoch, lastSnapshotEpoch, restoring, moves } = v
      const saved = [v.savedByCompressionBytes, v.savedByDedupeBytes]
      const places = [epoch, lastSnapshotEpoch, restoring, moves]
      this.#saveVolume.run(sizeBytes, usedBytes, snapshotBytes, ...places, ...saved, v.id)
    }
    for (const b of this.#changedBuckets) {
      this.#saveBucket.run(b.limitBytes, b.usedBytes, b.objects, b.versions, b.versioning, b.id)
    }
    if (this.#stateChanged) this.#saveState.run(this.#current().revision, this.#current().seq)
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
    this.#state = undefined
    this.#stateChanged = false
  }
}
