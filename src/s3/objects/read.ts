import type { BlobRef, ObjectRow } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader } from '../../ports/volumes.ts'
import { s3Error } from '../errors.ts'
import type { ByteRange } from '../request/ranges.ts'
import { readDamage } from './damage.ts'
import { readBytes } from './limits.ts'
import { smallBytes } from './piece-buffers.ts'
import type { PieceBuffers } from './piece-buffers.ts'
import type { Pins } from './pins.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** A key that is replaced faster than it can be opened so many times in a row is given up. */
const looksMax = 4

/** A stretch of one blob. */
export interface Segment {
  readonly blob: BlobRef
  readonly start: number
  readonly length: number
}

/** Which stretches of which blobs make up a range of an object, or all of it. */
export function segmentsOf(blobs: readonly BlobRef[], range?: ByteRange): Segment[] {
  const segments: Segment[] = []
  let before = 0
  for (const blob of blobs) {
    const { sizeBytes } = blob
    const start = Math.max(0, (range?.start ?? 0) - before)
    const end = Math.min(sizeBytes, range === undefined ? sizeBytes : range.end + 1 - before)
    if (start < end) segments.push({ blob, start, length: end - start })
    before += sizeBytes
  }
  return segments
}

/**
 * Finds an object and does something with it. `open` gives its bytes, or a range of them; they may be taken after this
 * returns.
 *
 * The object may be replaced or deleted meanwhile. Its blobs are pinned until the last byte was taken, so an answer that
 * has begun ends. Between the look and the pin they may go: an object of several blobs is looked up again after the pin,
 * and one whose first blob cannot be opened is looked up from the beginning. The same row twice is a damaged volume.
 */
export async function withObject<Result>(
  { catalog, pins, tellDamage }: Pick<ObjectStore, 'catalog' | 'pins' | 'tellDamage'>,
  bucket: OpenBucket,
  key: Uint8Array,
  use: (object: ObjectRow, open: Open) => Promise<Result>,
  version?: string,
): Promise<Result> {
  const look = (): Promise<ObjectRow> => findObject({ catalog }, bucket, key, version)
  const tell = (object: ObjectRow, damagedBlob: BlobRef, failure: unknown): void => {
    const found = readDamage(failure, bucket, object, damagedBlob)
    if (found !== undefined) tellDamage(found)
  }
  let missing: { readonly failure: VolumesFailure; readonly object: ObjectRow } | undefined
  let blobBefore: string | undefined
  for (let looks = 0; looks < looksMax; looks += 1) {
    const object = await look()
    const blob = object.blobs[0]?.blob
    if (missing !== undefined && blob === blobBefore) break
    const release = pinned(pins, object)
    try {
      if (object.blobs.length > 1 && (await look()).blobs[0]?.blob !== blob) continue
      return await use(object, (range, buffers) =>
        openSegments(bucket, segmentsOf(object.blobs, range), {
          release: pinned(pins, object),
          buffers,
          failed: (damagedBlob, failure) => tell(object, damagedBlob, failure),
        }),
      )
    } catch (failure) {
      if (!isMissing(failure)) throw failure
      missing = { failure, object }
      blobBefore = blob
    } finally {
      release()
    }
  }
  const [lost] = missing?.object.blobs ?? []
  if (missing === undefined || lost === undefined) throw s3Error('SlowDown')
  tell(missing.object, lost, missing.failure)
  throw missing.failure
}

/**
 * The bytes of an object in order. The first are read before it returns, so that what is missing is known while there is
 * still an answer to give. Who does not take them to the end calls `return` of the iterator, also without having begun.
 * With `buffers`, pieces may lie in buffers of these: who is done with a piece gives it back, and must not use it after.
 */
export type Open = (range?: ByteRange, buffers?: PieceBuffers) => Promise<AsyncIterableIterator<Buffer, undefined>>

/** What is read from one file needs no pin: once open, it stays readable. */
function pinned(pins: Pins, { blobs }: ObjectRow): () => void {
  return blobs.length > 1 ? pins.take(blobs.map(({ blob }) => blob)) : () => {}
}

/** The row of an object: the current one, or that of a version. */
export async function findObject(
  { catalog }: Pick<ObjectStore, 'catalog'>,
  bucket: OpenBucket,
  key: Uint8Array,
  version: string | undefined,
): Promise<ObjectRow> {
  return presentObject(await catalog.object(bucket.uuid, key, bucket.at, version), version)
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

interface Reading {
  readonly release: () => void
  readonly buffers: PieceBuffers | undefined
  /** Told of the blob that could not be read, before the failure is. */
  readonly failed: (blob: BlobRef, failure: unknown) => void
}

/** While a piece is being sent the next is read, and never more than that; not even that when buffers are short. */
async function openSegments(
  bucket: OpenBucket,
  segments: readonly Segment[],
  reading: Reading,
): Promise<AsyncIterableIterator<Buffer, undefined>> {
  const [only] = segments
  if (segments.length === 1 && only !== undefined && only.length <= smallBytes) {
    return new OnePiece(await onlyPiece(bucket, only, reading))
  }
  const source = pieces(bucket, segments, reading)
  let next: Promise<IteratorResult<Buffer, undefined>> | undefined = Promise.resolve(await source.next())
  const bytes: AsyncIterableIterator<Buffer, undefined> = {
    async next() {
      const current = await (next ?? source.next())
      if (current.done === true) return current
      next = reading.buffers?.isShort === true ? undefined : source.next()
      // A failure is met when the piece is asked for; until then it must not count as unhandled.
      next?.catch(() => {})
      return current
    },
    async return() {
      await source.return(undefined)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => bytes,
  }
  return bytes
}

/** All of a small object, which needs none of the machinery that reads ahead. */
async function onlyPiece(
  bucket: OpenBucket,
  { blob, start, length }: Segment,
  { release, failed, buffers }: Reading,
): Promise<Buffer> {
  try {
    const reader = await bucket.place.open(blob)
    try {
      return await readPiece(reader, start, length, buffers?.take(), buffers)
    } finally {
      await reader.close()
    }
  } catch (failure) {
    if (!isMissing(failure)) failed(blob, failure)
    throw failure
  } finally {
    release()
  }
}

class OnePiece implements AsyncIterableIterator<Buffer, undefined> {
  #piece: Buffer | undefined

  constructor(piece: Buffer) {
    this.#piece = piece
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const value = this.#piece
    this.#piece = undefined
    return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value })
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#piece = undefined
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

async function* pieces(
  bucket: OpenBucket,
  segments: readonly Segment[],
  { release, failed, buffers }: Reading,
): AsyncGenerator<Buffer, undefined> {
  let isFirst = true
  try {
    for (const { blob, start, length } of segments) {
      try {
        yield* piecesOf(await bucket.place.open(blob), { start, length, buffers })
      } catch (failure) {
        // Of an object whose first blob is missing there may be a newer row: whoever looks again tells of it.
        if (!isFirst || !isMissing(failure)) failed(blob, failure)
        throw failure
      }
      isFirst = false
    }
  } finally {
    release()
  }
}

async function* piecesOf(
  reader: BlobReader,
  { start, length, buffers }: { readonly start: number; readonly length: number; readonly buffers: Reading['buffers'] },
): AsyncGenerator<Buffer, void> {
  const end = start + length
  try {
    for (let at = start; at < end;) {
      const buffer = buffers?.take()
      const most = buffer?.length ?? readBytes
      // Checksums are of whole blocks: pieces end where blocks do, so none is read twice.
      const next = Math.min(end, at - (at % most) + most)
      yield await readPiece(reader, at, next - at, buffer, buffers)
      at = next
    }
  } finally {
    await reader.close()
  }
}

/** Reads into the buffer, which goes back at once where the reader has the bytes elsewhere. */
async function readPiece(
  reader: BlobReader,
  start: number,
  length: number,
  buffer: Buffer | undefined,
  buffers: PieceBuffers | undefined,
): Promise<Buffer> {
  const piece = await reader.read(start, length, buffer)
  if (buffer !== undefined && piece.buffer !== buffer.buffer) buffers?.giveBack(buffer)
  return piece
}

function isMissing(failure: unknown): failure is VolumesFailure {
  return failure instanceof VolumesFailure && failure.reason === 'missing'
}
