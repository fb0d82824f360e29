/**
 * Snapshots, and what becomes of rows that only a dropped one saw.
 *
 * A row of the history lived through the epochs born .. died - 1 without a gap. So when the snapshot of epoch E is
 * dropped, and `prev` and `next` are the epochs of the neighbours that are still there, the rows that saw E and that
 * nothing sees any more are those with prev < born and E < died <= next. Every row with such a birth and death is free,
 * whichever snapshots were dropped before: no snapshot is left between prev and next.
 *
 * Buckets may have snapshots of their own, which see nothing of the others. Neighbours of one of these are also those of
 * the volume, and its rows are those of the bucket. A row that no snapshot of the volume sees any more may still be seen
 * by one of its bucket, which is asked for each row; then it stays, until the last of these leads to it.
 *
 *     volume   ──── 3 ──────────── 8 ────     5 is dropped: prev 3, next 8, all buckets; b's rows that 6 sees stay
 *     bucket b ───────── (5) ─ 6 ────────     6 is dropped: prev 3, next 8, rows of b
 *
 * A dropped epoch stays in `dropped_epochs` until its rows were looked at, with the place of the last one. A row becomes
 * free when the last snapshot that saw it is dropped, and that epoch leads to it; so any order of drops, and a crash
 * between any two batches, end well.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { BlobChanges } from '../blobs.ts'
import type { Ledger, VolumeSums } from '../ledger.ts'
import { refuse } from '../refusal.ts'
import { readBlobs } from '../rows.ts'
import { query } from '../statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

interface DeadRow {
  readonly id: number
  readonly bucket: number
  readonly born: number
  readonly blobs: string
}

interface Dropped {
  readonly epoch: number
  /** Of which alone it was, or 0. */
  readonly bucket: number
  /** The last row that was looked at. */
  readonly died: number
  readonly born: number
  readonly id: number
}

/** What a batch may still do. */
interface Budget {
  rows: number
  looks: number
}

/** To look at a row costs so much less than to remove it. */
const LOOKED = 10

interface Epoch {
  readonly epoch: number | null
}

export function snapshotChanges(db: DatabaseSync, ledger: Ledger, blobs: BlobChanges) {
  const find = query<{ epoch: number; bucket: number }>(
    db,
    'SELECT epoch, bucket FROM snapshots WHERE volume = ? AND uuid = ?',
  )
  const ofThese = 'FROM snapshots WHERE volume = ? AND bucket = ?'
  const newest = query<Epoch>(db, `SELECT max(epoch) AS epoch ${ofThese}`)
  const previous = query<Epoch>(db, `SELECT max(epoch) AS epoch ${ofThese} AND epoch < ?`)
  const next = query<Epoch>(db, `SELECT min(epoch) AS epoch ${ofThese} AND epoch > ?`)
  const uuidOf = query<{ uuid: string }>(db, 'SELECT uuid FROM buckets WHERE id = ?')
  const amid = query<{ bucket: number }>(db, 'SELECT bucket FROM restores WHERE volume = ? LIMIT 1')
  const amidTo = query<{ bucket: number }>(db, 'SELECT bucket FROM restores WHERE volume = ? AND epoch = ? LIMIT 1')
  const insert = ledger.write('INSERT INTO snapshots (volume, epoch, uuid, created, bucket) VALUES (?, ?, ?, ?, ?)')
  const remove = ledger.write('DELETE FROM snapshots WHERE volume = ? AND epoch = ?')
  const sumsOf = `INSERT INTO snapshot_buckets (volume, epoch, bucket, used, objects, versions)
    SELECT volume, ?1, id, used - coalesce((SELECT sum(u.bytes) FROM uploads u WHERE u.bucket = b.id), 0), objects,
        versions
      FROM buckets b`
  const keepSums = ledger.write(`${sumsOf} WHERE volume = ?2 AND closed = 0`)
  const keepSumsOfBucket = ledger.write(`${sumsOf} WHERE id = ?2`)
  const forgetRecords = ledger.write(
    'DELETE FROM record_history WHERE volume = ? AND died > ? AND died <= ? AND born > ?',
  )
  const forgetSums = ledger.write('DELETE FROM snapshot_buckets WHERE volume = ? AND epoch = ?')
  const noteDropped = ledger.write('INSERT INTO dropped_epochs (volume, epoch, bucket) VALUES (?, ?, ?)')
  const oldestDropped = query<Dropped>(
    db,
    'SELECT epoch, bucket, died, born, id FROM dropped_epochs WHERE volume = ? ORDER BY epoch LIMIT 1',
  )
  const noteLooked = ledger.write('UPDATE dropped_epochs SET died = ?, born = ?, id = ? WHERE volume = ? AND epoch = ?')
  const forgetDropped = ledger.write('DELETE FROM dropped_epochs WHERE volume = ? AND epoch = ?')
  const nextDeath = query<Epoch>(
    db,
    'SELECT min(died) AS epoch FROM object_history WHERE volume = ? AND died > ? AND died <= ?',
  )
  const dead = query<DeadRow>(
    db,
    `SELECT id, bucket, born, blobs FROM object_history
       WHERE volume = ? AND died = ? AND (born, id) > (?, ?) ORDER BY born, id LIMIT ? + 0`,
  )
  const removeRow = ledger.write('DELETE FROM object_history WHERE id = ?')
  const removeSpentBucket = ledger.write(
    `DELETE FROM buckets WHERE id = ?1 AND closed = 1
       AND NOT EXISTS (SELECT 1 FROM object_history WHERE bucket = ?1)`,
  )

  /** The neighbour of an epoch among the snapshots of the volume, and of the bucket where it is of one. */
  function neighbour(volume: VolumeSums, { epoch, bucket }: Dropped, side: typeof next): number[] {
    const found = [
      side.get(volume.id, 0, epoch)?.epoch,
      bucket === 0 ? null : side.get(volume.id, bucket, epoch)?.epoch,
    ]
    return found.filter((one) => typeof one === 'number')
  }

  /** Whether nothing sees a row that no other snapshot between the neighbours does. */
  function isFree(volume: VolumeSums, dropped: Dropped, row: DeadRow, died: number): boolean {
    if (dropped.bucket !== 0) return row.bucket === dropped.bucket
    const seenBy = previous.get(volume.id, row.bucket, died)?.epoch ?? 0
    return seenBy < row.born
  }

  /** Lets go of rows freed by the end of one epoch. Gives where to go on; nothing when that was all. */
  function reclaimEpoch(volume: VolumeSums, dropped: Dropped, budget: Budget): Dropped | undefined {
    const { epoch } = dropped
    const born = Math.max(0, ...neighbour(volume, dropped, previous))
    const until = Math.min(volume.epoch, ...neighbour(volume, dropped, next))
    const touched = new Set<number>()
    let at: Dropped | undefined = dropped
    if (at.died === 0) at = firstOf(epoch)
    while (at !== undefined && budget.rows > 0 && budget.looks > 0) {
      const wanted = Math.min(budget.rows, budget.looks)
      const rows = dead.all(volume.id, at.died, at.born, at.id, wanted)
      budget.looks -= rows.length + 1
      for (const row of rows) {
        if (!isFree(volume, dropped, row, at.died)) continue
        blobs.release(volume, readBlobs(row.blobs), 'history')
        removeRow(row.id)
        touched.add(row.bucket)
        budget.rows--
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < wanted) at = firstOf(at.died)
      else at = { ...at, born: last.born, id: last.id }
    }
    for (const bucket of touched) removeSpentBucket(bucket)
    return at

    /** Before the first of the rows that died next. */
    function firstOf(after: number): Dropped | undefined {
      const died = nextDeath.get(volume.id, after, until)?.epoch ?? null
      return died === null ? undefined : { ...dropped, died, born, id: Number.MAX_SAFE_INTEGER }
    }
  }

  return {
    take({ volume: uuid, bucket: of, snapshot, nowMs }: Of<'take-snapshot'>): Outcome {
      const volume = ledger.volume(uuid)
      const bucket = of === undefined ? undefined : ledger.bucket(of)
      if (bucket !== undefined && bucket.volume !== volume) refuse('missing', 'bucket')
      if (find.get(volume.id, snapshot) !== undefined) refuse('exists')
      if (volume.restoring !== 0 || amid.get(volume.id) !== undefined) refuse('restoring')
      ledger.insistOnWritable(volume)
      const { epoch } = volume
      insert(volume.id, epoch, snapshot, nowMs, bucket?.id ?? 0)
      // The sums of this moment are those of the ledger.
      ledger.flush()
      if (bucket === undefined) {
        keepSums(epoch, volume.id)
        ledger.changeVolume(volume, { epoch: epoch + 1, lastSnapshotEpoch: epoch })
      } else {
        keepSumsOfBucket(epoch, bucket.id)
        ledger.changeVolume(volume, { epoch: epoch + 1 })
        ledger.changeBucket(bucket, { lastSnapshotEpoch: epoch })
      }
      return { epoch }
    },

    drop({ volume: uuid, snapshot }: Of<'drop-snapshot'>): Outcome {
      const volume = ledger.volume(uuid)
      const row = find.get(volume.id, snapshot)
      if (row === undefined) return { found: false }
      if (volume.restoring !== 0 || amidTo.get(volume.id, row.epoch) !== undefined) refuse('restoring')
      ledger.insistOnWritable(volume)
      remove(volume.id, row.epoch)
      forgetSums(volume.id, row.epoch)
      noteDropped(volume.id, row.epoch, row.bucket)
      if (row.bucket === 0) {
        const before = previous.get(volume.id, 0, row.epoch)?.epoch ?? 0
        const behind = next.get(volume.id, 0, row.epoch)?.epoch ?? volume.epoch
        forgetRecords(volume.id, row.epoch, behind, before)
      }
      const lastSnapshotEpoch = newest.get(volume.id, row.bucket)?.epoch ?? 0
      if (row.bucket === 0) ledger.changeVolume(volume, { lastSnapshotEpoch })
      else {
        const bucket = ledger.findBucket(uuidOf.get(row.bucket)?.uuid ?? '')
        if (bucket !== undefined) ledger.changeBucket(bucket, { lastSnapshotEpoch })
      }
      return { found: true }
    },

    reclaim({ volume: uuid, limit }: Of<'reclaim'>): Outcome {
      const volume = ledger.volume(uuid)
      const budget = { rows: limit, looks: limit * LOOKED }
      for (;;) {
        const dropped = oldestDropped.get(volume.id)
        const reclaimed = limit - budget.rows
        if (dropped === undefined) return { reclaimed }
        if (budget.rows <= 0 || budget.looks <= 0) return { reclaimed, next: String(dropped.epoch) }
        const at = reclaimEpoch(volume, dropped, budget)
        if (at === undefined) forgetDropped(volume.id, dropped.epoch)
        else noteLooked(at.died, at.born, at.id, volume.id, dropped.epoch)
      }
    },
  }
}
