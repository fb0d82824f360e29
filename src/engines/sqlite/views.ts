/**
 * The rows of a bucket as they are now, or as a snapshot shows them: those that still live and were born before it, and
 * those of the history that died after it.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { SnapshotAt } from '../../ports/catalog.ts'
import { versionFinder } from './find-version.ts'
import { KEY_BYTES_MAX } from './object-changes.ts'
import { successor } from './prefixes.ts'
import { OBJECT_COLUMNS } from './rows.ts'
import type { ObjectColumns } from './rows.ts'
import { query } from './statements.ts'
import { MergedWalk, TableWalk } from './walk.ts'
import type { Patience, Place } from './walk.ts'

/** What is asked of a bucket at a moment. */
export interface View {
  current(key: Uint8Array): ObjectColumns | undefined
  ofVersion(key: Uint8Array, version: string): ObjectColumns | undefined
  /** When the next newer row of the key was modified. */
  newerModified(key: Uint8Array, seq: number): number | undefined
  /** A walk over all rows with a prefix. */
  walk(prefix: Uint8Array, patience: Patience): MergedWalk
}

const BEHIND_ALL_KEYS = Buffer.alloc(KEY_BYTES_MAX + 1, 0xff)

type LiveRow = ObjectColumns & { readonly born: number }
type DeadPlace = Place & { readonly id: number; readonly born: number; readonly died: number }

const IN_RANGE = 'bucket = ? AND key >= ? AND key < ? ORDER BY key, seq DESC'
const OF_KEY = 'bucket = ? AND key = ? AND seq <= ? ORDER BY seq DESC'

/** The rows of a key that a snapshot shows, of which a condition holds. */
const shown = (condition: string) => `
  SELECT ${OBJECT_COLUMNS} FROM objects WHERE bucket = ?1 AND key = ?2 AND born <= ?3 AND ${condition}
  UNION ALL
  SELECT ${OBJECT_COLUMNS} FROM object_history
    WHERE bucket = ?1 AND key = ?2 AND born <= ?3 AND died > ?3 AND ${condition}`

export function viewer(db: DatabaseSync): (bucket: number, at: SnapshotAt | undefined) => View {
  const live = `SELECT ${OBJECT_COLUMNS}, born FROM objects WHERE`
  // Read from the index alone; most rows of the history are not those of this snapshot.
  const dead = 'SELECT id, key, seq, born, died, marker FROM object_history WHERE'
  const newest = query<ObjectColumns>(db, `${live} bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1`)
  const newestAt = query<ObjectColumns>(db, `${shown('TRUE')} ORDER BY seq DESC LIMIT 1`)
  const versionNow = versionFinder<LiveRow>(db, `${OBJECT_COLUMNS}, born`)
  const versionAt = query<ObjectColumns>(db, shown('version = ?4'))
  const newer = query<ObjectColumns>(db, `${live} bucket = ? AND key = ? AND seq > ? ORDER BY seq LIMIT 1`)
  const newerAt = query<ObjectColumns>(db, `${shown('seq > ?4')} ORDER BY seq LIMIT 1`)
  const deadRow = query<ObjectColumns>(db, `SELECT ${OBJECT_COLUMNS} FROM object_history WHERE id = ?`)
  const liveTable = {
    rows: query<LiveRow>(db, `${live} ${IN_RANGE}`),
    rowsOfKey: query<LiveRow>(db, `${live} ${OF_KEY}`),
    load: (row: LiveRow) => row,
  }
  const deadTable = {
    rows: query<DeadPlace>(db, `${dead} ${IN_RANGE}`),
    rowsOfKey: query<DeadPlace>(db, `${dead} ${OF_KEY}`),
    load: (row: DeadPlace) => deadRow.get(row.id),
  }

  function viewNow(bucket: number): View {
    return {
      current: (key) => newest.get(bucket, key),
      ofVersion: (key, version) => versionNow(bucket, key, version),
      newerModified: (key, seq) => newer.get(bucket, key, seq)?.modified,
      walk(prefix, patience) {
        const end = successor(prefix) ?? BEHIND_ALL_KEYS
        return new MergedWalk([new TableWalk({ ...liveTable, seen: () => true }, bucket, end, patience)])
      },
    }
  }

  function viewAt(bucket: number, epoch: number): View {
    const lives = (row: LiveRow) => row.born <= epoch
    const lived = (row: DeadPlace) => row.born <= epoch && row.died > epoch
    return {
      current: (key) => newestAt.get(bucket, key, epoch),
      ofVersion: (key, version) => versionAt.get(bucket, key, epoch, version),
      newerModified: (key, seq) => newerAt.get(bucket, key, epoch, seq)?.modified,
      walk(prefix, patience) {
        const end = successor(prefix) ?? BEHIND_ALL_KEYS
        return new MergedWalk([
          new TableWalk({ ...liveTable, seen: lives }, bucket, end, patience),
          new TableWalk({ ...deadTable, seen: lived }, bucket, end, patience),
        ])
      },
    }
  }

  return (bucket, at) => (at === undefined ? viewNow(bucket) : viewAt(bucket, at.epoch))
}
