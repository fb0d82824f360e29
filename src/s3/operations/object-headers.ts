import type { ObjectChecksum, ObjectRow } from '../../ports/catalog.ts'
import type { ObjectCall } from '../exchange/call.ts'
import { lockHeadersOf } from '../config/object-lock.ts'
import { taggingCountHeaders } from '../config/tagging.ts'
import { checksumAlgorithms } from '../checksums/algorithms.ts'
import { httpTime } from '../iso-time.ts'
import { metadataHeaders } from '../request/metadata.ts'
import { algorithmOf } from '../objects/checksums.ts'
import { readDetails } from '../objects/details.ts'
import type { OpenBucket } from '../objects/store.ts'
import type { OpenUpload } from '../objects/uploads.ts'

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
  return { 'Last-Modified': httpTime(modifiedMs) }
}

/** Everything GET and HEAD tell about an object but its size. */
export async function objectHeaders(call: ObjectCall, row: ObjectRow): Promise<Readonly<Record<string, string>>> {
  const { bucket, key, query } = call
  const { metadata, tags } = readDetails(row.details)
  const { storageClass } = row
  // How many tags there are and what locks it takes a permission each to know, beside that to read the object.
  const may = (action: string): Promise<boolean> => call.allows(action, bucket.name, key)
  const tagging = query.has('versionId') ? 's3:GetObjectVersionTagging' : 's3:GetObjectTagging'
  const { lock, legalHold } = row
  return {
    ...validatorHeaders(row),
    'Accept-Ranges': 'bytes',
    ...metadataHeaders(metadata),
    ...(tags.length > 0 && (await may(tagging)) ? taggingCountHeaders(tags) : {}),
    ...(storageClass === undefined ? {} : { 'x-amz-storage-class': storageClass }),
    ...(lock !== undefined && (await may('s3:GetObjectRetention')) ? lockHeadersOf({ retention: lock }) : {}),
    ...(legalHold !== undefined && (await may('s3:GetObjectLegalHold')) ? lockHeadersOf({ legalHold }) : {}),
    ...(row.isCurrent === false ? {} : expirationHeaders(bucket, row)),
  }
}

/** When the lifecycle of the bucket will abort an upload, if it will. */
export function abortHeaders(
  { settings }: OpenBucket,
  { key, startedMs }: Pick<OpenUpload, 'key' | 'startedMs'>,
): Readonly<Record<string, string>> {
  return settings.lifecycle?.compiled.abortHeaders({ key, initiatedMs: startedMs }) ?? {}
}

/** When the lifecycle of the bucket will remove the current version of a key, if it will. */
export function expirationHeaders(
  { settings }: OpenBucket,
  row: Pick<ObjectRow, 'key' | 'sizeBytes' | 'modifiedMs' | 'details'>,
): Readonly<Record<string, string>> {
  if (settings.lifecycle === undefined) return {}
  return settings.lifecycle.compiled.expirationHeaders({
    key: row.key,
    sizeBytes: row.sizeBytes,
    tags: () => readDetails(row.details).tags,
    modifiedMs: row.modifiedMs,
    isCurrent: true,
    isDeleteMarker: false,
    isOnlyVersion: false,
  })
}
