/**
 * Who needs which blob. A blob whose last row went is unneeded: its file is about to be unlinked, so no row may name it
 * any more, not even before it is dropped.
 *
 * Volumes that share a tree count each for itself. Where one needs a blob no more that another still does, it forgets it:
 * so what is unneeded is unneeded by all of them, and has one row.
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
  readonly inherited: number
}

export function blobChanges(db: DatabaseSync, ledger: Ledger) {
  const find = query<BlobColumns>(db, 'SELECT size, refs, live, inherited FROM blobs WHERE volume = ? AND blob = ?')
  const insert = ledger.write(
    'INSERT INTO blobs (volume, blob, size, refs, live) VALUES (?, ?, ?, 1, 1) ON CONFLICT DO NOTHING',
  )
  const count = ledger.write('UPDATE blobs SET refs = ?, live = ?, freed = ? WHERE volume = ? AND blob = ?')
  const inherit = ledger.write(
    'INSERT INTO blobs (volume, blob, size, refs, live, inherited) VALUES (?, ?, ?, 1, 1, 1) ON CONFLICT DO NOTHING',
  )
  const isElsewhere = blobElsewhere(db)
  const arrive = ledger.write('INSERT OR IGNORE INTO arrivals (volume, blob, size) VALUES (?, ?, ?)')
  const forget = ledger.write('DELETE FROM blobs WHERE volume = ? AND blob = ?')
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
          if (volume.moving === 1) arrive(volume.id, blob, sizeBytes)
          continue
        }
        const { size, refs, live } = found(volume, blob)
        if (refs === 0) refuse('missing', 'blob')
        if (live === 0) ledger.changeVolume(volume, { snapshotBytes: volume.snapshotBytes - size })
        count(refs + 1, live + 1, null, volume.id, blob)
      }
    },

    /** One live row more of a clone needs these, which its parent has. */
    inherit(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob, sizeBytes } of blobs) {
        if (inherit(volume.id, blob, sizeBytes) === 1) {
          const { usedBytes, inheritedBytes } = volume
          ledger.changeVolume(volume, {
            usedBytes: usedBytes + sizeBytes,
            inheritedBytes: (inheritedBytes ?? 0) + sizeBytes,
          })
          if (volume.moving === 1) arrive(volume.id, blob, sizeBytes)
          continue
        }
        const { refs, live } = found(volume, blob)
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
        if (refs > 0) {
          if (heldAfter !== heldBefore) ledger.changeVolume(volume, { snapshotBytes })
          count(refs, live, null, volume.id, blob)
          continue
        }
        ledger.changeVolume(volume, { usedBytes: volume.usedBytes - before.size, snapshotBytes })
        if (before.inherited === 1 && volume.inheritedBytes !== null) {
          ledger.changeVolume(volume, { inheritedBytes: volume.inheritedBytes - before.size })
        }
        if (isElsewhere(volume, blob)) forget(volume.id, blob)
        else count(0, 0, ledger.nextSeq(), volume.id, blob)
      }
    },

    drop(change: Extract<Change, { do: 'drop-blobs' }>): Outcome {
      const volume = ledger.volume(change.volume)
      for (const blob of change.blobs) drop(volume.id, blob)
      return {}
    },
  }
}

/** Makes the function that tells whether another volume that shares a tree knows a blob. */
export function blobElsewhere(db: DatabaseSync) {
  const elsewhere = query<{ id: number }>(
    db,
    `SELECT v.id FROM volumes v JOIN blobs b ON b.volume = v.id AND b.blob = ?3
       WHERE v.tree = ?1 AND v.id <> ?2 LIMIT 1`,
  )
  return ({ tree, id }: { readonly tree: string; readonly id: number }, blob: string): boolean =>
    elsewhere.get(tree, id, blob) !== undefined
}

export type BlobChanges = ReturnType<typeof blobChanges>
