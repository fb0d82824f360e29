/**
 * How rows are written as columns. What is needed of one object at a time is one JSON text, and parsed only when somebody
 * looks at it; what listings show has columns of its own.
 */
import type {
  BlobRef,
  Fields,
  ListedRow,
  ListedVersion,
  ObjectChecksum,
  ObjectDraft,
  ObjectLock,
  ObjectPart,
  PartRow,
  UploadRow,
  VersionRow,
} from '../ports/catalog.ts'

/** What listings show of a row: the columns that stand first in the table. */
export interface ListedColumns {
  readonly key: Uint8Array
  readonly seq: number
  readonly version: string
  readonly marker: number
  readonly size: number
  readonly etag: string
  readonly modified: number
  readonly algorithm: string
  readonly composite: number
  readonly class: string | null
}

/** A whole row. */
export interface ObjectColumns extends ListedColumns {
  readonly lockMode: ObjectLock['mode'] | null
  readonly lockUntil: number | null
  readonly hold: number | null
  readonly checksum: string
  readonly blobs: string
  readonly body: string
}

export const OBJECT_COLUMNS = `key, seq, version, marker, size, etag, modified, algorithm, composite, class,
  lock_mode AS lockMode, lock_until AS lockUntil, hold, checksum, blobs, body`

/** The same columns as they come in an array. */
export type ObjectTuple = readonly [
  ...[key: Uint8Array, seq: number, version: string, marker: number, size: number, etag: string, modified: number],
  ...[algorithm: string, composite: number, storageClass: string | null],
  ...[lockMode: ObjectLock['mode'] | null, lockUntil: number | null, hold: number | null],
  ...[checksum: string, blobs: string, body: string],
]

export function objectColumns(row: ObjectTuple): ObjectColumns {
  return {
    key: row[0],
    seq: row[1],
    version: row[2],
    marker: row[3],
    size: row[4],
    etag: row[5],
    modified: row[6],
    algorithm: row[7],
    composite: row[8],
    class: row[9],
    lockMode: row[10],
    lockUntil: row[11],
    hold: row[12],
    checksum: row[13],
    blobs: row[14],
    body: row[15],
  }
}

/** Everything of a row but what becomes of it: what moves between the live index and the history. */
export const COPIED_COLUMNS = `bucket, key, seq, born, version, versioned, marker, size, etag, modified, algorithm, composite, class,
  lock_mode, lock_until, hold, checksum, blobs, body`

/** Whose bytes a row counts as: its owner, who is one of its details; '' for nobody. */
export const OWNER = `coalesce(body ->> '$.details.owner', '')`

interface ObjectBody {
  readonly parts: readonly ObjectPart[] | null
  readonly details: Fields
}

export function objectBody({ parts, details }: Pick<ObjectDraft, keyof ObjectBody>): string {
  return JSON.stringify({ parts, details } satisfies ObjectBody)
}

/** The body of a row with other details: those of the patch in place of its own, without those that are null there. */
export function patchedBody(text: string, patch: Fields): string {
  const body = JSON.parse(text) as ObjectBody
  const details = Object.entries({ ...body.details, ...patch }).filter(([name]) => patch[name] !== null)
  return objectBody({ ...body, details: Object.fromEntries(details) })
}

export function listedRow(row: ListedColumns): ListedRow {
  const { key, version, size, etag, modified, algorithm, composite } = row
  const checksum = { algorithm, type: checksumType(composite) }
  const listed = { key, version, sizeBytes: size, etag, modifiedMs: modified, checksum }
  return row.class === null ? listed : Object.assign(listed, { storageClass: row.class })
}

export function listedVersion(row: ListedColumns, isCurrent: boolean, noncurrentSinceMs?: number): ListedVersion {
  const listed = { ...listedRow(row), isMarker: row.marker === 1, isCurrent }
  return noncurrentSinceMs === undefined ? listed : Object.assign(listed, { noncurrentSinceMs })
}

export function objectRow(row: ObjectColumns, isCurrent: boolean, noncurrentSinceMs?: number): VersionRow {
  let body: ObjectBody | undefined
  let blobs: readonly BlobRef[] | undefined
  const parsed = () => (body ??= readBody(row.body))
  return {
    key: row.key,
    version: row.version,
    isMarker: row.marker === 1,
    isCurrent,
    sizeBytes: row.size,
    etag: row.etag,
    modifiedMs: row.modified,
    checksum: { algorithm: row.algorithm, type: checksumType(row.composite), value: row.checksum },
    get blobs() {
      return (blobs ??= readBlobs(row.blobs))
    },
    get parts() {
      return parsed().parts
    },
    get details() {
      return parsed().details
    },
    ...(noncurrentSinceMs === undefined ? {} : { noncurrentSinceMs }),
    ...(row.lockUntil === null ? {} : { lock: { mode: row.lockMode ?? 'compliance', untilMs: row.lockUntil } }),
    ...(row.hold === null ? {} : { legalHold: row.hold === 1 }),
    ...(row.class === null ? {} : { storageClass: row.class }),
  }
}

/** Longer ones hold metadata of one object, and are not likely to come again. */
const KEPT_CHARACTERS_MAX = 256
const KEPT_BODIES_MAX = 1000
/** Most objects have no parts and no metadata of their own, so that few texts are the bodies of nearly all rows. */
const keptBodies = new Map<string, ObjectBody>()

function readBody(text: string): ObjectBody {
  const kept = keptBodies.get(text)
  if (kept !== undefined) return kept
  const body = JSON.parse(text) as ObjectBody
  if (text.length > KEPT_CHARACTERS_MAX) return body
  if (keptBodies.size >= KEPT_BODIES_MAX) keptBodies.clear()
  keptBodies.set(text, frozen(body))
  return body
}

/** Many rows share it. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

export const checksumType = (composite: number): ObjectChecksum['type'] =>
  composite === 1 ? 'COMPOSITE' : 'FULL_OBJECT'

/** `["5f…",4096,2774319,"61…",100]`: of each the name, the size and, where it is known, the CRC. */
export function writeBlobs(blobs: readonly BlobRef[]): string {
  return JSON.stringify(
    blobs.flatMap(({ blob, sizeBytes, crc }) => (crc === undefined ? [blob, sizeBytes] : [blob, sizeBytes, crc])),
  )
}

export function readBlobs(text: string): BlobRef[] {
  const flat = JSON.parse(text) as (string | number)[]
  const blobs: BlobRef[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const [blob, sizeBytes, crc] = [flat[i] as string, flat[i + 1] as number, flat[i + 2]]
    if (typeof crc === 'number') i++
    blobs.push(typeof crc === 'number' ? { blob, sizeBytes, crc } : { blob, sizeBytes })
  }
  return blobs
}

export interface BlobRefColumns {
  readonly blob: string
  readonly sizeBytes: number
  readonly crc: number | null
}

export function blobRef({ blob, sizeBytes, crc }: BlobRefColumns): BlobRef {
  return crc === null ? { blob, sizeBytes } : { blob, sizeBytes, crc }
}

export interface PartColumns {
  readonly number: number
  readonly size: number
  readonly etag: string
  readonly modified: number
  readonly checksum: string
  readonly blobs: string
}

export function partRow(row: PartColumns): PartRow {
  return {
    number: row.number,
    sizeBytes: row.size,
    etag: row.etag,
    modifiedMs: row.modified,
    checksum: JSON.parse(row.checksum) as ObjectChecksum,
    blobs: readBlobs(row.blobs),
  }
}

export interface UploadColumns {
  readonly upload: string
  readonly key: Uint8Array
  readonly started: number
  readonly details: string
}

export function uploadRow(row: UploadColumns): UploadRow {
  return { upload: row.upload, key: row.key, startedMs: row.started, details: JSON.parse(row.details) as Fields }
}
