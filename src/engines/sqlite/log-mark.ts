/**
 * How far the write-ahead log was when the last commit was acknowledged. SQLite drops the rest of a log silently after the
 * first frame whose checksum is wrong; what this mark says beside it tells a log that was cut short from one that ends.
 *
 *     <catalog>-mark    'HOLDMRK2' | 8 bytes: salts of the log | 4: frames | 8: changes | 4: CRC-32 of the 28 before
 *
 * The changes are those that the catalog had seen: an older one that was put back has fewer. Before, it was 'HOLDMARK', and
 * did not have them.
 *
 * It is written after the sync of the commit and not synced itself: it never says more than what is on the disk. After a
 * crash of the process it is exact, after a loss of power it may be behind.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

const MAGIC = 'HOLDMRK2'
const BYTES = 32
const [CHANGES_AT, CRC_AT] = [20, 28]
const OLD = { magic: 'HOLDMARK', bytes: 24, crcAt: 20 }
const SALTS_IN_LOG = 16

export interface Mark {
  /** Hexadecimal; zeros after an orderly end, whose log was copied back whole. */
  readonly salts: string
  readonly frames: number
  /** Of records and objects, ever. Missing in the mark of an earlier release. */
  readonly changes?: number
}

export const NO_SALTS = '0'.repeat(16)

export const markOf = (catalog: string): string => `${catalog}-mark`
export const logOf = (catalog: string): string => `${catalog}-wal`

/** Nothing when there is none, or it cannot be understood. */
export function readMark(catalog: string): Mark | undefined {
  try {
    const bytes = readFileSync(markOf(catalog))
    const magic = bytes.toString('latin1', 0, 8)
    const isOld = magic === OLD.magic
    if ((!isOld && magic !== MAGIC) || bytes.length < (isOld ? OLD.bytes : BYTES)) return undefined
    const crcAt = isOld ? OLD.crcAt : CRC_AT
    if (crc32(bytes.subarray(0, crcAt)) !== bytes.readUInt32BE(crcAt)) return undefined
    const mark = { salts: bytes.toString('hex', 8, 16), frames: bytes.readUInt32BE(16) }
    return isOld ? mark : { ...mark, changes: Number(bytes.readBigUInt64BE(CHANGES_AT)) }
  } catch {
    return undefined
  }
}

/** Keeps the mark while the one writer has the catalog open. Failures are no loss: the mark is then behind. */
export class LogMark {
  readonly #catalog: string
  readonly #file: number | undefined
  #log: number | undefined
  /** As noted last, by this writer or by the one before. */
  #changes: number
  readonly #bytes = Buffer.alloc(BYTES)

  constructor(catalog: string) {
    this.#catalog = catalog
    this.#changes = readMark(catalog)?.changes ?? 0
    this.#bytes.write(MAGIC, 'latin1')
    this.#file = openIfPossible(markOf(catalog), 'r+') ?? openIfPossible(markOf(catalog), 'w+')
  }

  /** So many frames of the log are synced, and the catalog has seen so many changes. */
  note(frames: number, changes: number): void {
    try {
      // SQLite empties this file, but removes it only when nobody has the catalog open.
      this.#log ??= openIfPossible(logOf(this.#catalog), 'r')
      if (this.#log === undefined || readSync(this.#log, this.#bytes, 8, 8, SALTS_IN_LOG) < 8) return
      this.#changes = changes
      this.#write(frames, changes)
    } catch {
      // See above.
    }
  }

  /** What the log holds is about to be copied back for good. */
  clear(): void {
    try {
      this.#bytes.fill(0, 8, 16)
      this.#write(0, this.#changes)
    } catch {
      // See above.
    }
  }

  #write(frames: number, changes: number): void {
    if (this.#file === undefined) return
    this.#bytes.writeUInt32BE(frames, 16)
    this.#bytes.writeBigUInt64BE(BigInt(changes), CHANGES_AT)
    this.#bytes.writeUInt32BE(crc32(this.#bytes.subarray(0, CRC_AT)), CRC_AT)
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
