import type { ObjectChecksum, ObjectRow } from '../../ports/catalog.ts'
import { checksumAlgorithms } from '../checksums/algorithms.ts'
import { metadataHeaders } from '../metadata.ts'
import { algorithmOf } from '../objects/checksums.ts'
import { readDetails } from '../objects/details.ts'

export function quoted(etag: string): string {
  return `"${etag}"`
}

export function checksumHeaders(checksum: ObjectChecksum): Readonly<Record<string, string>> {
  return {
    [checksumAlgorithms[algorithmOf(checksum)].header]: checksum.value,
    'x-amz-checksum-type': checksum.type,
  }
}

/** `ChecksumCRC32` and the like, for documents. */
export function checksumElements(checksum: ObjectChecksum): Readonly<Record<string, string>> {
  return { [checksumAlgorithms[algorithmOf(checksum)].element]: checksum.value, ChecksumType: checksum.type }
}

/** The same for a part, whose own type nobody asks for. */
export function partChecksumElements(checksum: ObjectChecksum): Readonly<Record<string, string>> {
  return { [checksumAlgorithms[algorithmOf(checksum)].element]: checksum.value }
}

/** What tells a client that what it has is still what is here. */
export function validatorHeaders(row: Pick<ObjectRow, 'etag' | 'modifiedMs'>): Readonly<Record<string, string>> {
  return { ETag: quoted(row.etag), ...lastModified(row) }
}

export function lastModified({ modifiedMs }: Pick<ObjectRow, 'modifiedMs'>): Readonly<Record<string, string>> {
  return { 'Last-Modified': new Date(modifiedMs).toUTCString() }
}

/** Everything GET and HEAD tell about an object but its size. */
export function objectHeaders(row: ObjectRow): Readonly<Record<string, string>> {
  return { ...validatorHeaders(row), 'Accept-Ranges': 'bytes', ...metadataHeaders(readDetails(row.details).metadata) }
}
