/**
 * How far the write-ahead log was when the last commit was acknowledged. SQLite drops the rest of a log silently after the
 * first frame whose checksum is wrong; what this mark says beside it tells a log that was cut short from one that ends.
 *
 *     <catalog>-mark    'HOLDMARK' | 8 bytes: salts of the log | 4: frames | 4: CRC-32 of the 20 before
 *
 * It is written after the sync of the commit and not synced itself: it never says more than what is on the disk. After a
 * crash of the process it is exact, after a loss of power it may be behind.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

const MAGIC = 'HOLDMARK'
const BYTES = 24
const SALTS_IN_LOG = 16

export interface Mark {
  /** Hexadecimal; zeros after an orderly end, whose log was copied back whole. */
  readonly salts: string
  readonly frames: number
}

export const NO_SALTS = '0'.repeat(16)

export const markOf = (catalog: string): string => `${catalog}-mark`
export const logOf = (catalog: string): string => `${catalog}-wal`

/** Nothing when there is none, or it cannot be understood. */
export function readMark(catalog: string): Mark | undefined {
  try {
    const bytes = readFileSync(markOf(catalog))
    if (bytes.length !== BYTES || bytes.toString('latin1', 0, 8) !== MAGIC) return undefined
    if (crc32(bytes.subarray(0, 20)) !== bytes.readUInt32BE(20)) return undefined
    return { salts: bytes.toString('hex', 8, 16), frames: bytes.readUInt32BE(16) }
  } catch {
    return undefined
  }
}

/** Keeps the mark while the one writer has the catalog open. Failures are no loss: the mark is then behind. */
export class LogMark {
  readonly #catalog: string
  readonly #file: number | undefined
  #log: number | undefined
  readonly #bytes = Buffer.alloc(BYTES)

  constructor(catalog: string) {
    this.#catalog = catalog
    this.#bytes.write(MAGIC, 'latin1')
    this.#file = openIfPossible(markOf(catalog), 'r+') ?? openIfPossible(markOf(catalog), 'w+')
  }

  /** So many frames of the log are synced. */
  note(frames: number): void {
    try {
      // SQLite empties this file, but removes it only when nobody has the catalog open.
      this.#log ??= openIfPossible(logOf(this.#catalog), 'r')
      if (this.#log === undefined || readSync(this.#log, this.#bytes, 8, 8, SALTS_IN_LOG) < 8) return
      this.#write(frames)
    } catch {
      // See above.
    }
  }

  /** What the log holds is about to be copied back for good. */
  clear(): void {
    try {
      this.#bytes.fill(0, 8, 16)
      this.#write(0)
    } catch {
      // See above.
    }
  }

  #write(frames: number): void {
    if (this.#file === undefined) return
    this.#bytes.writeUInt32BE(frames, 16)
    this.#bytes.writeUInt32BE(crc32(this.#bytes.subarray(0, 20)), 20)
    writeSync(this.#file, this.#bytes, 0, BYTES, 0)
  }

  close(): void {
    for (const file of [this.#file, this.#log]) if (file !== undefined) closeSync(file)
  }
}

function openIfPossible(file: string, flags: 'r' | 'r+' | 'w+'): number | undefined {
  try {
    return openSync(file, flags, 0o600)
  } catch {
    return undefined
  }
}
