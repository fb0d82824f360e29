/**
 * The rows of a bucket as they are now, or as a snapshot shows them: those that still live and were born before it, and
 * those of the history that died after it.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { SnapshotAt } from '../../ports/catalog.ts'
import { versionFinder } from './find-version.ts'
import { boundsOf, isWithin } from '../prefixes.ts'
import type { KeyBounds } from '../prefixes.ts'
import { OBJECT_COLUMNS } from '../rows.ts'
import type { ListedColumns, ObjectColumns } from '../rows.ts'
import type { GapsOfBucket } from './snapshot-gaps.ts'
import { batches, query, tuples } from '../statements.ts'
import { MergedWalk, TableWalk } from './walk.ts'
import type { Patience, Place, Reading, Table } from './walk.ts'

/** A moment at which rows are shown: all of a bucket, or those of some keys, while the others are as they are now. */
export interface ShownAt extends SnapshotAt {
  readonly of?: KeyBounds
}

/** What is asked of a bucket at a moment. */
export interface View {
  /** Whether keys may have several rows. */
  readonly hasVersions: boolean
  current(key: Uint8Array): ObjectColumns | undefined
  ofVersion(key: Uint8Array, version: string): ObjectColumns | undefined
  /** When the next newer row of the key was modified. */
  newerModified(key: Uint8Array, seq: number): number | undefined
  /**
   * The first key after this one that shows an object, or nothing when there is none. Absent where that is not known
   * without walking there.
   */
  readonly nextListed?: (after: Uint8Array) => Uint8Array | undefined
  /** Keys among which nothing is shown, as far as is known. Absent where that may change. */
  readonly gaps?: GapsOfBucket
  /** A walk over all rows with a prefix, reading what listings show. The first batch has so many rows. */
  walk(prefix: Uint8Array, patience: Patience, firstBatch: number): MergedWalk<ListedColumns>
  /** As `walk`, reading whole rows. */
  walkWhole(prefix: Uint8Array, patience: Patience): MergedWalk<ObjectColumns>
}

/** A page of keys, and one more that tells whether it is the last. */
const LISTED_ROWS_MAX = 1001
/** Whole rows may be very long: those of objects of ten thousand parts have half a megabyte. */
const WHOLE_ROWS_MAX = 16

export interface LivePlace extends Place {
  readonly born: number
}
export interface DeadPlace extends LivePlace {
  readonly id: number
  readonly died: number
}
type LiveListed = ListedColumns & LivePlace
type LiveWhole = ObjectColumns & LivePlace

/** Bounds of a walk, for a table `o`. */
export const IN_RANGE = 'o.bucket = ? AND o.key >= ? AND o.key < ? ORDER BY o.key, seq DESC'
export const OF_KEY = 'o.bucket = ? AND o.key = ? AND seq <= ? ORDER BY seq DESC'

/** The rows of a key that a snapshot shows, of which a condition holds. */
const shown = (condition: string) => `
  SELECT ${OBJECT_COLUMNS} FROM objects WHERE bucket = ?1 AND key = ?2 AND born <= ?3 AND ${condition}
  UNION ALL
  SELECT ${OBJECT_COLUMNS} FROM object_history
    WHERE bucket = ?1 AND key = ?2 AND born <= ?3 AND died > ?3 AND ${condition}`

/** What is known of a bucket beside its number. */
export interface Viewed {
  readonly hasVersions?: boolean
  /** Whether all of its keys that show an object are among the listed ones. */
  readonly isListed?: boolean
  /** Of the bucket at this moment. */
  readonly gaps?: GapsOfBucket | undefined
}

export function viewer(db: DatabaseSync): (bucket: number, at?: ShownAt, viewed?: Viewed) => View {
  const following = query<{ key: Uint8Array }>(
    db,
    'SELECT key FROM listed_keys WHERE bucket = ? AND key > ? ORDER BY key LIMIT 1',
  )
  const live = `SELECT ${OBJECT_COLUMNS}, born FROM objects o WHERE`
  const newest = query<ObjectColumns>(db, `${live} bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1`)
  const newestAt = query<ObjectColumns>(db, `${shown('TRUE')} ORDER BY seq DESC LIMIT 1`)
  const versionNow = versionFinder<ObjectColumns>(db, OBJECT_COLUMNS)
  const versionAt = query<ObjectColumns>(db, shown('version = ?4'))
  const newer = query<ObjectColumns>(db, `${live} bucket = ? AND key = ? AND seq > ? ORDER BY seq LIMIT 1`)
  const newerAt = query<ObjectColumns>(db, `${shown('seq > ?4')} ORDER BY seq LIMIT 1`)
  const liveListed = { ...listedRows(db), load: (row: LiveListed) => row }
  const liveWhole = { ...wholeRows(db), load: (row: LiveWhole) => row }
  const dead = deadRows(db)
  const deadRow = query<ObjectColumns>(db, `SELECT ${OBJECT_COLUMNS} FROM object_history WHERE id = ?`)
  const deadTable = { ...dead, load: (row: DeadPlace) => deadRow.get(row.id) }

  function viewNow(bucket: number, hasVersions: boolean): View {
    const all = { seen: () => true }
    return {
      hasVersions,
      current: (key) => newest.get(bucket, key),
      ofVersion: (key, version) => versionNow(bucket, key, version),
      newerModified: (key, seq) => newer.get(bucket, key, seq)?.modified,
      walk(prefix, patience, first) {
        const over = walker<ListedColumns>(bucket, prefix, patience, { first, max: LISTED_ROWS_MAX })
        return new MergedWalk([over({ ...liveListed, ...all })])
      },
      walkWhole(prefix, patience) {
        const over = walker<ObjectColumns>(bucket, prefix, patience, { first: WHOLE_ROWS_MAX, max: WHOLE_ROWS_MAX })
        return new MergedWalk([over({ ...liveWhole, ...all })])
      },
    }
  }

  function viewAt(bucket: number, hasVersions: boolean, { epoch, of }: ShownAt): View {
    const isThen = of === undefined ? () => true : (key: Uint8Array) => isWithin(of, key)
    const lives = { seen: (row: LivePlace) => row.born <= epoch || !isThen(row.key) }
    const lived = { seen: (row: DeadPlace) => row.born <= epoch && row.died > epoch && isThen(row.key) }
    const now = viewNow(bucket, hasVersions)
    return {
      hasVersions,
      current: (key) => (isThen(key) ? newestAt.get(bucket, key, epoch) : now.current(key)),
      ofVersion: (key, version) =>
        isThen(key) ? versionAt.get(bucket, key, epoch, version) : now.ofVersion(key, version),
      newerModified: (key, seq) =>
        isThen(key) ? newerAt.get(bucket, key, epoch, seq)?.modified : now.newerModified(key, seq),
      walk(prefix, patience, first) {
        const over = walker<ListedColumns>(bucket, prefix, patience, { first, max: LISTED_ROWS_MAX })
        return new MergedWalk([over({ ...liveListed, ...lives }), over({ ...deadTable, ...lived })])
      },
      walkWhole(prefix, patience) {
        const over = walker<ObjectColumns>(bucket, prefix, patience, { first: WHOLE_ROWS_MAX, max: WHOLE_ROWS_MAX })
        return new MergedWalk([over({ ...liveWhole, ...lives }), over({ ...deadTable, ...lived })])
      },
    }
  }

  return (bucket, at, { hasVersions = true, isListed = false, gaps } = {}) => {
    if (at !== undefined) return { ...viewAt(bucket, hasVersions, at), ...(gaps === undefined ? {} : { gaps }) }
    const now = viewNow(bucket, hasVersions)
    return isListed ? { ...now, nextListed: (after) => following.get(bucket, after)?.key } : now
  }
}

/** Makes walks over several tables with the same bounds. */
function walker<Columns>(bucket: number, prefix: Uint8Array, patience: Patience, reading: Reading) {
  const { until } = boundsOf({ prefix })
  return <Row extends Place>(table: Table<Row, Columns>) => new TableWalk(table, bucket, until, patience, reading)
}

type Rows<Row extends Place> = Pick<Table<Row, unknown>, 'rows' | 'rowsOfKey'>

/** Reads the first columns of live rows. Keys come as hex digits: a Buffer of each row costs SQLite's binding far more. */
function listedRows(db: DatabaseSync): Rows<LiveListed> {
  type Tuple = readonly [string, number, number, number, string, number, string, number, string, number, string | null]
  const select = `SELECT hex(o.key), seq, born, marker, version, size, etag, modified, algorithm, composite,
      class FROM objects o WHERE`
  const listed = (row: Tuple) => ({
    key: Buffer.from(row[0], 'hex'),
    seq: row[1],
    born: row[2],
    marker: row[3],
    version: row[4],
    size: row[5],
    etag: row[6],
    modified: row[7],
    algorithm: row[8],
    composite: row[9],
    class: row[10],
  })
  const rows = tuples<Tuple>(db, `${select} ${IN_RANGE}`)
  const rowsOfKey = tuples<Tuple>(db, `${select} ${OF_KEY}`)
  return {
    rows: (...bounds) => rows(...bounds).map(listed),
    rowsOfKey: (...bounds) => rowsOfKey(...bounds).map(listed),
  }
}

function wholeRows(db: DatabaseSync): Rows<LiveWhole> {
  const select = `SELECT ${OBJECT_COLUMNS}, born FROM objects o WHERE`
  return { rows: batches(db, `${select} ${IN_RANGE}`), rowsOfKey: batches(db, `${select} ${OF_KEY}`) }
}

/** Places of the history, read from its index alone: most of its rows are not those of the snapshot asked for. */
export function deadRows(db: DatabaseSync): Rows<DeadPlace> {
  type Tuple = readonly [number, string, number, number, number, number]
  const select = 'SELECT id, hex(o.key), seq, born, died, marker FROM object_history o WHERE'
  const place = ([id, key, seq, born, died, marker]: Tuple) => ({
    id,
    key: Buffer.from(key, 'hex'),
    seq,
    born,
    died,
    marker,
  })
  const rows = tuples<Tuple>(db, `${select} ${IN_RANGE}`)
  const rowsOfKey = tuples<Tuple>(db, `${select} ${OF_KEY}`)
  return {
    rows: (...bounds) => rows(...bounds).map(place),
    rowsOfKey: (...bounds) => rowsOfKey(...bounds).map(place),
  }
}
