import { truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Another process holds the lock. */
export class LockHeld extends Error {}

const SQLITE_BUSY = 5
const SQLITE_NOTADB = 26

/**
 * A lock that one process holds. It is SQLite's own on an empty database: the kernel drops it when the process ends,
 * however it ends, so no stale lock can be left behind.
 */
export class FileLock {
  readonly #db: DatabaseSync

  /** Throws `LockHeld` when another process has it for longer than `waitMs`. */
  constructor(file: string, waitMs: number) {
    this.#db = openLock(file, waitMs)
  }

  release(): void {
    this.#db.close()
  }
}

function openLock(file: string, waitMs: number): DatabaseSync {
  try {
    return lockExclusively(file, waitMs)
  } catch (failure) {
    const code = resultCode(failure)
    if (code === SQLITE_BUSY) throw new LockHeld(`The lock ${file} is held by another process.`, { cause: failure })
    if (code !== SQLITE_NOTADB) throw unusable(file, failure)
  }
  // SQLite looks at what is in the file under a lock of its own, so nobody holds this one. What is in it means nothing.
  try {
    truncateSync(file, 0)
    return lockExclusively(file, waitMs)
  } catch (failure) {
    throw resultCode(failure) === SQLITE_BUSY
      ? new LockHeld(`The lock ${file} is held by another process.`, { cause: failure })
      : unusable(file, failure)
  }
}

function lockExclusively(file: string, waitMs: number): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: waitMs })
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return db
  } catch (failure) {
    db.close()
    throw failure
  }
}

function unusable(file: string, failure: unknown): Error {
  const message = failure instanceof Error ? failure.message : String(failure)
  return new Error(`The lock ${file} cannot be used (${message}). Remove it while nothing runs on the data folder.`, {
    cause: failure,
  })
}

/** The primary result code of SQLite; nothing for failures of another kind. */
export function resultCode(failure: unknown): number | undefined {
  const code = extendedCode(failure)
  return code === undefined ? undefined : code & 0xff
}

export function extendedCode(failure: unknown): number | undefined {
  return failure instanceof Error && 'errcode' in failure && typeof failure.errcode === 'number'
    ? failure.errcode
    : undefined
}

/** Keeps a second writer off a catalog. */
export class WriterLock {
  readonly #lock: FileLock

  constructor(file: string, waitMs = 0) {
    try {
      this.#lock = new FileLock(`${file}.lock`, waitMs)
    } catch (failure) {
      if (!(failure instanceof LockHeld)) throw failure
      throw new Error(`The catalog ${file} has a writer already. Stop it first.`, { cause: failure })
    }
  }

  release(): void {
    this.#lock.release()
  }
}
