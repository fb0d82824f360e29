/** How rows are written as columns. What is rarely needed is one JSON text, and parsed only when somebody looks at it. */
import type {
  BlobRef,
  Fields,
  ObjectChecksum,
  ObjectDraft,
  ObjectPart,
  ObjectRow,
  PartRow,
  UploadRow,
} from '../../ports/catalog.ts'

export interface ObjectColumns {
  readonly key: Uint8Array
  readonly seq: number
  readonly version: string
  readonly marker: number
  readonly size: number
  readonly etag: string
  readonly modified: number
  readonly blobs: string
  readonly body: string
}

export const OBJECT_COLUMNS = 'key, seq, version, marker, size, etag, modified, blobs, body'

interface ObjectBody {
  readonly checksum: ObjectChecksum
  readonly parts: readonly ObjectPart[] | null
  readonly details: Fields
}

export function objectBody({ checksum, parts, details }: ObjectDraft): string {
  return JSON.stringify({ checksum, parts, details } satisfies ObjectBody)
}

export function objectRow(row: ObjectColumns): ObjectRow {
  let body: ObjectBody | undefined
  let blobs: readonly BlobRef[] | undefined
  const parsed = () => (body ??= JSON.parse(row.body) as ObjectBody)
  return {
    key: row.key,
    version: row.version,
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
