/**
 * Gives a clone the rows that its parent has in a snapshot, batch by batch. Bytes move at no point: the two volumes share
 * a tree, and each counts for itself what it needs of it.
 *
 * The snapshot is not dropped meanwhile, so what is to be copied does not change; its rows may move to the history between
 * two batches, and are met in one of the two places.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { BlobChanges } from '../blobs.ts'
import type { Ledger } from '../ledger.ts'
import type { ListedKeys } from '../listed-keys.ts'
import { ownedBy } from '../quotas.ts'
import type { QuotaChanges } from '../quotas.ts'
import { refuse } from '../refusal.ts'
import { COPIED_COLUMNS, OWNER, readBlobs } from '../rows.ts'
import { query } from '../statements.ts'

interface FoundRow {
  readonly key: Uint8Array
  readonly seq: number
  readonly blobs: string
  readonly size: number
  readonly marker: number
  readonly owner: string
  /** Its number in the history, or null. */
  readonly dead: number | null
}

interface LookedAt extends FoundRow {
  readonly born: number
  readonly died: number | null
}

interface Sums {
  readonly used: number
  readonly objects: number
  readonly versions: number
}

/** To look at a row costs so much less than to copy one. */
const LOOKED = 10

const COUNTED = `blobs, size, marker, ${OWNER} AS owner`
const FROM_HERE = 'bucket = ?1 AND key >= ?2 AND (key > ?2 OR seq < ?3)'
const THIS_ROW = 'bucket = ?1 AND key = ?2 AND seq = ?3'

/** A row that is copied is born in the clone, and has no locks there. */
const COPIES = COPIED_COLUMNS.split(/,\s*/)
  .map(
    (column) => ({ bucket: '?1', born: '?2', lock_mode: 'NULL', lock_until: 'NULL', hold: 'NULL' })[column] ?? column,
  )
  .join(', ')

export function cloneChanges(
  db: DatabaseSync,
  ledger: Ledger,
  { blobs, quotas, listed }: { blobs: BlobChanges; quotas: QuotaChanges; listed: ListedKeys },
) {
  const source = query<{ id: number; volume: number; tree: string }>(
    db,
    'SELECT b.id, v.id AS volume, v.tree FROM buckets b JOIN volumes v ON v.id = b.volume WHERE b.uuid = ?',
  )
  const snapshot = query<{ epoch: number }>(db, 'SELECT epoch FROM snapshots WHERE volume = ? AND uuid = ?')
  const rows = query<LookedAt>(
    db,
    `SELECT key, seq, born, NULL AS died, ${COUNTED}, NULL AS dead FROM objects WHERE ${FROM_HERE}
       UNION ALL SELECT key, seq, born, died, ${COUNTED}, id AS dead FROM object_history WHERE ${FROM_HERE}
       ORDER BY key, seq DESC LIMIT ?4 + 0`,
  )
  const shown = query<FoundRow>(
    db,
    `SELECT key, seq, ${COUNTED}, NULL AS dead FROM objects WHERE ${THIS_ROW} AND born <= ?4
       UNION ALL SELECT key, seq, ${COUNTED}, id AS dead FROM object_history WHERE ${THIS_ROW} AND born <= ?4 AND died > ?4`,
  )
  const copyLive = ledger.write(
    `INSERT OR IGNORE INTO objects (${COPIED_COLUMNS})
       SELECT ${COPIES} FROM objects WHERE bucket = ?3 AND key = ?4 AND seq = ?5`,
  )
  const copyDead = ledger.write(
    `INSERT OR IGNORE INTO objects (${COPIED_COLUMNS}) SELECT ${COPIES} FROM object_history WHERE id = ?3`,
  )
  const sumsOf = query<Sums>(
    db,
    'SELECT used, objects, versions FROM snapshot_buckets WHERE volume = ? AND epoch = ? AND bucket = ?',
  )

  return (change: Extract<Change, { do: 'clone-rows' }>): Outcome => {
    const bucket = ledger.bucket(change.bucket)
    const from = source.get(change.from) ?? refuse('missing', 'from')
    const { epoch } = snapshot.get(from.volume, change.snapshot) ?? refuse('missing', 'snapshot')
    if (from.tree !== bucket.volume.tree) refuse('missing', 'blob')

    function copy({ key, seq, blobs: names, size, marker, owner, dead }: FoundRow): void {
      const { epoch: born } = bucket.volume
      const isNew = dead === null ? copyLive(bucket.id, born, from.id, key, seq) : copyDead(bucket.id, born, dead)
      if (isNew === 0) return
      if (bucket.versioning !== 'off') listed.settle(bucket.id, key)
      blobs.inherit(bucket.volume, from.volume, readBlobs(names))
      quotas.move(bucket.volume, [{ holder: ownedBy(owner), bytes: marker === 1 ? 0 : size, files: 1 - marker }])
    }

    let position = change.after === undefined ? { key: '', seq: 0 } : (JSON.parse(change.after) as Position)
    let copied = 0
    for (let looks = 0; looks < LOOKED; looks++) {
      const looked = rows.all(from.id, Buffer.from(position.key, 'hex'), position.seq, change.limit)
      for (const row of looked) {
        if (row.born > epoch || (row.died !== null && row.died <= epoch)) continue
        copy(row)
        if (++copied === change.limit) return { next: positionOf(row) }
      }
      const last = looked.at(-1)
      if (last === undefined || looked.length < change.limit) {
        const { used, objects, versions } = sumsOf.get(from.volume, epoch, from.id) ?? NOTHING
        ledger.changeBucket(bucket, { usedBytes: used, objects, versions })
        return {}
      }
      // One row may be there several times, as it was and as it is: what comes next is behind all of them.
      for (const row of shown.all(from.id, last.key, last.seq, epoch)) copy(row)
      position = { key: Buffer.from(last.key).toString('hex'), seq: last.seq }
    }
    return { next: JSON.stringify(position) }
  }
}

/** The bucket was made after the snapshot. */
const NOTHING: Sums = { used: 0, objects: 0, versions: 0 }

/** Where a walk goes on: behind this row. */
interface Position {
  /** Hex digits. */
  readonly key: string
  readonly seq: number
}

function positionOf({ key, seq }: FoundRow): string {
  return JSON.stringify({ key: Buffer.from(key).toString('hex'), seq } satisfies Position)
}
