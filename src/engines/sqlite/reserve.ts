/**
 * Bytes of the disk that are kept for the catalog: a file that is removed when the disk is full, so that what frees space
 * can still be committed, and made again when there is space for it.
 *
 * It holds random bytes, which no file system stores in less, and is at most a sixteenth of the disk.
 *
 * What is left of it when it is given up is a note of how large the database was then, in the block that the file has
 * already: what the database may grow by on a full disk is counted from there, however often the writer starts anew.
 */
import { randomFillSync } from 'node:crypto'
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

export const RESERVE_BYTES_MAX = 16 * 2 ** 20
const PART_OF_DISK = 1 / 16
/** It is made only where so many times its bytes are free: then the disk is not full again at once. */
const FREE_TIMES = 2
/** How often the disk is asked whether there is space again. */
export const LOOK_EVERY_MS = 1000

/** The length of the note, and what it looks like. */
const NOTE_BYTES = 64
const NOTE = /^given up at (\d{1,15}) pages\s*$/

export class Reserve {
  readonly #file: string
  readonly #folder: string
  #isHeld: boolean
  #lookedMs = -Infinity

  constructor(catalog: string) {
    this.#file = `${catalog}-reserve`
    this.#folder = dirname(catalog)
    rmSync(besideOf(this.#file), { force: true })
    this.#isHeld = (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) > NOTE_BYTES
  }

  /** How many pages the database had when the reserve was given up. Nothing where it was not, or that is not known. */
  get givenUpAt(): number | undefined {
    if (this.#isHeld) return undefined
    try {
      const pages = NOTE.exec(readFileSync(this.#file, 'utf8'))?.[1]
      return pages === undefined ? undefined : Number(pages)
    } catch {
      return undefined
    }
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

  /** Gives its bytes to the disk, and notes how many pages the database has. */
  release(pages: number): void {
    if (this.#isHeld) this.#leaveNote(pages)
    this.#isHeld = false
    this.#lookedMs = -Infinity
  }

  #leaveNote(pages: number): void {
    try {
      const file = openSync(this.#file, 'r+')
      try {
        writeSync(file, `given up at ${pages} pages`.padEnd(NOTE_BYTES), 0)
        ftruncateSync(file, NOTE_BYTES)
      } finally {
        closeSync(file)
      }
    } catch {
      // A file system that copies what it writes may have no block for the note.
      rmSync(this.#file, { force: true })
    }
  }

  /** Makes it where it is missing and there is space for it; looks at the disk once in a while. True when it is there. */
  restore(nowMs: number): boolean {
    if (this.isHeld) return true
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return false
    this.#lookedMs = nowMs
    const beside = besideOf(this.#file)
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

/** Where it is made. What a process left there that ended meanwhile takes space that the reserve needs. */
function besideOf(file: string): string {
  return `${file}.new`
}
