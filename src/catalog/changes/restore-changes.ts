/**
 * Takes a volume back to a snapshot, in as many commits as it needs, with readers seeing the snapshot from the first on:
 *
 *     begin    newer snapshots go; the volume is being restored: it is read as the snapshot shows it, and not written
 *     rows     batch by batch, rows born after the snapshot go, then those that died after it live again
 *     finish   the sums of the buckets are those of the snapshot; the volume is read and written as before
 *
 * Rows that come back keep their birth, version and place, so that older snapshots go on seeing them. Bytes move at no
 * point. What is under way in uploads stays; buckets made since are empty; those deleted since stay deleted.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { BlobChanges } from '../blobs.ts'
import type { Ledger, VolumeSums } from '../ledger.ts'
import type { ListedKeys } from '../listed-keys.ts'
import { ownedBy } from '../quotas.ts'
import type { QuotaChanges } from '../quotas.ts'
import { refuse } from '../refusal.ts'
import { COPIED_COLUMNS, OWNER, readBlobs } from '../rows.ts'
import { query } from '../statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

interface CountedRow {
  readonly size: number
  readonly marker: number
  readonly owner: string
}

interface LiveRow extends CountedRow {
  readonly key: Uint8Array
  readonly seq: number
  readonly born: number
  readonly blobs: string
}

interface DeadRow extends CountedRow {
  readonly id: number
  readonly bucket: number
  readonly key: Uint8Array
  /** 1: the bucket has versions. */
  readonly isVersioned: number
  readonly blobs: string
}

/** Where the walk over live rows goes on. After the last bucket, what is left is to bring rows back. */
interface Position {
  readonly bucket: number
  /** Hex digits. */
  readonly key: string
  readonly seq: number
}

const IS_VERSIONED = "versioning <> 'off' AS isVersioned"
/** To look at a row costs so much less than to remove one. */
const LOOKED = 10

export function restoreChanges(
  db: DatabaseSync,
  ledger: Ledger,
  { blobs, quotas, listed }: { blobs: BlobChanges; quotas: QuotaChanges; listed: ListedKeys },
) {
  const find = query<{ epoch: number }>(db, 'SELECT epoch FROM snapshots WHERE volume = ? AND uuid = ? AND bucket = 0')
  const newer = query<{ epoch: number; bucket: number }>(
    db,
    'SELECT epoch, bucket FROM snapshots WHERE volume = ? AND epoch > ?',
  )
  const amid = query<{ bucket: number }>(db, 'SELECT bucket FROM restores WHERE volume = ? LIMIT 1')
  const removeSnapshots = ledger.write('DELETE FROM snapshots WHERE volume = ? AND epoch > ?')
  const removeSums = ledger.write('DELETE FROM snapshot_buckets WHERE volume = ? AND epoch > ?')
  const removeRecords = ledger.write('DELETE FROM record_history WHERE volume = ? AND born > ?')
  const noteDropped = ledger.write('INSERT INTO dropped_epochs (volume, epoch, bucket) VALUES (?, ?, ?)')
  const nextBucket = query<{ id: number; isVersioned: number }>(
    db,
    `SELECT id, ${IS_VERSIONED} FROM buckets WHERE volume = ? AND closed = 0 AND id >= ? ORDER BY id LIMIT 1`,
  )
  const live = query<LiveRow>(
    db,
    `SELECT key, seq, born, blobs, size, marker, ${OWNER} AS owner FROM objects
       WHERE bucket = ?1 AND key >= ?2 AND (key > ?2 OR seq < ?3) ORDER BY key, seq DESC LIMIT ?4 + 0`,
  )
  const removeLive = ledger.write('DELETE FROM objects WHERE bucket = ? AND key = ? AND seq = ?')
  const dead = query<DeadRow>(
    db,
    `SELECT h.id, h.bucket, h.key, ${IS_VERSIONED}, h.blobs, h.size, h.marker, ${OWNER} AS owner FROM object_history h JOIN buckets b ON b.id = h.bucket AND b.closed = 0
       WHERE h.volume = ?1 AND h.died > ?2 AND h.born <= ?2 LIMIT ?3 + 0`,
  )
  const revive = ledger.write(
    `INSERT INTO objects (${COPIED_COLUMNS}) SELECT ${COPIED_COLUMNS} FROM object_history WHERE id = ?`,
  )
  const removeDead = ledger.write('DELETE FROM object_history WHERE id = ?')
  const bucketsOf = query<{ uuid: string; used: number; objects: number; versions: number }>(
    db,
    `SELECT b.uuid, coalesce(s.used, 0) + coalesce((SELECT sum(u.bytes) FROM uploads u WHERE u.bucket = b.id), 0) AS used,
         coalesce(s.objects, 0) AS objects, coalesce(s.versions, 0) AS versions
       FROM buckets b LEFT JOIN snapshot_buckets s ON s.volume = b.volume AND s.bucket = b.id AND s.epoch = ?2
       WHERE b.volume = ?1 AND b.closed = 0`,
  )

  /** A row comes back, or goes, and with it what it counts for. */
  function move(volume: VolumeSums, { size, marker, owner }: CountedRow, sign: 1 | -1): void {
    if (marker === 0) quotas.move(volume, [{ holder: ownedBy(owner), bytes: sign * size, files: sign }])
  }

  /**
   * Rows born later go, from a position on: at most `limit` of them, of `LOOKED` times as many looked at. Gives the next
   * position, or nothing when all buckets were walked.
   */
  function removeYounger(volume: VolumeSums, from: Position, limit: number): Position | undefined {
    const found = nextBucket.get(volume.id, from.bucket)
    if (found === undefined) return undefined
    const bucket = found.id
    const start = bucket === from.bucket ? from : { bucket, key: '', seq: Number.MAX_SAFE_INTEGER }
    const rows = live.all(bucket, Buffer.from(start.key, 'hex'), start.seq, limit * LOOKED)
    let removed = 0
    for (const row of rows) {
      if (row.born > volume.restoring) {
        blobs.release(volume, readBlobs(row.blobs), 'live')
        removeLive(bucket, row.key, row.seq)
        if (found.isVersioned === 1) listed.settle(bucket, row.key)
        move(volume, row, -1)
        if (++removed === limit) return { bucket, key: Buffer.from(row.key).toString('hex'), seq: row.seq }
      }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit * LOOKED) {
      return { bucket: bucket + 1, key: '', seq: Number.MAX_SAFE_INTEGER }
    }
    return { bucket, key: Buffer.from(last.key).toString('hex'), seq: last.seq }
  }

  return {
    begin({ volume: uuid, snapshot }: Of<'begin-restore'>): Outcome {
      const volume = ledger.volume(uuid)
      const { epoch } = find.get(volume.id, snapshot) ?? refuse('missing', 'snapshot')
      if (volume.restoring === epoch) return { epoch }
      if (volume.restoring !== 0 || amid.get(volume.id) !== undefined) refuse('restoring')
      ledger.insistOnWritable(volume)
      for (const row of newer.all(volume.id, epoch)) noteDropped(volume.id, row.epoch, row.bucket)
      removeSnapshots(volume.id, epoch)
      removeSums(volume.id, epoch)
      removeRecords(volume.id, epoch)
      ledger.changeVolume(volume, { restoring: epoch, lastSnapshotEpoch: epoch })
      // Buckets have lost newer snapshots of their own: they are read again.
      ledger.flush()
      ledger.forget()
      return { epoch }
    },

    rows({ volume: uuid, after, limit }: Of<'restore-rows'>): Outcome {
      const volume = ledger.volume(uuid)
      if (volume.restoring === 0) return { restored: 0 }
      ledger.changeVolume(volume, { moves: volume.moves + 1 })
      if (after !== 'dead') {
        const from = after === undefined ? { bucket: 0, key: '', seq: 0 } : (JSON.parse(after) as Position)
        const next = removeYounger(volume, from, limit)
        return { restored: limit, next: next === undefined ? 'dead' : JSON.stringify(next) }
      }
      const rows = dead.all(volume.id, volume.restoring, limit)
      for (const row of rows) {
        blobs.revive(volume, readBlobs(row.blobs))
        revive(row.id)
        if (row.isVersioned === 1) listed.settle(row.bucket, row.key)
        move(volume, row, 1)
        removeDead(row.id)
      }
      return { restored: rows.length, ...(rows.length < limit ? {} : { next: 'dead' }) }
    },

    finish({ volume: uuid }: Of<'finish-restore'>): Outcome {
      const volume = ledger.volume(uuid)
      const epoch = volume.restoring
      if (epoch === 0) return {}
      if (dead.all(volume.id, epoch, 1).length > 0) refuse('not-empty')
      ledger.changeVolume(volume, { restoring: 0 })
      ledger.flush()
      for (const { uuid: bucket, used, objects, versions } of bucketsOf.all(volume.id, epoch)) {
        ledger.changeBucket(ledger.bucket(bucket), { usedBytes: used, objects, versions })
      }
      return {}
    },
  }
}
