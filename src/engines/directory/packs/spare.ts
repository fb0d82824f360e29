import { randomBytes } from 'node:crypto'
import { rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Enough for a few records, the folder entry and the header of the file that they are copied to. */
const SPARE_BYTES = 256 * 1024

/**
 * A file of an aggregate that goes when its disk is full, so that the first records of a pack can be copied. Then what
 * they had before is free. It holds random bytes, which no file system stores in less.
 */
export class Spare {
  readonly #path: string
  #isThere = false

  constructor(aggregate: string) {
    this.#path = spareOf(aggregate)
  }

  /** Where there is no space for it, it is made the next time. */
  async make(): Promise<void> {
    if (this.#isThere) return
    this.#isThere = true
    try {
      await writeFile(`${this.#path}.new`, randomBytes(SPARE_BYTES), { mode: 0o600 })
      await rename(`${this.#path}.new`, this.#path)
    } catch {
      this.#isThere = false
      await unlink(`${this.#path}.new`).catch(() => undefined)
    }
  }

  async give(): Promise<void> {
    this.#isThere = false
    await unlink(this.#path).catch(() => undefined)
  }
}

export function spareOf(aggregate: string): string {
  return join(aggregate, 'spare')
}
