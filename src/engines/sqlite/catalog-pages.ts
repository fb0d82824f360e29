/**
 * The pages of a catalog whose writer may be at work, read beside it. SQLite's own backup copies everything each time; a
 * copy of what changed needs the pages themselves, and SQL does not give them.
 *
 * What is one state (sqlite.org/walformat.html): an open read transaction keeps the log from beginning anew, and keeps the
 * writer from copying newer frames than it sees back into the database. So the pages of the database, with those of the
 * log up to any later commit over them, are the state after that commit. There is one exception. When all frames were
 * copied back before the transaction began, the log may begin anew; nothing is copied back then, so the database alone is
 * a state. The salts in the header of the log tell which it is.
 *
 * POSIX drops all locks that a process has on a file when it closes any descriptor of the file. So this is for a process
 * that has no other connection to the catalog, and the descriptor is closed after the connection.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Log, readLog, saltsOf } from './log-frames.ts'
import { logOf } from './log-mark.ts'
import { SCHEMA_VERSION } from '../../catalog/schema.ts'

/** As for readers: they wait for nothing but recovery after a crash. */
const BUSY_MS = 5000

export interface Pages {
  readonly pageBytes: number
  readonly pages: number
  /** The bytes of so many pages from one on, counted from 1. */
  readonly read: (first: number, count: number) => Buffer
}

/** The log grew by more than the caller allows while one state was read. */
export class LogTooLong extends Error {}

export class CatalogPages {
  readonly #file: string
  readonly #database: number

  constructor(file: string) {
    this.#file = file
    this.#database = openSync(file, 'r')
  }

  /** What the files hold at this moment. Pages may be of several states, or torn: good for finding old ones again. */
  loose<T>(act: (pages: Pages) => T): T {
    const pageBytes = this.#pageBytes()
    const pages = pageBytes === 0 ? 0 : Math.floor(fstatSync(this.#database).size / pageBytes)
    return this.#withLog((log) =>
      act(log ?? { pageBytes, pages, read: (first, count) => this.#read(pageBytes, first, count) }),
    )
  }

  /**
   * Reads one state. `act` is called a second time when the first was none, and has to read all that it needs then. Fails
   * with `LogTooLong` when the log has grown by more than that when a page is to be read.
   */
  still<T>(growthBytesMax: number, act: (pages: Pages) => T): T {
    const place = logOf(this.#file)
    const logBytes = () => statSync(place, { throwIfNoEntry: false })?.size ?? 0
    const bytesMax = logBytes() + growthBytesMax
    const bounded = (read: Pages['read']): Pages['read'] => {
      return (first, count) => {
        if (logBytes() > bytesMax) throw new LogTooLong()
        return read(first, count)
      }
    }
    const db = new DatabaseSync(this.#file, { readOnly: true, timeout: BUSY_MS })
    try {
      this.#insistOnVersion(db)
      db.exec('BEGIN')
      // This is what begins the transaction.
      db.prepare('SELECT count(*) FROM sqlite_schema').get()
      const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count'] ?? 0)
      const pageBytes = this.#pageBytes()
      const alone = bounded((first, count) => this.#read(pageBytes, first, count))
      return this.#withLog((log) => {
        if (log !== undefined) {
          const done = act({ ...log, read: bounded(log.read) })
          if (saltsOf(place) === log.salts) return done
        }
        return act({ pageBytes, pages, read: alone })
      })
    } finally {
      db.close()
    }
  }

  close(): void {
    closeSync(this.#database)
  }

  /** Gives pages of the database with those of the log over them; nothing when the log has none. */
  #withLog<T>(act: (pages: (Pages & { readonly salts: string }) | undefined) => T): T {
    const log = this.#readLog()
    if (log === undefined) return act(undefined)
    const file = openSync(logOf(this.#file), 'r')
    try {
      return act({ ...log, read: (first, count) => this.#over(log, file, first, count) })
    } finally {
      closeSync(file)
    }
  }

  #over(log: Log, file: number, first: number, count: number): Buffer {
    const bytes = this.#read(log.pageBytes, first, count)
    for (let at = 0; at < count; at++) {
      const place = log.has.get(first + at)
      if (place === undefined) continue
      const read = readSync(file, bytes, at * log.pageBytes, log.pageBytes, place)
      // The log began anew meanwhile, which is noticed by its salts.
      if (read < log.pageBytes) bytes.fill(0, at * log.pageBytes, (at + 1) * log.pageBytes)
    }
    return bytes
  }

  /** Bytes behind the end of the file are zeros: pages that only the log has so far. */
  #read(pageBytes: number, first: number, count: number): Buffer {
    const bytes = Buffer.alloc(count * pageBytes)
    for (let at = 0; at < bytes.length;) {
      const read = readSync(this.#database, bytes, at, bytes.length - at, (first - 1) * pageBytes + at)
      if (read === 0) break
      at += read
    }
    return bytes
  }

  #pageBytes(): number {
    const header = Buffer.alloc(100)
    readSync(this.#database, header, 0, header.length, 0)
    const stored = header.readUInt16BE(16)
    return stored === 1 ? 65_536 : stored
  }

  /** Nothing when the log is empty, or begins anew while it is read: the database alone is a state then. */
  #readLog(): Log | undefined {
    const place = logOf(this.#file)
    const log = readLog(place)
    return log === undefined || log.frames === 0 || saltsOf(place) !== log.salts ? undefined : log
  }

  #insistOnVersion(db: DatabaseSync): void {
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
    if (version > SCHEMA_VERSION) {
      throw new Error(
        `The catalog ${this.#file} has version ${version}; this release knows versions up to ${SCHEMA_VERSION}.`,
      )
    }
  }
}

/** What is wrong with the pages of a database, or nothing. A table at a time, each as one state. */
export function damageOf(file: string): string | undefined {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS })
  let table = 'its schema'
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()
    for (const { name } of tables) {
      table = String(name)
      const [found] = db.prepare(`PRAGMA quick_check('${table}')`).all()
      const said = String(Object.values(found ?? {})[0] ?? '')
      if (said !== 'ok') return `${table}: ${said.split('\n').at(-1) ?? said}`
    }
    return undefined
  } catch (failure) {
    return `${table}: ${(failure as Error).message}`
  } finally {
    db.close()
  }
}
