import type { BlobRef, ObjectRow } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import { s3Error } from '../errors.ts'
import type { ByteRange } from '../ranges.ts'
import { readBytes } from './limits.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** A key that is replaced faster than it can be opened so many times in a row is given up. */
const looksMax = 4

/** A stretch of one blob. */
export interface Segment {
  readonly blob: string
  readonly start: number
  readonly length: number
}

/** Which stretches of which blobs make up a range of an object, or all of it. */
export function segmentsOf(blobs: readonly BlobRef[], range?: ByteRange): Segment[] {
  const segments: Segment[] = []
  let before = 0
  for (const { blob, sizeBytes } of blobs) {
    const start = Math.max(0, (range?.start ?? 0) - before)
    const end = Math.min(sizeBytes, range === undefined ? sizeBytes : range.end + 1 - before)
    if (start < end) segments.push({ blob, start, length: end - start })
    before += sizeBytes
  }
  return segments
}

/**
 * Finds an object and does something that opens its blobs. A blob may go between the look and the opening, when the object
 * is replaced or deleted in that moment; then the row is looked up again. The same row twice is a damaged volume.
 */
export async function withObject<Result>(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  key: Uint8Array,
  use: (object: ObjectRow) => Promise<Result>,
  version?: string,
): Promise<Result> {
  let missing: VolumesFailure | undefined
  let blobBefore: string | undefined
  for (let looks = 0; looks < looksMax; looks += 1) {
    const object = presentObject(await catalog.object(bucket.uuid, key, undefined, version), version)
    const blob = object.blobs[0]?.blob
    if (missing !== undefined && blob === blobBefore) throw missing
    try {
      return await use(object)
    } catch (failure) {
      if (!(failure instanceof VolumesFailure) || failure.reason !== 'missing') throw failure
      missing = failure
      blobBefore = blob
    }
  }
  throw missing ?? s3Error('InternalError')
}

/** The row of an object that is there. A delete marker is none, and the answer says that there is one. */
export function presentObject(row: ObjectRow | undefined, version?: string): ObjectRow {
  if (row === undefined) {
    throw version === undefined ? s3Error('NoSuchKey') : s3Error('NoSuchVersion', { fields: { VersionId: version } })
  }
  if (row.isMarker !== true) return row
  const headers = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': row.version }
  if (version === undefined) throw s3Error('NoSuchKey', { headers })
  throw s3Error('MethodNotAllowed', {
    headers: { ...headers, Allow: 'DELETE', 'Last-Modified': new Date(row.modifiedMs).toUTCString() },
    fields: { Method: 'GET', ResourceType: 'DeleteMarker' },
  })
}

/**
 * The bytes of segments in order. The first are read before this returns, so that what is missing is known while there is
 * still an answer to give. While a piece is being sent the next is read, and never more than that; whoever stops taking
 * pieces lets go of the files.
 */
export async function openSegments(bucket: OpenBucket, segments: readonly Segment[]): Promise<AsyncIterable<Buffer>> {
  const source = pieces(bucket, segments)
  const first = await source.next()
  return oneAhead(first, source)
}

async function* pieces(bucket: OpenBucket, segments: readonly Segment[]): AsyncGenerator<Buffer, undefined> {
  for (const { blob, start, length } of segments) {
    const reader = await bucket.volumes.open(bucket.volume, blob)
    try {
      const end = start + length
      for (let at = start; at < end; at += readBytes) yield await reader.read(at, Math.min(readBytes, end - at))
    } finally {
      await reader.close()
    }
  }
}

async function* oneAhead(
  first: IteratorResult<Buffer, undefined>,
  source: AsyncGenerator<Buffer, undefined>,
): AsyncGenerator<Buffer> {
  let current = first
  try {
    while (current.done !== true) {
      const next = source.next()
      // A failure is met at `await next`; until then it must not count as unhandled.
      next.catch(() => {})
      yield current.value
      current = await next
    }
  } finally {
    await source.return(undefined)
  }
}
