/** The reading half of the catalog: one prepared statement each, on one connection. */
import type { DatabaseSync } from 'node:sqlite'
import type {
  AggregateCounters,
  BlobRef,
  BucketCounters,
  ChangedVolume,
  Fields,
  ListQuery,
  LogEntry,
  ObjectRow,
  PartRow,
  RecordChange,
  SnapshotAt,
  SnapshotRow,
  UntidyVolume,
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
import { turnstile } from '../../ports/turnstile.ts'
import { listKeys } from './list.ts'
import type { PageWalk } from './list.ts'
import { listVersions, scanVersions } from './list-versions.ts'
import { LOOKING } from '../changes/range-restore-changes.ts'
import { blobRef, OBJECT_COLUMNS, objectColumns, objectRow, partRow, uploadRow } from '../rows.ts'
import type { BlobRefColumns, ObjectTuple, PartColumns, UploadColumns } from '../rows.ts'
import { plainLister } from './plain-list.ts'
import { quotaReads, quotaRoomReads } from './quota-reads.ts'
import { recordReads, shortPage } from './record-reads.ts'
import { sampleReads } from '../samples.ts'
import { SnapshotGaps } from './snapshot-gaps.ts'
import { snapshotSizes } from './snapshot-bytes.ts'
import { batches, batchRows, query, saturated, tupleQuery } from '../statements.ts'
import { storedBlobReads } from './stored-blobs.ts'
import { viewer } from './views.ts'
import type { ShownAt, View } from './views.ts'

const VOLUME = `SELECT uuid, size AS sizeBytes, reserve AS reserveBytes, used AS usedBytes, snapshot_bytes AS snapshotBytes,
    saved_by_compression AS savedByCompressionBytes, saved_by_dedupe AS savedByDedupeBytes,
    coalesce(inherited, 0) AS inheritedBytes, epoch, snapshots FROM volumes`
const BUCKET = `SELECT b.uuid, v.uuid AS volume, b.size_limit AS limitBytes, b.used AS usedBytes, b.objects,
    b.versions, b.versioning
  FROM buckets b JOIN volumes v ON v.id = b.volume WHERE b.closed = 0`
/** Of the values of a JSON array, in any number. */
const NAMED = '(SELECT value FROM json_each(?))'
/** Volumes with blobs that are not needed: one seek for each, however many blobs they have. */
const WITH_UNNEEDED = `WITH RECURSIVE untidy(volume) AS (
    SELECT min(volume) FROM blobs WHERE refs = 0
    UNION ALL
    SELECT (SELECT min(volume) FROM blobs WHERE refs = 0 AND volume > untidy.volume) FROM untidy
      WHERE untidy.volume IS NOT NULL)`
const OBJECT_IN = '(SELECT id FROM buckets WHERE uuid = ?)'

export function reader(db: DatabaseSync) {
  const holder = query<{ type: string; key: string }>(db, 'SELECT type, key FROM uniques WHERE scope = ? AND value = ?')
  const state = tupleQuery<readonly [revision: number, seq: number]>(db, 'SELECT revision, seq FROM state')
  const changes = query<RecordChange>(
    db,
    'SELECT revision, type, key FROM changes WHERE revision > ? ORDER BY revision LIMIT ? + 0',
  )
  const volume = query<VolumeCounters & { uuid: string }>(db, `${VOLUME} WHERE uuid = ?`)
  const volumes = query<VolumeCounters & { uuid: string }>(db, `${VOLUME} WHERE uuid IS NOT NULL`)
  const changedVolumes = batches<VolumeCounters & { uuid: string; changed: number }>(
    db,
    `${VOLUME.replace(' FROM', ', changed FROM')} WHERE changed > ? AND uuid IS NOT NULL ORDER BY changed`,
  )
  const untidy = query<{ uuid: string; dropped: number }>(
    db,
    `${WITH_UNNEEDED} SELECT uuid, id IN (SELECT volume FROM dropped_epochs) AS dropped FROM volumes
       WHERE uuid IS NOT NULL AND id IN (SELECT volume FROM untidy UNION SELECT volume FROM dropped_epochs)`,
  )
  const aggregate = query<AggregateCounters>(
    db,
    `SELECT volumes, ${saturated('size')} AS sizeBytes, ${saturated('used')} AS usedBytes,
       ${saturated('promised')} AS promisedBytes FROM aggregates WHERE uuid = ?`,
  )
  const bucket = query<BucketCounters & { uuid: string }>(db, `${BUCKET} AND b.uuid = ?`)
  const buckets = query<BucketCounters & { uuid: string }>(db, BUCKET)
  const bucketsNamed = query<BucketCounters & { uuid: string }>(db, `${BUCKET} AND b.uuid IN ${NAMED}`)
  const bucketId = query<FoundBucket>(
    db,
    `SELECT b.id, b.versioning, b.versions, b.listed, v.epoch AS current, v.restoring, v.moves, r.epoch, r.start, r.until
       FROM buckets b JOIN volumes v ON v.id = b.volume
         LEFT JOIN restores r ON r.bucket = b.id AND r.phase <> '${LOOKING}' WHERE b.uuid = ?`,
  )
  const snapshots = query<SnapshotRow>(
    db,
    `SELECT s.uuid AS snapshot, s.epoch, s.created AS createdMs
       FROM volumes v JOIN snapshots s ON s.volume = v.id AND s.bucket = 0 WHERE v.uuid = ? ORDER BY s.epoch`,
  )
  const ofBuckets = `SELECT s.uuid AS snapshot, s.epoch, s.created AS createdMs, b.uuid AS bucket
    FROM volumes v JOIN snapshots s ON s.volume = v.id JOIN buckets b ON b.id = s.bucket WHERE v.uuid = ?`
  const bucketSnapshots = query<SnapshotRow>(db, `${ofBuckets} ORDER BY s.epoch`)
  const snapshotsOfBucket = query<SnapshotRow>(db, `${ofBuckets} AND b.uuid = ? ORDER BY s.epoch`)
  const object = tupleQuery<ObjectTuple>(
    db,
    `SELECT ${OBJECT_COLUMNS} FROM objects WHERE bucket = ${OBJECT_IN} AND key = ?
       AND NOT EXISTS (SELECT 1 FROM volumes WHERE restoring <> 0) AND NOT EXISTS (SELECT 1 FROM restores) ORDER BY seq DESC LIMIT 1`,
  )
  const view = viewer(db)
  const plain = plainLister(db)
  const gaps = new SnapshotGaps()
  const upload = query<UploadColumns & { id: number }>(
    db,
    `SELECT id, upload, key, started, details FROM uploads WHERE bucket = ${OBJECT_IN} AND upload = ?`,
  )
  const parts = query<PartColumns>(
    db,
    `SELECT number, size, etag, modified, checksum, blobs FROM parts
       WHERE upload = ? AND number > ? ORDER BY number LIMIT ? + 0`,
  )
  const uploads = query<UploadColumns>(
    db,
    `SELECT upload, key, started, details FROM uploads
       WHERE bucket = ${OBJECT_IN} AND (key, upload) > (?, ?) ORDER BY key, upload LIMIT ? + 0`,
  )
  const unneeded = query<{ blob: string }>(
    db,
    `SELECT b.blob FROM blobs b WHERE b.volume = (SELECT id FROM volumes WHERE uuid = ?) AND b.refs = 0
       ORDER BY b.freed LIMIT ? + 0`,
  )
  const givenUp = query<{ blob: string }>(
    db,
    `SELECT b.blob FROM blobs b WHERE b.volume = (SELECT id FROM volumes WHERE uuid = ?) AND b.refs = 0 AND b.freed = 0
       LIMIT ? + 0`,
  )
  const sharing = query<{ id: number }>(
    db,
    'SELECT id FROM volumes WHERE tree = (SELECT tree FROM volumes WHERE uuid = ?)',
  )
  const volumesIn = query<{ uuid: string }>(
    db,
    'SELECT uuid FROM volumes WHERE tree = ? AND uuid IS NOT NULL ORDER BY uuid',
  )
  const named = query<{ id: number }>(
    db,
    'SELECT id FROM volumes WHERE uuid = ? OR tree IN (SELECT value FROM json_each(?))',
  )
  const blobsOf = query<BlobRefColumns>(
    db,
    `SELECT blob, size AS sizeBytes, crc FROM blobs
       WHERE volume = (SELECT id FROM volumes WHERE uuid = ?) AND blob > ? ORDER BY blob LIMIT ? + 0`,
  )
  const arrivalsOf = query<BlobRefColumns>(
    db,
    `SELECT blob, size AS sizeBytes, crc FROM arrivals
       WHERE volume = (SELECT id FROM volumes WHERE uuid = ?) ORDER BY blob LIMIT ? + 0`,
  )
  const known = query<{ blob: string }>(db, 'SELECT blob FROM blobs WHERE volume = ? AND blob = ?')
  const log = query<{ id: number; timeMs: number; body: string }>(
    db,
    'SELECT id, time AS timeMs, body FROM log WHERE name = ? AND id < ? ORDER BY id DESC LIMIT ? + 0',
  )
  const counters = query<{ row: string; name: string; value: number }>(
    db,
    'SELECT row, name, value FROM counters WHERE tbl = ? AND row > ? ORDER BY row, name',
  )
  const countersNamed = query<{ row: string; name: string; value: number }>(
    db,
    `SELECT row, name, value FROM counters WHERE tbl = ? AND row IN ${NAMED} ORDER BY row, name`,
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
   * or not at all. So does one of a bucket that gets versions meanwhile.
   */
  async function walked<Page>(
    uuid: string,
    at: SnapshotAt | undefined,
    start: (of: View) => PageWalk<Page>,
    startPlain?: (bucket: number, otherwise: () => PageWalk<Page>) => PageWalk<Page>,
  ): Promise<Page | undefined> {
    let began:
      | (Pick<FoundBucket, 'id' | 'moves'> & { readonly isPlain: boolean; readonly walk: PageWalk<Page> })
      | undefined
    for (;;) {
      await nextPage()
      const page = atOnce(() => {
        const found = bucketId.get(uuid)
        if (found === undefined || (began !== undefined && began.id !== found.id)) return 'missing'
        const moment = shownAt(found, at)
        const hasVersions = found.versioning !== 'off'
        // A clone in the making has rows of versions before it is known to have versions.
        const isPlain = !hasVersions && found.versions === 0 && moment === undefined
        if (began?.moves !== found.moves || began.isPlain !== isPlain) {
          const ofSnapshot = at !== undefined && at.epoch < found.current ? gaps.of(uuid, at.epoch) : undefined
          const viewed = { hasVersions, isListed: found.listed === 1, gaps: ofSnapshot }
          const walkRows = () => start(view(found.id, moment, viewed))
          const walk = isPlain && startPlain !== undefined ? startPlain(found.id, walkRows) : walkRows()
          began = { id: found.id, moves: found.moves, isPlain, walk }
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

  function byRow(
    values: Iterable<{ readonly row: string; readonly name: string; readonly value: number }>,
    limit = Infinity,
  ): Map<string, Record<string, number>> {
    const rows = new Map<string, Record<string, number>>()
    for (const { row, name, value } of values) {
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
    ...recordReads(db, nextPage),

    holder(scope: string, value: string): { type: string; key: string } | undefined {
      const row = holder.get(scope, value)
      return row === undefined ? undefined : { type: row.type, key: row.key }
    },

    /** The revision, and how many changes of records and of all else there were. */
    state(): { readonly revision: number; readonly changes: number } {
      const [revision, seq] = state.get() ?? [0, 0]
      return { revision, changes: revision + seq }
    },

    changes(after: number, limit: number): RecordChange[] | undefined {
      return atOnce(() => {
        const current = state.get()?.[0] ?? 0
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

    volumesIn(tree: string): string[] {
      return volumesIn.all(tree).map(({ uuid }) => uuid)
    },

    changedVolumes(after: number, limit: number): ChangedVolume[] {
      const rows = changedVolumes(batchRows(limit), after).slice(0, limit)
      return rows.map((row) => Object.assign(volumeCounters(row), { volume: row.uuid, change: row.changed }))
    },

    untidyVolumes(): UntidyVolume[] {
      return untidy.all().map(({ uuid, dropped }) => ({ volume: uuid, mayReclaim: dropped === 1 }))
    },

    aggregate(uuid: string): AggregateCounters {
      return { volumes: 0, sizeBytes: 0, usedBytes: 0, promisedBytes: 0, ...aggregate.get(uuid) }
    },

    bucket(uuid: string): BucketCounters | undefined {
      const row = bucket.get(uuid)
      return row === undefined ? undefined : bucketCounters(row)
    },

    buckets(named?: readonly string[]): Map<string, BucketCounters> {
      const rows = named === undefined ? buckets.all() : bucketsNamed.all(JSON.stringify(named))
      return new Map(rows.map((row) => [row.uuid, bucketCounters(row)]))
    },

    snapshots(uuid: string): SnapshotRow[] {
      return snapshots.all(uuid).map(({ snapshot, epoch, createdMs }) => ({ snapshot, epoch, createdMs }))
    },

    bucketSnapshots(volumeUuid: string, bucketUuid: string | undefined): SnapshotRow[] {
      const rows =
        bucketUuid === undefined ? bucketSnapshots.all(volumeUuid) : snapshotsOfBucket.all(volumeUuid, bucketUuid)
      return rows.map(({ snapshot, epoch, createdMs, bucket = '' }) => ({ snapshot, epoch, createdMs, bucket }))
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
        if (row !== undefined) return objectRow(objectColumns(row), true)
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
      const page = await walked(
        listQuery.bucket,
        listQuery.at,
        (of) => listKeys(of, listQuery),
        (bucket, otherwise) => plain(bucket, listQuery, otherwise),
      )
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

    givenUpBlobs(uuid: string, limit: number): string[] {
      return givenUp.all(uuid, limit).map((row) => row.blob)
    },

    knownBlobs(uuid: string, blobs: readonly string[], trees: readonly string[] | undefined): Set<string> {
      return atOnce(() => {
        const volumes = trees === undefined ? sharing.all(uuid) : named.all(uuid, JSON.stringify(trees))
        return new Set(blobs.filter((blob) => volumes.some(({ id }) => known.get(id, blob) !== undefined)))
      })
    },

    blobs(uuid: string, after: string, limit: number): BlobRef[] {
      return blobsOf.all(uuid, after, limit).map(blobRef)
    },

    arrivals(uuid: string, limit: number): BlobRef[] {
      return arrivalsOf.all(uuid, limit).map(blobRef)
    },
    ...storedBlobReads(db),

    async log(name: string, { before, limit }: { before?: number; limit: number }): Promise<LogEntry[]> {
      await nextPage()
      return shortPage(log.iterate(name, before ?? Number.MAX_SAFE_INTEGER, limit)).map(({ id, timeMs, body }) => ({
        id,
        timeMs,
        body: JSON.parse(body) as Fields,
      }))
    },

    counters(table: string): Map<string, Record<string, number>> {
      return byRow(counters.iterate(table, ''))
    },

    countersNamed(table: string, named: readonly string[]): Map<string, Record<string, number>> {
      return byRow(countersNamed.iterate(table, JSON.stringify(named)))
    },

    async countersAfter(
      table: string,
      { after, limit }: { after: string; limit: number },
    ): Promise<Map<string, Record<string, number>>> {
      await nextPage()
      return byRow(counters.iterate(table, after), limit)
    },

    quotas: quotaReads(db),
    quotaRoom: quotaRoomReads(db),
    samples: sampleReads(db, nextPage),
  }
}

export type Reader = ReturnType<typeof reader>

interface FoundBucket {
  readonly id: number
  readonly versioning: Versioning
  /** Rows that are no current object. */
  readonly versions: number
  readonly listed: number
  /** The epoch of its volume. Earlier ones are over. */
  readonly current: number
  readonly restoring: number
  readonly moves: number
  /** Of the range that is being taken back, if there is one. */
  readonly epoch: number | null
  readonly start: Uint8Array | null
  readonly until: Uint8Array | null
}

/** What is being taken back to a snapshot is read as that shows it. */
function shownAt(found: FoundBucket, at: SnapshotAt | undefined): ShownAt | undefined {
  const { restoring, epoch, start, until } = found
  if (at !== undefined) return at
  if (restoring !== 0) return { epoch: restoring }
  return epoch === null || start === null || until === null ? undefined : { epoch, of: { start, until } }
}

function volumeCounters(row: VolumeCounters): VolumeCounters {
  return {
    sizeBytes: row.sizeBytes,
    reserveBytes: row.reserveBytes,
    usedBytes: row.usedBytes,
    snapshotBytes: row.snapshotBytes,
    savedByCompressionBytes: row.savedByCompressionBytes,
    savedByDedupeBytes: row.savedByDedupeBytes,
    inheritedBytes: row.inheritedBytes,
    epoch: row.epoch,
    snapshots: row.snapshots,
  }
}

function bucketCounters(row: BucketCounters & { readonly uuid: string }): BucketCounters {
  const { uuid: _, ...counters } = row
  return counters
}
