/**
 * Snapshots, and what becomes of rows that only a dropped one saw.
 *
 * A row of the history lived through the epochs born .. died - 1 without a gap. So when the snapshot of epoch E is
 * dropped, and `prev` and `next` are the epochs of the neighbours that are still there, the rows that saw E and that
 * nothing sees any more are those with prev < born and E < died <= next. Every row with such a birth and death is free,
 * whichever snapshots were dropped before: no snapshot is left between prev and next.
 *
 * A dropped epoch stays in `dropped_epochs` until nothing is found for it. A row becomes free when the last snapshot that
 * saw it is dropped, and that epoch leads to it; so any order of drops, and a crash between any two batches, end well.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { BlobChanges } from './blobs.ts'
import type { Ledger, VolumeSums } from './ledger.ts'
import { refuse } from './refusal.ts'
import { readBlobs } from './rows.ts'
import { query } from './statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

interface FreeRow {
  readonly id: number
  readonly bucket: number
  readonly blobs: string
}

interface Epoch {
  readonly epoch: number | null
}

export function snapshotChanges(db: DatabaseSync, ledger: Ledger, blobs: BlobChanges) {
  const find = query<{ epoch: number }>(db, 'SELECT epoch FROM snapshots WHERE volume = ? AND uuid = ?')
  const newest = query<Epoch>(db, 'SELECT max(epoch) AS epoch FROM snapshots WHERE volume = ?')
  const previous = query<Epoch>(db, 'SELECT max(epoch) AS epoch FROM snapshots WHERE volume = ? AND epoch < ?')
  const next = query<Epoch>(db, 'SELECT min(epoch) AS epoch FROM snapshots WHERE volume = ? AND epoch > ?')
  const amid = query<{ bucket: number }>(db, 'SELECT bucket FROM restores WHERE volume = ? LIMIT 1')
  const amidTo = query<{ bucket: number }>(db, 'SELECT bucket FROM restores WHERE volume = ? AND epoch = ? LIMIT 1')
  const insert = ledger.write('INSERT INTO snapshots (volume, epoch, uuid, created) VALUES (?, ?, ?, ?)')
  const remove = ledger.write('DELETE FROM snapshots WHERE volume = ? AND epoch = ?')
  const keepSums = ledger.write(
    `INSERT INTO snapshot_buckets (volume, epoch, bucket, used, objects, versions)
       SELECT volume, ?2, id, used - coalesce((SELECT sum(u.bytes) FROM uploads u WHERE u.bucket = b.id), 0), objects,
           versions
         FROM buckets b WHERE volume = ?1 AND closed = 0`,
  )
  const forgetSums = ledger.write('DELETE FROM snapshot_buckets WHERE volume = ? AND epoch = ?')
  const noteDropped = ledger.write('INSERT INTO dropped_epochs (volume, epoch) VALUES (?, ?)')
  const oldestDropped = query<Epoch>(db, 'SELECT min(epoch) AS epoch FROM dropped_epochs WHERE volume = ?')
  const forgetDropped = ledger.write('DELETE FROM dropped_epochs WHERE volume = ? AND epoch = ?')
  const nextDeath = query<Epoch>(
    db,
    'SELECT min(died) AS epoch FROM object_history WHERE volume = ? AND died > ? AND died <= ?',
  )
  const free = query<FreeRow>(
    db,
    'SELECT id, bucket, blobs FROM object_history WHERE volume = ? AND died = ? AND born > ? LIMIT ?',
  )
  const removeRow = ledger.write('DELETE FROM object_history WHERE id = ?')
  const removeSpentBucket = ledger.write(
    `DELETE FROM buckets WHERE id = ?1 AND closed = 1
       AND NOT EXISTS (SELECT 1 FROM object_history WHERE bucket = ?1)`,
  )

  /** Lets go of rows freed by the end of one epoch. Fewer than the limit: these were all. */
  function reclaimEpoch(volume: VolumeSums, epoch: number, limit: number): number {
    const prev = previous.get(volume.id, epoch)?.epoch ?? 0
    const until = next.get(volume.id, epoch)?.epoch ?? volume.epoch
    const touched = new Set<number>()
    let reclaimed = 0
    let died = nextDeath.get(volume.id, epoch, until)?.epoch ?? null
    while (died !== null && reclaimed < limit) {
      const rows = free.all(volume.id, died, prev, limit - reclaimed)
      for (const row of rows) {
        blobs.release(volume, readBlobs(row.blobs), 'history')
        removeRow(row.id)
        touched.add(row.bucket)
      }
      reclaimed += rows.length
      died = nextDeath.get(volume.id, died, until)?.epoch ?? null
    }
    for (const bucket of touched) removeSpentBucket(bucket)
    return reclaimed
  }

  return {
    take({ volume: uuid, snapshot, nowMs }: Of<'take-snapshot'>): Outcome {
      const volume = ledger.volume(uuid)
      if (find.get(volume.id, snapshot) !== undefined) refuse('exists')
      if (volume.restoring !== 0 || amid.get(volume.id) !== undefined) refuse('restoring')
      const { epoch } = volume
      insert(volume.id, epoch, snapshot, nowMs)
      // The sums of this moment are those of the ledger.
      ledger.flush()
      keepSums(volume.id, epoch)
      ledger.changeVolume(volume, { epoch: epoch + 1, lastSnapshotEpoch: epoch })
      return { epoch }
    },

    drop({ volume: uuid, snapshot }: Of<'drop-snapshot'>): Outcome {
      const volume = ledger.volume(uuid)
      const row = find.get(volume.id, snapshot)
      if (row === undefined) return { found: false }
      if (volume.restoring !== 0 || amidTo.get(volume.id, row.epoch) !== undefined) refuse('restoring')
      remove(volume.id, row.epoch)
      forgetSums(volume.id, row.epoch)
      noteDropped(volume.id, row.epoch)
      ledger.changeVolume(volume, { lastSnapshotEpoch: newest.get(volume.id)?.epoch ?? 0 })
      return { found: true }
    },

    reclaim({ volume: uuid, limit }: Of<'reclaim'>): Outcome {
      const volume = ledger.volume(uuid)
      let reclaimed = 0
      while (reclaimed < limit) {
        const epoch = oldestDropped.get(volume.id)?.epoch ?? null
        if (epoch === null) break
        const wanted = limit - reclaimed
        const found = reclaimEpoch(volume, epoch, wanted)
        reclaimed += found
        if (found < wanted) forgetDropped(volume.id, epoch)
      }
      return { reclaimed }
    },
  }
}
