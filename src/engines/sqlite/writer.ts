/**
 * Applies commits to the database, many in one transaction and one sync (group commit).
 *
 * A refused commit must leave nothing and must not hurt its neighbours. Nearly all refusals are found before the first
 * write of a commit, so a batch is first applied without savepoints, which are the dearer way. Only when a commit is
 * refused after it wrote something, or fails for a reason nobody expected, the whole batch is rolled back and applied
 * again carefully: each commit inside a savepoint of its own. When COMMIT itself fails, nothing of the batch was done.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { CatalogUnavailable, CommitRefused } from '../../ports/catalog.ts'
import type { Change, Outcome } from '../../ports/catalog.ts'
import { applyTo } from './apply.ts'
import type { Apply } from './apply.ts'
import { Ledger } from './ledger.ts'
import { openForWriting } from './schema.ts'
import { sweeper } from './sweep.ts'

/** What became of a commit: its outcomes, or why there are none. */
export type Settled = readonly Outcome[] | Error

/** Pages in the write-ahead log that are copied back at the next quiet moment, and those that do not wait for one. */
const CHECKPOINT_PAGES = 1000
const CHECKPOINT_PAGES_MAX = 8000
/** Rows of closed volumes that go with each batch. */
const SWEPT_ROWS = 200

export class Writer {
  readonly #db: DatabaseSync
  readonly #ledger: Ledger
  readonly #apply: Apply
  readonly #sweep: (limit: number) => number
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #pagesInLog: StatementSync
  #transactions = 0

  constructor(file: string) {
    this.#db = openForWriting(file)
    this.#ledger = new Ledger(this.#db)
    this.#apply = applyTo(this.#db, this.#ledger)
    this.#sweep = sweeper(this.#db, this.#ledger)
    this.#begin = this.#db.prepare('BEGIN IMMEDIATE')
    this.#commit = this.#db.prepare('COMMIT')
    this.#pagesInLog = this.#db.prepare('PRAGMA wal_checkpoint(NOOP)')
  }

  /** The connection, for reading what only it sees: a catalog in memory. */
  get db(): DatabaseSync {
    return this.#db
  }

  /** Transactions so far that reached COMMIT. */
  get transactions(): number {
    return this.#transactions
  }

  /** Settles a batch, in order. What it returns is durable. Never throws for a commit's sake. */
  settle(batch: readonly (readonly Change[])[]): Settled[] {
    try {
      return this.#inTransaction(() => batch.map((changes) => this.#applyPlainly(changes)))
    } catch {
      try {
        return this.#inTransaction(() => batch.map((changes) => this.#applyCarefully(changes)))
      } catch (failure) {
        return batch.map(() => new CatalogUnavailable(`The catalog could not be written: ${messageOf(failure)}`))
      }
    }
  }

  #inTransaction(apply: () => Settled[]): Settled[] {
    this.#begin.run()
    try {
      const settled = apply()
      this.#sweep(SWEPT_ROWS)
      this.#ledger.flush()
      this.#commit.run()
      this.#transactions++
      return settled
    } catch (failure) {
      this.#ledger.forget()
      // A full disk or an input error may have ended the transaction already.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw failure
    }
  }

  /** Throws what the careful way has to deal with. */
  #applyPlainly(changes: readonly Change[]): Settled {
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
      return failure instanceof Error ? failure : new Error(messageOf(failure))
    }
  }

  /**
   * Copies the log back into the database when enough has gathered. To be called after the answers were sent, because it
   * takes some milliseconds; `idle` when nothing is waiting.
   */
  tidy(idle: boolean): void {
    const pages = this.#pagesToCopy()
    if (pages >= CHECKPOINT_PAGES_MAX || (idle && pages >= CHECKPOINT_PAGES))
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    if (idle) this.#sweepAlone()
  }

  #pagesToCopy(): number {
    const row = this.#pagesInLog.get()
    return Number(row?.['log'] ?? 0) - Number(row?.['checkpointed'] ?? 0)
  }

  /** True while rows of closed volumes remain. */
  get hasRubbish(): boolean {
    return this.#db.prepare('SELECT 1 FROM volumes WHERE uuid IS NULL LIMIT 1').get() !== undefined
  }

  #sweepAlone(): void {
    if (!this.hasRubbish) return
    try {
      this.#inTransaction(() => [])
    } catch {
      // Nobody waits for it; the next batch tries again.
    }
  }

  close(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      this.#db.close()
    }
  }
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
