/**
 * Looks at the files of a catalog before SQLite opens them, which takes what it can read for all there is:
 *
 * - A log whose frames stop making sense before its end was damaged, and acknowledged commits follow. A log whose end was
 *   not written whole is what a loss of power leaves of a commit that nobody was answered. They are told apart by what
 *   follows the first bad frame: each commit is synced before the next begins, so a whole commit with another behind it
 *   was synced once. The mark of the last acknowledged commit tells it of the last one, too.
 * - A database that is shorter than it says, with pages that the log does not have either, was cut.
 */
import { closeSync, copyFileSync, existsSync, fstatSync, readSync, rmSync } from 'node:fs'
import { type Log, openIfThere, readLog } from './log-frames.ts'
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

/** The page with this byte is never written: SQLite locks it. */
const LOCK_BYTE = 2 ** 30

/** Throws `CatalogDamaged`. A catalog that is not there is fine. */
export function checkCatalogFiles(file: string): CheckedLog {
  try {
    return check(file)
  } catch (failure) {
    if (failure instanceof CatalogDamaged) throw failure
    throw new CatalogDamaged(
      `The files of the catalog ${file} cannot be read (${(failure as Error).message}). Restore a backup with "holdfast restore --move-aside".`,
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
    `${what}: commits that were acknowledged would be lost. Nothing was changed. Put the folder of the catalog back, ` +
      'restore a backup with "holdfast restore --move-aside", or start once with HOLDFAST_ACCEPT_LOSS=1 to go on without them.',
  )
}

/** The first salt grows by one each time the log begins anew. */
function isOlder(salts: string, than: string): boolean {
  const ahead = (Number.parseInt(than.slice(0, 8), 16) - Number.parseInt(salts.slice(0, 8), 16)) >>> 0
  return ahead > 0 && ahead < 2 ** 31
}

function insistOnPages(file: string, log: Log | undefined): void {
  const database = openIfThere(file)
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
        `The catalog ${file} was cut: it has ${there} pages of ${wanted}. Restore a backup with "holdfast restore --move-aside".`,
      )
    }
  } finally {
    closeSync(database)
  }
}
