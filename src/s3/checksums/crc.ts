/**
 * CRCs that Node does not have, at the speed of memory.
 *
 * Short chunks: slicing. The state after sixteen bytes is the XOR of sixteen table entries, one for each byte, where table k
 * holds the effect of a byte that k more bytes follow. So sixteen look-ups do not wait for each other.
 *
 * Long chunks: folding. A polynomial P has multiples with very few terms, x^8a + x^8b + … + 1. Dividing by such a multiple
 * instead of P keeps the remainder modulo P, and takes a few XORs of whole words: each word of the quotient is a word of the
 * message XOR those so many bytes before it. What remains after the last whole word is as long as the multiple, some
 * kilobytes, and is left to slicing. The distances were found by a search; the test compares both ways.
 *
 * 64-bit values are slow in JavaScript (BigInt) and natural in WebAssembly, so both loops are WebAssembly functions:
 * see crc-module.ts.
 *
 * Measured on a 2-core AMD EPYC machine that did much other work, Node 24, MB in a second of a processor:
 *
 *     chunks of           4 KiB   16 KiB   64 KiB   256 KiB   by tables alone
 *     CRC64NVME           1,340    2,900    5,700     5,960             1,550
 *     CRC32C              1,740    3,750    7,220     9,720             1,500
 *     CRC32               1,640    4,000    8,200     9,600
 *     zlib.crc32          3,400    3,100    4,000     3,800
 *     MD5, for scale        650      680      650       650
 *
 * States are those of reflected CRCs: the first bit of the message is the lowest bit of the register.
 */
import { assembleCrc, lookUpsAtOnce, pages, wordBytes } from './crc-module.ts'
import { pageBytes } from './wasm.ts'

export interface Crc {
  readonly sizeBytes: number
  /** The CRC of the bytes before and this chunk together. Begin with `0n`. */
  update(crc: bigint, chunk: Uint8Array): bigint
  /** The CRC of two byte strings one after the other, from their CRCs and the length of the second. */
  combine(first: bigint, second: bigint, secondBytes: number): bigint
}

/**
 * `polynomial` is reflected; initial value and final XOR are all ones, as in every CRC that S3 knows. `distances` are those
 * of a sparse multiple, the longest last: the sum of 1 and x^8d for all of them, with exponents counted from the highest
 * term, is 0 modulo the polynomial.
 */
export function crcOf(width: 32 | 64, polynomial: bigint, distances: readonly number[]): Crc {
  const { memory, update, fold, multiply } = assembleCrc(width, polynomial, distances)
  const foldedBytes = upToWords(Math.max(...distances))
  const bytes = new Uint8Array(memory.buffer)
  const words = new BigUint64Array(memory.buffer)
  fillTables(words, polynomial)
  const ones = (1n << BigInt(width)) - 1n

  // x^(8·2^k) modulo the polynomial, for every k a length can have. x^n is the bit n places below the highest.
  const powers = [1n << BigInt(width - 1 - 8)]
  for (let k = 1; k < 53; k += 1) powers.push(unsigned(multiply(powers[k - 1] ?? 0n, powers[k - 1] ?? 0n)))

  /** The state after what is in the window. The bytes before the window are zero, as nothing comes before the first word. */
  function folded(state: bigint, length: number): bigint {
    // The state before a message and its first bytes count alike.
    words[windowStart / 8] = (words[windowStart / 8] ?? 0n) ^ unsigned(state)
    const end = windowStart + length - foldedBytes - ((length - foldedBytes) % wordBytes)
    fold(windowStart, end, 0)
    bytes.copyWithin(restStart, end, windowStart + length)
    bytes.fill(0, end, end + foldedBytes)
    fold(end, end + foldedBytes, restStart - end)
    return update(0n, restStart, restStart + windowStart + length - end)
  }

  function unsigned(value: bigint): bigint {
    return BigInt.asUintN(64, value)
  }

  return {
    sizeBytes: width / 8,
    update(crc, chunk) {
      let state = crc ^ ones
      for (let at = 0; at < chunk.length; at += windowBytes) {
        const piece = chunk.subarray(at, at + windowBytes)
        bytes.set(piece, windowStart)
        state =
          piece.length < foldingMin
            ? update(state, windowStart, windowStart + piece.length)
            : folded(state, piece.length)
      }
      return unsigned(state) ^ ones
    },
    combine(first, second, secondBytes) {
      // crc(A then B) = crc(A)·x^(8·|B|) + crc(B): initial values and final XORs cancel out.
      let shifted = first
      let rest = secondBytes
      for (let k = 0; rest > 0; k += 1) {
        if (rest % 2 === 1) shifted = unsigned(multiply(shifted, powers[k] ?? 0n))
        rest = Math.floor(rest / 2)
      }
      return shifted ^ second
    },
  }
}

// The memory of a module: tables, and zeros before the window; the window; what folding leaves.
const windowStart = pageBytes
const windowBytes = (pages - 2) * pageBytes
const restStart = windowStart + windowBytes
/** Shorter chunks are quicker by tables. */
const foldingMin = 16_384

function upToWords(length: number): number {
  return Math.ceil(length / wordBytes) * wordBytes
}

function fillTables(tables: BigUint64Array, polynomial: bigint): void {
  for (let byte = 0; byte < 256; byte += 1) {
    let state = BigInt(byte)
    for (let bit = 0; bit < 8; bit += 1) state = (state & 1n) === 1n ? (state >> 1n) ^ polynomial : state >> 1n
    tables[byte] = state
  }
  for (let entry = 256; entry < lookUpsAtOnce * 256; entry += 1) {
    const before = tables[entry - 256] ?? 0n
    tables[entry] = (before >> 8n) ^ (tables[Number(before & 255n)] ?? 0n)
  }
}
