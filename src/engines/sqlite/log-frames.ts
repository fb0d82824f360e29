/**
 * The write-ahead log of a catalog, read as SQLite reads it: 32 bytes of header, then frames of 24 bytes of header and a
 * page (sqlite.org/fileformat2.html, section 4).
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'

const HEADER_BYTES = 32
const FRAME_BYTES = 24
const MAGIC = 0x377f0682
const FORMAT = 3_007_000
/** Frames that are read at once. */
const BATCH = 128
/** Of the header: salts that are new whenever the log begins anew. */
const [SALTS_AT, SALTS_END] = [16, 24]

export interface Log {
  readonly isHeaderBad: boolean
  readonly salts: string
  /** Up to the last commit that is whole. */
  readonly frames: number
  /** Pages of the database after that. */
  readonly pages: number
  /** Those that the log has, each with the place of its newest bytes in the file of the log. */
  readonly has: ReadonlyMap<number, number>
  readonly pageBytes: number
  /** A commit that was synced once follows what cannot be read. */
  readonly hasMore: boolean
}

/** Nothing when the log is not there or empty. */
export function readLog(file: string): Log | undefined {
  const log = openIfThere(file)
  if (log === undefined) return undefined
  try {
    const { size } = fstatSync(log)
    const header = Buffer.alloc(HEADER_BYTES)
    if (size < HEADER_BYTES || readSync(log, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined
    return readFrames(log, size, header)
  } finally {
    closeSync(log)
  }
}

function readFrames(log: number, size: number, header: Buffer): Log {
  const magic = header.readUInt32BE(0)
  const isSwapped = (magic & 1) !== (endianness() === 'BE' ? 1 : 0)
  const sum = new Checksum(isSwapped)
  sum.add(header, 0, 24)
  const pageBytes = header.readUInt32BE(8)
  const isHeaderGood =
    (magic & 0xfffffffe) === MAGIC && header.readUInt32BE(4) === FORMAT && sum.isAt(header, 24) && pageBytes >= 512
  const salts = header.toString('hex', SALTS_AT, SALTS_END)
  // A header is synced before its first frame, so one that was ever used is whole.
  if (!isHeaderGood) return { ...NO_FRAMES, isHeaderBad: true, salts, hasMore: header.some((byte) => byte !== 0) }
  const step = FRAME_BYTES + pageBytes
  const count = Math.floor((size - HEADER_BYTES) / step)
  const has = new Map<number, number>()
  const uncommitted: [page: number, at: number][] = []
  let [frames, pages, isChainWhole, isCommitBehind, hasMore] = [0, 0, true, false, false]
  const buffer = Buffer.from(new ArrayBuffer(BATCH * step))
  for (let first = 0; first < count && !hasMore; first += BATCH) {
    const inBatch = Math.min(BATCH, count - first)
    readSync(log, buffer, 0, inBatch * step, HEADER_BYTES + first * step)
    for (let at = 0; at < inBatch; at++) {
      const start = at * step
      const isOfThisLog = buffer.toString('hex', start + 8, start + 16) === salts
      const [page, pagesAfter] = [buffer.readUInt32BE(start), buffer.readUInt32BE(start + 4)]
      if (isChainWhole) {
        sum.add(buffer, start, 8)
        sum.add(buffer, start + FRAME_BYTES, step - FRAME_BYTES)
        isChainWhole = isOfThisLog && page > 0 && sum.isAt(buffer, start + 16)
      }
      if (isChainWhole) {
        uncommitted.push([page, HEADER_BYTES + (first + at) * step + FRAME_BYTES])
        if (pagesAfter === 0) continue
        for (const [each, bytesAt] of uncommitted.splice(0)) has.set(each, bytesAt)
        ;[frames, pages] = [first + at + 1, pagesAfter]
      } else if (isOfThisLog) {
        hasMore ||= isCommitBehind
        isCommitBehind ||= pagesAfter > 0
      }
    }
  }
  return { isHeaderBad: false, salts, frames, pages, has, pageBytes, hasMore }
}

const NO_FRAMES = { frames: 0, pages: 0, has: new Map<number, number>(), pageBytes: 0 } as const

/** SQLite's: two sums over pairs of words, each with the other. */
class Checksum {
  #first = 0
  #second = 0
  readonly #isSwapped: boolean

  constructor(isSwapped: boolean) {
    this.#isSwapped = isSwapped
  }

  add(bytes: Buffer, start: number, length: number): void {
    const isAligned = (bytes.byteOffset + start) % 4 === 0
    const from = isAligned ? bytes : Buffer.from(new Uint8Array(bytes.subarray(start, start + length)).buffer)
    const words = new Int32Array(from.buffer, isAligned ? from.byteOffset + start : 0, length / 4)
    let [first, second] = [this.#first, this.#second]
    for (let at = 0; at < words.length; at += 2) {
      let [one, two] = [words[at] as number, words[at + 1] as number]
      if (this.#isSwapped) [one, two] = [swap(one), swap(two)]
      first = (first + one + second) | 0
      second = (second + two + first) | 0
    }
    this.#first = first
    this.#second = second
  }

  isAt(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#first && bytes.readInt32BE(at + 4) === this.#second
  }
}

function swap(word: number): number {
  return ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)
}

/** The salts in the header of the log, or nothing when it is not there or empty. */
export function saltsOf(file: string): string | undefined {
  const log = openIfThere(file)
  if (log === undefined) return undefined
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    return readSync(log, header, 0, HEADER_BYTES, 0) < HEADER_BYTES
      ? undefined
      : header.toString('hex', SALTS_AT, SALTS_END)
  } finally {
    closeSync(log)
  }
}

export function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failure
  }
}
