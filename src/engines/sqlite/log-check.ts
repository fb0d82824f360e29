/**
 * Looks at the files of a catalog before SQLite opens them, which takes what it can read for all there is:
 *
 * - A log whose frames stop making sense before its end was damaged, and acknowledged commits follow. A log whose end was
 *   not written whole is what a loss of power leaves of a commit that nobody was answered. They are told apart by what
 *   follows the first bad frame: each commit is synced before the next begins, so a whole commit with another behind it
 *   was synced once. The mark of the last acknowledged commit tells it of the last one, too.
 * - A database that is shorter than it says, with pages that the log does not have either, was cut.
 *
 * The log: 32 bytes of header, then frames of 24 bytes of header and a page (sqlite.org/fileformat2.html, section 4).
 */
import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync, rmSync } from 'node:fs'
import { endianness } from 'node:os'
import { logOf, type Mark, markOf, NO_SALTS, readMark } from './log-mark.ts'
import type { Report } from './writer.ts'

/** The message says what is damaged and what to do. */
export class CatalogDamaged extends Error {}

/** The database is whole, but commits that were acknowledged are not. */
class LogDamaged extends CatalogDamaged {}

export interface CheckedLog {
  /** Damage was found and accepted. */
  readonly hasLost: boolean
  /** All that was ever acknowledged is in the catalog. When it is not proven, it may be so all the same. */
  readonly isProven: boolean
}

const HEADER_BYTES = 32
const FRAME_BYTES = 24
const MAGIC = 0x377f0682
const FORMAT = 3_007_000
/** The page with this byte is never written: SQLite locks it. */
const LOCK_BYTE = 2 ** 30
/** Frames that are read at once. */
const BATCH = 128

/** Throws `CatalogDamaged`. A catalog that is not there is fine. */
export function checkCatalogFiles(file: string): CheckedLog {
  try {
    return check(file)
  } catch (failure) {
    if (failure instanceof CatalogDamaged) throw failure
    throw new CatalogDamaged(
      `The files of the catalog ${file} cannot be read (${(failure as Error).message}). Put its folder back from a copy.`,
    )
  }
}

/**
 * Tells whether all that was acknowledged is proven to be there. Damage of the log is accepted where that is wanted: what
 * SQLite can read of it counts, and a copy of the whole is kept.
 */
export function checkOrAccept(file: string, acceptsLoss: boolean, report: Report): CheckedLog {
  try {
    return checkCatalogFiles(file)
  } catch (failure) {
    if (!acceptsLoss || !(failure instanceof LogDamaged)) throw failure
    const log = logOf(file)
    const kept = `${log}.damaged-${Date.now()}`
    if (existsSync(log)) copyFileSync(log, kept)
    rmSync(markOf(file), { force: true })
    report(
      `The catalog goes on without lost commits, as was asked for. What is left of its log is kept in ${kept}.`,
      failure,
    )
    return { isProven: false, hasLost: true }
  }
}

function check(file: string): CheckedLog {
  const log = readLog(logOf(file))
  const mark = readMark(file)
  insistOnLog(file, log, mark)
  insistOnPages(file, log)
  const isLogEmpty = log === undefined || log.frames === 0
  return {
    hasLost: false,
    isProven: mark !== undefined && (mark.salts === log?.salts || (mark.salts === NO_SALTS && isLogEmpty)),
  }
}

function insistOnLog(file: string, log: Log | undefined, mark: Mark | undefined): void {
  const place = logOf(file)
  const isMarked = mark !== undefined && mark.frames > 0
  if (log === undefined) {
    if (isMarked) throw damaged(`The log ${place} is missing or empty, but ${mark.frames} pages of it were needed`)
    return
  }
  if (log.isHeaderBad) {
    if (isMarked || log.hasMore) throw damaged(`The beginning of the log ${place} is damaged`)
    return
  }
  const isSame = mark?.salts === log.salts
  if (isSame && mark.frames <= log.frames) return
  if (isSame) throw damaged(`The log ${place} is damaged after page ${log.frames} of ${mark.frames}`)
  if (isMarked && isOlder(log.salts, mark.salts))
    throw damaged(`The log ${place} is an older one than was written last`)
  if (log.hasMore) throw damaged(`The log ${place} is damaged after page ${log.frames}, in the middle`)
}

function damaged(what: string): LogDamaged {
  return new LogDamaged(
    `${what}: commits that were acknowledged would be lost. Nothing was changed. Put the folder of the catalog back from ` +
      'a copy, or start once with HOLDFAST_ACCEPT_LOSS=1 to go on without them.',
  )
}

/** The first salt grows by one each time the log begins anew. */
function isOlder(salts: string, than: string): boolean {
  const ahead = (Number.parseInt(than.slice(0, 8), 16) - Number.parseInt(salts.slice(0, 8), 16)) >>> 0
  return ahead > 0 && ahead < 2 ** 31
}

function insistOnPages(file: string, log: Log | undefined): void {
  const database = openForReading(file)
  if (database === undefined) return
  try {
    const { size } = fstatSync(database)
    const header = Buffer.alloc(100)
    if (size === 0 || readSync(database, header, 0, 100, 0) < 100) return
    const stored = header.readUInt16BE(16)
    const pageBytes = stored === 1 ? 65_536 : stored
    const there = pageBytes === 0 ? 0 : Math.floor(size / pageBytes)
    // The number of pages counts while the change counter beside it is the current one.
    const said = header.readUInt32BE(24) === header.readUInt32BE(92) ? header.readUInt32BE(28) : 0
    const wanted = log !== undefined && log.frames > 0 ? log.pages : said
    for (let page = there + 1; page <= wanted; page++) {
      if (log?.has.has(page) === true || page === LOCK_BYTE / pageBytes + 1) continue
      throw new CatalogDamaged(
        `The catalog ${file} was cut: it has ${there} pages of ${wanted}. Put the folder of the catalog back from a copy.`,
      )
    }
  } finally {
    closeSync(database)
  }
}

interface Log {
  readonly isHeaderBad: boolean
  readonly salts: string
  /** Up to the last commit that is whole. */
  readonly frames: number
  /** Pages of the database after that. */
  readonly pages: number
  /** Those that the log has. */
  readonly has: ReadonlySet<number>
  /** A commit that was synced once follows what cannot be read. */
  readonly hasMore: boolean
}

/** Nothing when the log is not there or empty. */
function readLog(file: string): Log | undefined {
  const log = openForReading(file)
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
  const salts = header.toString('hex', 16, 24)
  // A header is synced before its first frame, so one that was ever used is whole.
  if (!isHeaderGood) return { ...NO_FRAMES, isHeaderBad: true, salts, hasMore: header.some((byte) => byte !== 0) }
  const step = FRAME_BYTES + pageBytes
  const count = Math.floor((size - HEADER_BYTES) / step)
  const has = new Set<number>()
  const uncommitted: number[] = []
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
        uncommitted.push(page)
        if (pagesAfter === 0) continue
        for (const each of uncommitted.splice(0)) has.add(each)
        ;[frames, pages] = [first + at + 1, pagesAfter]
      } else if (isOfThisLog) {
        hasMore ||= isCommitBehind
        isCommitBehind ||= pagesAfter > 0
      }
    }
  }
  return { isHeaderBad: false, salts, frames, pages, has, hasMore }
}

const NO_FRAMES = { frames: 0, pages: 0, has: new Set<number>() } as const

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

function openForReading(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failure
  }
}
