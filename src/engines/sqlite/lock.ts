import { DatabaseSync } from 'node:sqlite'

/**
 * Keeps a second writer off a catalog. The lock is SQLite's own on an empty database beside the file: the kernel drops
 * it when the process ends, however it ends, so no stale lock can be left behind.
 */
export class WriterLock {
  readonly #db: DatabaseSync

  constructor(file: string, waitMs = 0) {
    this.#db = new DatabaseSync(`${file}.lock`, { timeout: waitMs })
    try {
      this.#db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    } catch (failure) {
      this.#db.close()
      throw new Error(`The catalog ${file} has a writer already. Stop it first.`, { cause: failure })
    }
  }

  release(): void {
    this.#db.close()
  }
}
