/** How rows are written as columns. What is rarely needed is one JSON text, and parsed only when somebody looks at it. */
import type {
  BlobRef,
  Fields,
  ObjectChecksum,
  ObjectDraft,
  ObjectLock,
  ObjectPart,
  PartRow,
  UploadRow,
  VersionRow,
} from '../../ports/catalog.ts'

export interface ObjectColumns {
  readonly key: Uint8Array
  readonly seq: number
  readonly version: string
  readonly marker: number
  readonly lockMode: ObjectLock['mode'] | null
  readonly lockUntil: number | null
  readonly hold: number | null
  readonly size: number
  readonly etag: string
  readonly modified: number
  readonly blobs: string
  readonly body: string
}

export const OBJECT_COLUMNS =
  'key, seq, version, marker, lock_mode AS lockMode, lock_until AS lockUntil, hold, size, etag, modified, blobs, body'

interface ObjectBody {
  readonly checksum: ObjectChecksum
  readonly parts: readonly ObjectPart[] | null
  readonly details: Fields
}

export function objectBody({ checksum, parts, details }: Pick<ObjectDraft, keyof ObjectBody>): string {
  return JSON.stringify({ checksum, parts, details } satisfies ObjectBody)
}

/** The body of a row with other details: those of the patch in place of its own, without those that are null there. */
export function patchedBody(text: string, patch: Fields): string {
  const body = JSON.parse(text) as ObjectBody
  const details = Object.entries({ ...body.details, ...patch }).filter(([name]) => patch[name] !== null)
  return objectBody({ ...body, details: Object.fromEntries(details) })
}

export function objectRow(row: ObjectColumns, isCurrent: boolean, noncurrentSinceMs?: number): VersionRow {
  let body: ObjectBody | undefined
  let blobs: readonly BlobRef[] | undefined
  const parsed = () => (body ??= JSON.parse(row.body) as ObjectBody)
  const object: VersionRow = {
    key: row.key,
    version: row.version,
    isMarker: row.marker === 1,
    isCurrent,
    sizeBytes: row.size,
    etag: row.etag,
    modifiedMs: row.modified,
    get checksum() {
      return parsed().checksum
    },
    get blobs() {
      return (blobs ??= readBlobs(row.blobs))
    },
    get parts() {
      return parsed().parts
    },
    get details() {
      return parsed().details
    },
  }
  // Few rows have any of these, and listings make very many.
  if (noncurrentSinceMs === undefined && row.lockUntil === null && row.hold === null) return object
  return Object.assign(object, {
    ...(noncurrentSinceMs === undefined ? {} : { noncurrentSinceMs }),
    ...(row.lockUntil === null ? {} : { lock: { mode: row.lockMode ?? 'compliance', untilMs: row.lockUntil } }),
    ...(row.hold === null ? {} : { legalHold: row.hold === 1 }),
  })
}

/** `["5f…",4096,"61…",100]`: names and sizes in turn. */
export function writeBlobs(blobs: readonly BlobRef[]): string {
  return JSON.stringify(blobs.flatMap(({ blob, sizeBytes }) => [blob, sizeBytes]))
}

export function readBlobs(text: string): BlobRef[] {
  const flat = JSON.parse(text) as (string | number)[]
  const blobs: BlobRef[] = []
  for (let i = 0; i < flat.length; i += 2) blobs.push({ blob: flat[i] as string, sizeBytes: flat[i + 1] as number })
  return blobs
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
