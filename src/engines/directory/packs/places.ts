/**
 * Where records are in a file that has them at other places than they were written at first. Behind the records of a file
 * that is sealed is a table, so that nobody has to read them all to find one:
 *
 *     8: 'HOLDPCKI' | 8: offset and place of each, as one number, in their order | 4: number | 4: CRC | 8: 'HOLDPCKI'
 */
import { crc32 } from 'node:zlib'
import { PLACES } from './names.ts'
import { readRaw } from './raw.ts'
import { FILE_HEADER_BYTES } from './record.ts'
import { INDEX_MAGIC, scan } from './scan.ts'

const TAIL_BYTES = 16
/** No file of a pack has more records than there are bytes for their headers. */
const COUNT_MAX = PLACES / 32

export class Places {
  #pairs = new Float64Array(0)
  /** Up to here it knows the records of the file. */
  #knownTo = FILE_HEADER_BYTES
  #isWhole = false
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  /** There may be several: all but one of them are void. */
  find(offset: number): number[] {
    let [low, high] = [0, this.#pairs.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#pairs[middle] ?? 0) < offset * PLACES) low = middle + 1
      else high = middle
    }
    const found: number[] = []
    for (let nth = low; nth < this.#pairs.length; nth++) {
      const pair = this.#pairs[nth] ?? 0
      if (Math.floor(pair / PLACES) !== offset) break
      found.push(pair % PLACES)
    }
    return found
  }

  /** Reads what it does not know of the file yet. */
  async learn(fd: number, sizeBytes: number): Promise<void> {
    if (this.#isWhole) return
    const table = this.#knownTo === FILE_HEADER_BYTES ? await readTable(fd, sizeBytes) : undefined
    this.#isWhole = table !== undefined
    if (table !== undefined) {
      this.#pairs = table
      return
    }
    const more: number[] = []
    const scanned = await scan(
      { fd, sizeBytes, seed: this.#seed },
      ({ offset, at }) => void more.push(offset * PLACES + at),
      { from: this.#knownTo },
    )
    this.#knownTo = scanned.endsAt
    if (more.length === 0) return
    const pairs = new Float64Array(this.#pairs.length + more.length)
    pairs.set(this.#pairs)
    pairs.set(more, this.#pairs.length)
    this.#pairs = pairs.toSorted()
  }
}

/** The table for records at these places. */
export function table(places: readonly { readonly offset: number; readonly at: number }[]): Buffer {
  const pairs = Float64Array.from(places, ({ offset, at }) => offset * PLACES + at).toSorted()
  const bytes = Buffer.alloc(INDEX_MAGIC.length + pairs.length * 8 + TAIL_BYTES)
  INDEX_MAGIC.copy(bytes)
  for (const [nth, pair] of pairs.entries()) bytes.writeDoubleBE(pair, INDEX_MAGIC.length + nth * 8)
  const tailAt = bytes.length - TAIL_BYTES
  bytes.writeUInt32BE(pairs.length, tailAt)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, tailAt + 4)), tailAt + 4)
  INDEX_MAGIC.copy(bytes, tailAt + 8)
  return bytes
}

/** Where the table of a file begins; nothing when there is none that is whole. */
export async function tableAt(fd: number, sizeBytes: number): Promise<number | undefined> {
  const pairs = await readTable(fd, sizeBytes)
  return pairs === undefined ? undefined : sizeBytes - TAIL_BYTES - pairs.length * 8 - INDEX_MAGIC.length
}

async function readTable(fd: number, sizeBytes: number): Promise<Float64Array<ArrayBuffer> | undefined> {
  if (sizeBytes < FILE_HEADER_BYTES + INDEX_MAGIC.length + TAIL_BYTES) return undefined
  const tail = Buffer.allocUnsafe(TAIL_BYTES)
  await readRaw(fd, tail, sizeBytes - TAIL_BYTES)
  const count = tail.readUInt32BE(0)
  if (!tail.subarray(8).equals(INDEX_MAGIC) || count > COUNT_MAX) return undefined
  const at = sizeBytes - TAIL_BYTES - count * 8 - INDEX_MAGIC.length
  if (at < FILE_HEADER_BYTES) return undefined
  const bytes = Buffer.allocUnsafe(sizeBytes - at)
  if ((await readRaw(fd, bytes, at)) !== bytes.length) return undefined
  const tailAt = bytes.length - TAIL_BYTES
  if (crc32(bytes.subarray(0, tailAt + 4)) !== tail.readUInt32BE(4)) return undefined
  const pairs = new Float64Array(count)
  for (let nth = 0; nth < count; nth++) pairs[nth] = bytes.readDoubleBE(INDEX_MAGIC.length + nth * 8)
  return pairs
}
