/** The reading half of the catalog: one prepared statement each, on one connection. */
import type { DatabaseSync } from 'node:sqlite'
import type {
  BucketCounters,
  Fields,
  ListQuery,
  LogEntry,
  ObjectRow,
  PartRow,
  RecordChange,
  SnapshotAt,
  SnapshotRow,
  StoredRecord,
  UploadPosition,
  UploadRow,
  VersionPosition,
  Versioning,
  VersionsPage,
  VersionsQuery,
  ScanPage,
  ListPage,
  VolumeCounters,
} from '../../ports/catalog.ts'
import { listKeys } from './list.ts'
import type { PageWalk } from './list.ts'
import { listVersions, scanVersions } from './list-versions.ts'
import { OBJECT_COLUMNS, objectRow, partRow, uploadRow } from './rows.ts'
import type { ObjectColumns, PartColumns, UploadColumns } from './rows.ts'
import { sampleReads } from './samples.ts'
import { snapshotSizes } from './snapshot-bytes.ts'
import { query } from './statements.ts'
import { storedBlobReads } from './stored-blobs.ts'
import { turnstile } from './turnstile.ts'
import { viewer } from './views.ts'
import type { View } from './views.ts'

type RecordColumns = Omit<StoredRecord, 'body'> & { readonly body: string }

const RECORD = 'SELECT type, key, parent, revision, body FROM records'
const VOLUME = `SELECT uuid, size AS sizeBytes, used AS usedBytes, snapshot_bytes AS snapshotBytes,
    saved_by_compression AS savedByCompressionBytes, saved_by_dedupe AS savedByDedupeBytes, epoch FROM volumes`
const BUCKET = `SELECT b.uuid, v.uuid AS volume, b.size_limit AS limitBytes, b.used AS usedBytes, b.objects,
    b.versions, b.versioning
  FROM buckets b JOIN volumes v ON v.id = b.volume WHERE b.closed = 0`
const OBJECT_IN = '(SELECT id FROM buckets WHERE uuid = ?)'

export function reader(db: DatabaseSync) {
  const record = query<RecordColumns>(db, `${RECORD} WHERE type = ? AND key = ?`)
  const ofType = query<RecordColumns>(db, `${RECORD} WHERE type = ? ORDER BY key`)
  // Left to itself, SQLite reads all records of the type, for their order.
  const ofParent = query<RecordColumns>(
    db,
    `${RECORD} INDEXED BY records_by_parent WHERE type = ? AND parent = ? ORDER BY key`,
  )
  const holder = query<{ type: string; key: string }>(db, 'SELECT type, key FROM uniques WHERE scope = ? AND value = ?')
  const state = query<{ revision: number }>(db, 'SELECT revision FROM state')
  const changes = query<RecordChange>(
    db,
    'SELECT revision, type, key FROM changes WHERE revision > ? ORDER BY revision LIMIT ?',
  )
  const volume = query<VolumeCounters & { uuid: string }>(db, `${VOLUME} WHERE uuid = ?`)
  const volumes = query<VolumeCounters & { uuid: string }>(db, `${VOLUME} WHERE uuid IS NOT NULL`)
  const bucket = query<BucketCounters & { uuid: string }>(db, `${BUCKET} AND b.uuid = ?`)
  const buckets = query<BucketCounters & { uuid: string }>(db, BUCKET)
  const bucketId = query<{ id: number; versioning: Versioning; restoring: number; moves: number }>(
    db,
    `SELECT b.id, b.versioning, v.restoring, v.moves
       FROM buckets b JOIN volumes v ON v.id = b.volume WHERE b.uuid = ?`,
  )
  const snapshots = query<SnapshotRow>(
    db,
    `SELECT s.uuid AS snapshot, s.epoch, s.created AS createdMs
       FROM volumes v JOIN snapshots s ON s.volume = v.id WHERE v.uuid = ? ORDER BY s.epoch`,
  )
  const object = query<ObjectColumns>(
    db,
    `SELECT ${OBJECT_COLUMNS} FROM objects WHERE bucket = ${OBJECT_IN} AND key = ?
       AND NOT EXISTS (SELECT 1 FROM volumes WHERE restoring <> 0) ORDER BY seq DESC LIMIT 1`,
  )
  const view = viewer(db)
  const upload = query<UploadColumns & { id: number }>(
    db,
    `SELECT id, upload, key, started, details FROM uploads WHERE bucket = ${OBJECT_IN} AND upload = ?`,
  )
  const parts = query<PartColumns>(
    db,
    `SELECT number, size, etag, modified, checksum, blobs FROM parts
       WHERE upload = ? AND number > ? ORDER BY number LIMIT ?`,
  )
  const uploads = query<UploadColumns>(
    db,
    `SELECT upload, key, started, details FROM uploads
       WHERE bucket = ${OBJECT_IN} AND (key, upload) > (?, ?) ORDER BY key, upload LIMIT ?`,
  )
  const unneeded = query<{ blob: string }>(
    db,
    `SELECT b.blob FROM blobs b WHERE b.volume = (SELECT id FROM volumes WHERE uuid = ?) AND b.refs = 0
       ORDER BY b.freed LIMIT ?`,
  )
  const volumeId = query<{ id: number }>(db, 'SELECT id FROM volumes WHERE uuid = ?')
  const known = query<{ blob: string }>(db, 'SELECT blob FROM blobs WHERE volume = ? AND blob = ?')
  const log = query<{ id: number; timeMs: number; body: string }>(
    db,
    'SELECT id, time AS timeMs, body FROM log WHERE name = ? AND id < ? ORDER BY id DESC LIMIT ?',
  )
  const counters = query<{ row: string; name: string; value: number }>(
    db,
    'SELECT row, name, value FROM counters WHERE tbl = ? AND row > ? ORDER BY row, name',
  )
  const begin = db.prepare('BEGIN')
  const end = db.prepare('COMMIT')

  /** Several statements that must see one state of the database. */
  function atOnce<Result>(read: () => Result): Result {
    begin.run()
    try {
      return read()
    } finally {
      end.run()
    }
  }

  const nextPage = turnstile()

  /**
   * Reads a page in turns of some two milliseconds, mostly one. A bucket that is closed meanwhile has no more rows; its
   * number may be another's. While a restore moves rows, a page of several turns begins again: it could meet a row twice,
   * or not at all.
   */
  async function walked<Page>(
    uuid: string,
    at: SnapshotAt | undefined,
    start: (of: View) => PageWalk<Page>,
  ): Promise<Page | undefined> {
    let began: { readonly id: number; readonly moves: number; readonly walk: PageWalk<Page> } | undefined
    for (;;) {
      await nextPage()
      const page = atOnce(() => {
        const found = bucketId.get(uuid)
        if (found === undefined || (began !== undefined && began.id !== found.id)) return 'missing'
        if (began?.moves !== found.moves) {
          const shown = view(found.id, shownAt(found, at), found.versioning !== 'off')
          began = { id: found.id, moves: found.moves, walk: start(shown) }
        }
        return began.walk.go()
      })
      if (page === 'missing') return undefined
      if (page !== undefined) {
        // What the caller does with a thousand rows takes as long again: that is for another turn.
        await nextPage()
        return page
      }
    }
  }

  function readCounters(table: string, after: string, limit: number): Map<string, Record<string, number>> {
    const rows = new Map<string, Record<string, number>>()
    for (const { row, name, value } of counters.iterate(table, after)) {
      let totals = rows.get(row)
      if (totals === undefined) {
        if (rows.size === limit) break
        rows.set(row, (totals = {}))
      }
      totals[name] = value
    }
    return rows
  }

  return {
    record(type: string, key: string): StoredRecord | undefined {
      const row = record.get(type, key)
      return row === undefined ? undefined : storedRecord(row)
    },

    records(type: string, parent: string | undefined): StoredRecord[] {
      const rows = parent === undefined ? ofType.all(type) : ofParent.all(type, parent)
      return rows.map(storedRecord)
    },

    holder(scope: string, value: string): { type: string; key: string } | undefined {
      const row = holder.get(scope, value)
      return row === undefined ? undefined : { type: row.type, key: row.key }
    },

    revision(): number {
      return state.get()?.revision ?? 0
    },

    changes(after: number, limit: number): RecordChange[] | undefined {
      return atOnce(() => {
        const current = state.get()?.revision ?? 0
        if (after >= current) return []
        // Revisions follow each other without a gap, so a first one that is not the next means that some were trimmed.
        const rows = changes.all(after, Math.max(limit, 1)).map(({ revision, type, key }) => ({ revision, type, key }))
        return rows[0]?.revision === after + 1 ? rows.slice(0, limit) : undefined
      })
    },

    volume(uuid: string): VolumeCounters | undefined {
      const row = volume.get(uuid)
      return row === undefined ? undefined : volumeCounters(row)
    },

    volumes(): Map<string, VolumeCounters> {
      return new Map(volumes.all().map((row) => [row.uuid, volumeCounters(row)]))
    },

    bucket(uuid: string): BucketCounters | undefined {
      const row = bucket.get(uuid)
      return row === undefined ? undefined : bucketCounters(row)
    },

    buckets(): Map<string, BucketCounters> {
      return new Map(buckets.all().map((row) => [row.uuid, bucketCounters(row)]))
    },

    snapshots(uuid: string): SnapshotRow[] {
      return snapshots.all(uuid).map(({ snapshot, epoch, createdMs }) => ({ snapshot, epoch, createdMs }))
    },

    /** Takes several turns, unlike the others. */
    snapshotBytes: snapshotSizes(db),

    object(
      uuid: string,
      key: Uint8Array,
      at: SnapshotAt | undefined,
      version: string | undefined,
    ): ObjectRow | undefined {
      if (at === undefined && version === undefined) {
        const row = object.get(uuid, key)
        if (row !== undefined) return objectRow(row, true)
      }
      return atOnce(() => {
        const found = bucketId.get(uuid)
        if (found === undefined) return undefined
        const rows = view(found.id, shownAt(found, at))
        const row = version === undefined ? rows.current(key) : rows.ofVersion(key, version)
        if (row === undefined) return undefined
        return objectRow(row, version === undefined || rows.current(key)?.seq === row.seq)
      })
    },

    async list(listQuery: ListQuery): Promise<ListPage> {
      const page = await walked(listQuery.bucket, listQuery.at, (of) => listKeys(of, listQuery))
      return page ?? { objects: [], prefixes: [] }
    },

    async versions(asked: VersionsQuery): Promise<VersionsPage> {
      const page = await walked(asked.bucket, asked.at, (of) => listVersions(of, asked))
      return page ?? { versions: [], prefixes: [] }
    },

    async scan(
      bucket: string,
      after: VersionPosition | undefined,
      limit: number,
      at: SnapshotAt | undefined,
    ): Promise<ScanPage> {
      const none = new Uint8Array()
      const asked = {
        bucket,
        prefix: none,
        delimiter: none,
        afterKey: after?.key ?? none,
        ...(after?.version === undefined ? {} : { afterVersion: after.version }),
        ...(after?.order === undefined ? {} : { afterOrder: after.order }),
        limit,
      }
      const page = await walked(bucket, at, (of) => scanVersions(of, asked))
      return page ?? { rows: [] }
    },

    upload(uuid: string, id: string): UploadRow | undefined {
      const row = upload.get(uuid, id)
      return row === undefined ? undefined : uploadRow(row)
    },

    parts(uuid: string, id: string, afterNumber: number, limit: number): PartRow[] {
      return atOnce(() => {
        const row = upload.get(uuid, id)
        return row === undefined ? [] : parts.all(row.id, afterNumber, limit).map(partRow)
      })
    },

    uploads(uuid: string, after: UploadPosition | undefined, limit: number): UploadRow[] {
      return uploads.all(uuid, after?.key ?? new Uint8Array(), after?.upload ?? '', limit).map(uploadRow)
    },

    unneededBlobs(uuid: string, limit: number): string[] {
      return unneeded.all(uuid, limit).map((row) => row.blob)
    },

    knownBlobs(uuid: string, blobs: readonly string[]): Set<string> {
      return atOnce(() => {
        const found = volumeId.get(uuid)
        if (found === undefined) return new Set()
        return new Set(blobs.filter((blob) => known.get(found.id, blob) !== undefined))
      })
    },

    ...storedBlobReads(db),

    log(name: string, { before, limit }: { before?: number; limit: number }): LogEntry[] {
      return log
        .all(name, before ?? Number.MAX_SAFE_INTEGER, limit)
        .map(({ id, timeMs, body }) => ({ id, timeMs, body: JSON.parse(body) as Fields }))
    },

    counters(table: string): Map<string, Record<string, number>> {
      return readCounters(table, '', Infinity)
    },

    async countersAfter(
      table: string,
      { after, limit }: { after: string; limit: number },
    ): Promise<Map<string, Record<string, number>>> {
      await nextPage()
      return readCounters(table, after, limit)
    },

    samples: sampleReads(db, nextPage),
  }
}

export type Reader = ReturnType<typeof reader>

/** A volume that is being taken back to a snapshot is read as that shows it. */
function shownAt({ restoring }: { readonly restoring: number }, at: SnapshotAt | undefined): SnapshotAt | undefined {
  return at === undefined && restoring !== 0 ? { epoch: restoring } : at
}

function storedRecord({ type, key, parent, revision, body }: RecordColumns): StoredRecord {
  return { type, key, parent, revision, body: JSON.parse(body) as Fields }
}

function volumeCounters(row: VolumeCounters & { readonly uuid: string }): VolumeCounters {
  const { uuid: _, ...counters } = row
  return counters
}

function bucketCounters(row: BucketCounters & { readonly uuid: string }): BucketCounters {
  const { uuid: _, ...counters } = row
  return counters
}
