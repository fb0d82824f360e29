/**
 * Bytes of the disk that are kept for the catalog: a file that is removed when the disk is full, so that what frees space
 * can still be committed, and made again when there is space for it.
 *
 * It holds random bytes, which no file system stores in less, and is at most a sixteenth of the disk.
 */
import { randomFillSync } from 'node:crypto'
import { existsSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export const RESERVE_BYTES_MAX = 16 * 2 ** 20
const PART_OF_DISK = 1 / 16
/** It is made only where so many times its bytes are free: then the disk is not full again at once. */
const FREE_TIMES = 2
/** How often the disk is asked whether there is space again. */
export const LOOK_EVERY_MS = 1000

export class Reserve {
  readonly #file: string
  readonly #folder: string
  #isHeld: boolean
  #lookedMs = -Infinity

  constructor(catalog: string) {
    this.#file = `${catalog}-reserve`
    this.#folder = dirname(catalog)
    this.#isHeld = existsSync(this.#file)
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** What it is to have, or has. */
  get bytes(): number {
    const { blocks, bsize } = statfsSync(this.#folder)
    return Math.min(RESERVE_BYTES_MAX, Math.floor(blocks * bsize * PART_OF_DISK))
  }

  /** Whether there is, or was at the last look, too little space to make it. */
  get isOutOfReach(): boolean {
    const { bavail, bsize } = statfsSync(this.#folder)
    return !this.isHeld && bavail * bsize < FREE_TIMES * this.bytes
  }

  /** Gives its bytes to the disk. */
  release(): void {
    rmSync(this.#file, { force: true })
    this.#isHeld = false
    this.#lookedMs = -Infinity
  }

  /** Makes it where it is missing and there is space for it; looks at the disk once in a while. True when it is there. */
  restore(nowMs: number): boolean {
    if (this.isHeld) return true
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return false
    this.#lookedMs = nowMs
    const beside = `${this.#file}.new`
    try {
      if (this.isOutOfReach) return false
      writeFileSync(beside, randomFillSync(Buffer.allocUnsafe(this.bytes)), { mode: 0o600 })
      renameSync(beside, this.#file)
      this.#isHeld = true
      return true
    } catch {
      rmSync(beside, { force: true })
      return false
    }
  }
}
