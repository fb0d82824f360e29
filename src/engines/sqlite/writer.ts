/**
 * Applies commits to the database, many in one transaction and one sync (group commit).
 *
 * A refused commit must leave nothing and must not hurt its neighbours. Nearly all refusals are found before the first
 * write of a commit, so a batch is first applied without savepoints, which are the dearer way. Only when a commit is
 * refused after it wrote something, or fails for a reason nobody expected, the whole batch is rolled back and applied
 * again carefully: each commit inside a savepoint of its own. When COMMIT itself fails, nothing of the batch was done.
 *
 * No failure of the disk ends the writer. When the disk is full it gives up its reserve, and takes only commits that
 * free space or are needed for that; the others are refused `no-space`, until the reserve is there again.
 */
import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { CatalogUnavailable, CommitRefused } from '../../ports/catalog.ts'
import type { Change, Outcome } from '../../ports/catalog.ts'
import { applyTo } from '../../catalog/changes/apply.ts'
import type { Apply } from '../../catalog/changes/apply.ts'
import { Ledger } from '../../catalog/ledger.ts'
import { keyLister, UNLISTED } from '../../catalog/listed-keys.ts'
import type { LogMark } from './log-mark.ts'
import { FullDisk, isDiskFull } from './no-space.ts'
import type { Reserve } from './reserve.ts'
import { openForReading, openForWriting } from '../../catalog/schema.ts'
import { sweeper } from '../../catalog/changes/sweep.ts'

/** What became of a commit: its outcomes, or why there are none. */
export type Settled = readonly Outcome[] | Error

/** Pages in the write-ahead log that are copied back at the next quiet moment, and those that do not wait for one. */
const CHECKPOINT_PAGES = 1000
const CHECKPOINT_PAGES_MAX = 8000
const CHECKPOINT_PAGES_FULL = 100
/** Pages that the database may have to grow by when the log is copied back: the reserve has room for them, half used. */
const GROWTH_PAGES_MAX = 1000
/** Rows of closed volumes that go with each batch. */
const SWEPT_ROWS = 200

/** Told what nobody asked for and went wrong, and that it is well again. */
export type Report = (message: string, cause?: unknown) => void

export interface WriterOptions {
  /** Pages of the catalog that the writing connection keeps. */
  readonly cacheKib?: number | undefined
  readonly report?: Report
  /** Without it the writer takes what it can while the disk is full. */
  readonly reserve?: Reserve
  /** Told how far the log is with each commit. */
  readonly mark?: LogMark
}

export class Writer {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #report: Report
  readonly #reserve: Reserve | undefined
  readonly #mark: LogMark | undefined
  /** While the disk is full. */
  #full: FullDisk | undefined
  /** Why the last transaction could not be written. */
  #failing: Error | undefined
  /** What was reported of the care of the log last, so that it is reported once. */
  #careFailed = ''
  #pagesCopied: number
  /** As it was after the last transaction, until somebody has asked. */
  #log: { readonly pages: number; readonly copied: number } | undefined
  readonly #ledger: Ledger
  readonly #apply: Apply
  readonly #sweep: (limit: number) => number
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #pagesInLog: StatementSync
  readonly #pages: StatementSync
  #transactions = 0

  constructor(file: string, { report = () => undefined, reserve, mark, cacheKib }: WriterOptions = {}) {
    this.#file = file
    this.#report = report
    this.#mark = mark
    this.#reserve = reserve
    // A reserve that was given up, and cannot be made again, says that the disk was full and is.
    const isFull = reserve !== undefined && isThere(file) && reserve.isOutOfReach
    this.#db = openForWriting(file, cacheKib)
    if (isFull) this.#full = new FullDisk(this.#db, reserve.givenUpAt)
    this.#ledger = new Ledger(this.#db)
    this.#apply = applyTo(this.#db, this.#ledger)
    const sweep = sweeper(this.#db, this.#ledger)
    const listKeys = keyLister(this.#db)
    this.#sweep = (limit) => {
      const swept = sweep(limit)
      return swept + listKeys(limit - swept)
    }
    this.#begin = this.#db.prepare('BEGIN IMMEDIATE')
    this.#commit = this.#db.prepare('COMMIT')
    this.#pagesInLog = this.#db.prepare('PRAGMA wal_checkpoint(NOOP)')
    this.#pages = this.#db.prepare('PRAGMA page_count')
    this.#pagesCopied = this.#pageCount()
  }

  #pageCount(): number {
    return Number(this.#pages.get()?.['page_count'] ?? 0)
  }

  /** The connection, for reading what only it sees: a catalog in memory. */
  get db(): DatabaseSync {
    return this.#db
  }

  /** Transactions so far that reached COMMIT. */
  get transactions(): number {
    return this.#transactions
  }

  /**
   * Settles a batch, in order. What it returns is durable. Never throws for a commit's sake. A commit of no changes asks
   * whether commits can be made.
   */
  settle(batch: readonly (readonly Change[])[]): Settled[] {
    try {
      if (this.#full !== undefined) return this.#settleFull(batch)
      const settled = this.#inTransaction(() => batch.map((changes) => this.#applyPlainly(changes)))
      if (batch.some(({ length }) => length > 0)) this.#failing = undefined
      return settled
    } catch {
      try {
        return this.#inTransaction(() => batch.map((changes) => this.#applyCarefully(changes)))
      } catch (failure) {
        return isDiskFull(failure) ? this.#settleFull(batch, failure) : this.#settleNone(batch, failure)
      }
    }
  }

  /** With what the reserve gives. Each commit in a transaction of its own, as some may fit where not all do. */
  #settleFull(batch: readonly (readonly Change[])[], cause?: unknown): Settled[] {
    if (cause !== undefined) this.#becomeFull(cause)
    const noSpace = () => new CommitRefused('no-space', 0)
    const full = this.#full
    return batch.map((changes) => {
      if (full?.refuses(changes) === true) return noSpace()
      try {
        return (
          this.#inTransaction(() => {
            const settled = this.#applyCarefully(changes)
            if (!(settled instanceof Error) && full?.isOver(changes, settled) === true) throw noSpace()
            return [settled]
          })[0] ?? noSpace()
        )
      } catch (failure) {
        if (failure instanceof CommitRefused) return failure
        if (isDiskFull(failure)) return noSpace()
        return this.#settleNone([changes], failure)[0] ?? noSpace()
      }
    })
  }

  #settleNone(batch: readonly (readonly Change[])[], failure: unknown): Settled[] {
    this.#failing = new CatalogUnavailable(`The catalog could not be written: ${messageOf(failure)}`)
    return batch.map(() => this.#failing as Error)
  }

  #becomeFull(cause: unknown): void {
    if (this.#full === undefined) {
      this.#report('The disk of the catalog is full. Commits that need space are refused.', cause)
      this.#full = new FullDisk(this.#db, this.#reserve?.givenUpAt)
    }
    this.#reserve?.release(this.#full.pagesAtFirst)
  }

  #inTransaction(apply: () => Settled[]): Settled[] {
    this.#begin.run()
    try {
      const settled = apply()
      this.#sweep(SWEPT_ROWS)
      this.#ledger.flush()
      this.#commit.run()
      this.#transactions++
      this.#noteMark()
      return settled
    } catch (failure) {
      this.#ledger.forget()
      // A full disk or an input error may have ended the transaction already.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw failure
    }
  }

  /** What fails here does not undo the commit, which is done. */
  #noteMark(): void {
    if (this.#mark === undefined) return
    try {
      this.#log = this.#lookAtLog()
      this.#mark.note(this.#log.pages, this.#ledger.changes)
    } catch {
      // The mark is behind until the next commit.
    }
  }

  /** Throws what the careful way has to deal with. */
  #applyPlainly(changes: readonly Change[]): Settled {
    if (changes.length === 0 && this.#failing !== undefined) return this.#failing
    const { writes } = this.#ledger
    try {
      return this.#apply(changes)
    } catch (failure) {
      if (failure instanceof CommitRefused && this.#ledger.writes === writes) return failure
      throw failure
    }
  }

  #applyCarefully(changes: readonly Change[]): Settled {
    this.#ledger.flush()
    this.#db.exec('SAVEPOINT one_commit')
    try {
      const outcomes = this.#apply(changes)
      this.#ledger.flush()
      this.#db.exec('RELEASE one_commit')
      return outcomes
    } catch (failure) {
      this.#ledger.forget()
      // Without the transaction the neighbours are lost as well: the whole batch fails.
      if (!this.#db.isTransaction) throw failure
      this.#db.exec('ROLLBACK TO one_commit; RELEASE one_commit')
      if (isDiskFull(failure)) throw failure
      return failure instanceof Error ? failure : new Error(messageOf(failure))
    }
  }

  /**
   * Copies the log back into the database when enough has gathered, and sees to the reserve. To be called after the answers
   * were sent, because it takes some milliseconds; `idle` when nothing is waiting. Never throws: what fails is tried again.
   */
  tidy(idle: boolean): void {
    try {
      if (this.#isCopyDue(idle)) this.#copyLog()
      // Under load, too: a cluster whose clients try again and again is never idle.
      this.#keepReserve()
      if (idle) this.#sweepAlone()
      if (this.#careFailed !== '') this.#report('The log of the catalog is copied back again.')
      this.#careFailed = ''
    } catch (failure) {
      const message = messageOf(failure)
      if (message !== this.#careFailed) this.#report('The log of the catalog could not be copied back.', failure)
      this.#careFailed = message
    }
  }

  #isCopyDue(idle: boolean): boolean {
    const pages = this.#pagesToCopy()
    if (pages === 0) return false
    // What is copied back makes room in the log, which cannot grow on a full disk.
    if (this.#full !== undefined && pages >= CHECKPOINT_PAGES_FULL) return true
    if (pages >= CHECKPOINT_PAGES_MAX || (idle && pages >= CHECKPOINT_PAGES)) return true
    // It has not grown by more pages than the log has, so mostly there is no need to ask.
    return pages >= GROWTH_PAGES_MAX && this.#pageCount() - this.#pagesCopied >= GROWTH_PAGES_MAX
  }

  /** On a full disk the database grows by what the reserve gives. */
  #copyLog(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (failure) {
      if (!isDiskFull(failure)) throw failure
      this.#becomeFull(failure)
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    }
    this.#pagesCopied = this.#pageCount()
  }

  #keepReserve(): void {
    if (this.#reserve?.restore(performance.now()) === false || this.#full === undefined) return
    this.#full = undefined
    this.#report('The disk of the catalog has space again.')
  }

  #pagesToCopy(): number {
    const { pages, copied } = this.#log ?? this.#lookAtLog()
    this.#log = undefined
    return pages - copied
  }

  #lookAtLog(): { readonly pages: number; readonly copied: number } {
    const row = this.#pagesInLog.get()
    return { pages: Number(row?.['log'] ?? 0), copied: Number(row?.['checkpointed'] ?? 0) }
  }

  /** True while there is something to come back for: rows of closed volumes, keys to be listed, a reserve to be made. */
  get hasWork(): boolean {
    return this.#full !== undefined || this.#careFailed !== '' || this.#reserve?.isHeld === false || this.#hasRubbish()
  }

  #hasRubbish(): boolean {
    const closed = 'SELECT 1 FROM volumes WHERE uuid IS NULL'
    try {
      return this.#db.prepare(`SELECT 1 WHERE EXISTS (${closed}) OR EXISTS (${UNLISTED})`).get() !== undefined
    } catch {
      return true
    }
  }

  #sweepAlone(): void {
    if (!this.#hasRubbish()) return
    try {
      this.#inTransaction(() => [])
    } catch {
      // Nobody waits for it; the next batch tries again.
    }
  }

  /**
   * Copies the log back and says that it is whole, unless nothing was committed: a start that is refused leaves the files
   * as it found them, also what they say of an end that was not in order.
   */
  close(): void {
    const keeper = this.#transactions === 0 ? keepLog(this.#file) : undefined
    try {
      if (keeper === undefined) {
        this.#mark?.clear()
        this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      }
    } finally {
      this.#db.close()
      keeper?.close()
      this.#mark?.close()
    }
  }
}

/** SQLite copies the log back when the last connection is closed, but cannot by one that only reads. */
function keepLog(file: string): DatabaseSync | undefined {
  return file === ':memory:' ? undefined : openForReading(file)
}

function isThere(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
