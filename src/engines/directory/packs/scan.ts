/**
 * Goes over the records of one file, and gives others their turn between pieces of it. Small records are read with what
 * is between their headers, a mebibyte at a time; of large ones the headers alone are read, which is an eighth of the bytes
 * or less for as much of the processor.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Manner } from '../../../ports/volumes.ts'
import { readRaw } from './raw.ts'
import {
  FILE_HEADER_BYTES,
  nextMagic,
  readRecordHeader,
  RECORD_HEADER_BYTES,
  RECORD_HEADER_BYTES_MIN,
} from './record.ts'
import type { RecordHeader } from './record.ts'

const PIECE_BYTES = 2 ** 20
/** From this size on, the rest of a record is skipped: what is read in its stead is a page of the file. */
const SKIPPED_BYTES = 32 * 1024
const PAGE_BYTES = 4096
/** Behind records: where each of them is, for who looks for one. */
export const INDEX_MAGIC = Buffer.from('HOLDPCKI', 'latin1')

export interface Placed extends RecordHeader {
  /** Where it is in this file. */
  readonly at: number
}

export interface Scanned {
  /** Behind the last whole record. What follows is an index, or was never finished. */
  readonly endsAt: number
  /** Bytes before that which are no record, and were one. */
  readonly damaged: readonly Stretch[]
}

/** Some bytes of a file. */
export interface Stretch {
  readonly at: number
  readonly bytes: number
}

/**
 * Calls `found` for each whole record, from a place at which one begins. What is damaged is stepped over: the next header is
 * looked for. Reads no further than the file was long at the beginning.
 */
export async function scan(
  { fd, sizeBytes, seed }: { readonly fd: number; readonly sizeBytes: number; readonly seed: number },
  found: (record: Placed) => void,
  { from = FILE_HEADER_BYTES, between }: { readonly from?: number; readonly between?: Manner['between'] } = {},
): Promise<Scanned> {
  let endsAt = from
  const damaged: Stretch[] = []
  let buffer = Buffer.allocUnsafe(0)
  let bufferAt = 0
  // The next record is taken to be as large as the last one.
  let isSparse = false
  for (let at = from; at + RECORD_HEADER_BYTES_MIN <= sizeBytes;) {
    if (at < bufferAt || Math.min(at + RECORD_HEADER_BYTES, sizeBytes) > bufferAt + buffer.length) {
      // Who reads little has waited for it, and others had their turn.
      if (between !== undefined && buffer.length > 0) await between(buffer.length)
      else if (buffer.length > PAGE_BYTES) await nextTurn()
      buffer = Buffer.allocUnsafe(Math.min(isSparse ? PAGE_BYTES : PIECE_BYTES, sizeBytes - at))
      buffer = buffer.subarray(0, await readRaw(fd, buffer, at))
      bufferAt = at
      if (buffer.length < RECORD_HEADER_BYTES_MIN) break
    }
    const header = readRecordHeader(buffer, at - bufferAt, seed)
    if (header !== undefined && at + header.bytes <= sizeBytes) {
      found({ ...header, at })
      isSparse = header.bytes >= SKIPPED_BYTES
      if (at > endsAt) damaged.push({ at: endsAt, bytes: at - endsAt })
      at += header.bytes
      endsAt = at
      continue
    }
    isSparse = false
    if (at === endsAt && buffer.subarray(at - bufferAt, at - bufferAt + 8).equals(INDEX_MAGIC)) break
    const next = nextMagic(buffer, at - bufferAt + 1)
    // The bytes that a header begins with may lie across the end of what was read.
    at = next === -1 ? Math.max(at + 1, bufferAt + buffer.length - 3) : bufferAt + next
  }
  return { endsAt, damaged }
}
