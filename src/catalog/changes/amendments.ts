import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { BlobChanges } from '../blobs.ts'
import type { Ledger } from '../ledger.ts'
import type { ObjectChanges } from './object-changes.ts'
import { refuse } from '../refusal.ts'
import { checkLockChange } from '../retention.ts'
import { patchedBody, readBlobs } from '../rows.ts'
import { query } from '../statements.ts'

/**
 * Makes the function that changes a row in its place. What a snapshot sees goes to the history first, as it was; the row
 * that lives is then one of this epoch, with the same version and the same place among the versions of its key.
 */
export function amendments(db: DatabaseSync, ledger: Ledger, blobs: BlobChanges, objects: ObjectChanges) {
  const bodyOf = query<{ body: string }>(db, 'SELECT body FROM objects WHERE bucket = ? AND key = ? AND seq = ?')
  const rebear = ledger.write('UPDATE objects SET born = ? WHERE bucket = ? AND key = ? AND seq = ?')
  const setHeld = ledger.write(
    'UPDATE objects SET lock_mode = ?, lock_until = ?, hold = ? WHERE bucket = ? AND key = ? AND seq = ?',
  )
  const setBody = ledger.write('UPDATE objects SET body = ? WHERE bucket = ? AND key = ? AND seq = ?')

  return (change: Extract<Change, { do: 'amend-object' }>): Outcome => {
    const bucket = ledger.bucket(change.bucket, change.key)
    const { key, lock, legalHold, details } = change
    const row = objects.find(bucket, key, change.version) ?? refuse('absent')
    if (row.marker === 1) refuse('absent', 'marker')
    if (lock !== undefined) checkLockChange(row, lock, change)

    if (objects.bury(bucket, key, row)) {
      blobs.acquire(bucket.volume, readBlobs(row.blobs))
      rebear(bucket.volume.epoch, bucket.id, key, row.seq)
    }
    if (lock !== undefined || legalHold !== undefined) {
      const { mode, untilMs } = lock ?? (lock === null ? { mode: null, untilMs: null } : lockOf(row))
      const hold = legalHold === undefined ? row.hold : Number(legalHold)
      setHeld(mode, untilMs, hold, bucket.id, key, row.seq)
    }
    if (details !== undefined) {
      const { body } = bodyOf.get(bucket.id, key, row.seq) ?? refuse('absent')
      setBody(patchedBody(body, details), bucket.id, key, row.seq)
    }
    return { version: row.version }
  }
}

const lockOf = ({ lockMode, lockUntil }: { lockMode: string | null; lockUntil: number | null }) => ({
  mode: lockMode,
  untilMs: lockUntil,
})
