/**
 * Who needs which blob. A blob whose last row went is unneeded: its file is about to be unlinked, so no row may name it
 * any more, not even before it is dropped.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { BlobRef, Change, Outcome } from '../../ports/catalog.ts'
import type { Ledger, VolumeSums } from './ledger.ts'
import { refuse } from './refusal.ts'
import { query } from './statements.ts'

interface BlobColumns {
  readonly size: number
  readonly refs: number
  readonly live: number
}

export function blobChanges(db: DatabaseSync, ledger: Ledger) {
  const find = query<BlobColumns>(db, 'SELECT size, refs, live FROM blobs WHERE volume = ? AND blob = ?')
  const insert = ledger.write(
    'INSERT INTO blobs (volume, blob, size, refs, live) VALUES (?, ?, ?, 1, 1) ON CONFLICT DO NOTHING',
  )
  const count = ledger.write('UPDATE blobs SET refs = ?, live = ?, freed = ? WHERE volume = ? AND blob = ?')
  const drop = ledger.write('DELETE FROM blobs WHERE volume = ? AND blob = ? AND refs = 0')

  function found(volume: VolumeSums, blob: string): BlobColumns {
    const row = find.get(volume.id, blob)
    if (row === undefined) throw new Error(`The catalog has lost count of blob ${blob} of volume ${volume.uuid}.`)
    return row
  }

  return {
    /** Refuses names of blobs that no row needs at this moment: their files may be gone already. */
    requireNeeded(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob } of blobs) if ((find.get(volume.id, blob)?.refs ?? 0) === 0) refuse('missing', 'blob')
    },

    /** One live row more needs these. */
    acquire(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob, sizeBytes } of blobs) {
        if (insert(volume.id, blob, sizeBytes) === 1) {
          ledger.changeVolume(volume, { usedBytes: volume.usedBytes + sizeBytes })
          continue
        }
        const { size, refs, live } = found(volume, blob)
        if (refs === 0) refuse('missing', 'blob')
        if (live === 0) ledger.changeVolume(volume, { snapshotBytes: volume.snapshotBytes - size })
        count(refs + 1, live + 1, null, volume.id, blob)
      }
    },

    /** A live row became history: it still needs its blobs. */
    bury(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob } of blobs) {
        const { size, refs, live } = found(volume, blob)
        if (live === 1) ledger.changeVolume(volume, { snapshotBytes: volume.snapshotBytes + size })
        count(refs, live - 1, null, volume.id, blob)
      }
    },

    /** A row of the history lives again. */
    revive(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob } of blobs) {
        const { size, refs, live } = found(volume, blob)
        if (live === 0) ledger.changeVolume(volume, { snapshotBytes: volume.snapshotBytes - size })
        count(refs, live + 1, null, volume.id, blob)
      }
    },

    /** A row is gone; `live` unless it was history. */
    release(volume: VolumeSums, blobs: readonly BlobRef[], row: 'live' | 'history'): void {
      for (const { blob } of blobs) {
        const before = found(volume, blob)
        const refs = before.refs - 1
        const live = row === 'live' ? before.live - 1 : before.live
        const heldBefore = before.live === 0 ? before.size : 0
        const heldAfter = live === 0 && refs > 0 ? before.size : 0
        const snapshotBytes = volume.snapshotBytes + heldAfter - heldBefore
        if (refs === 0) ledger.changeVolume(volume, { usedBytes: volume.usedBytes - before.size, snapshotBytes })
        else if (heldAfter !== heldBefore) ledger.changeVolume(volume, { snapshotBytes })
        count(refs, live, refs === 0 ? ledger.nextSeq() : null, volume.id, blob)
      }
    },

    drop(change: Extract<Change, { do: 'drop-blobs' }>): Outcome {
      const volume = ledger.volume(change.volume)
      for (const blob of change.blobs) drop(volume.id, blob)
      return {}
    },
  }
}

export type BlobChanges = ReturnType<typeof blobChanges>
