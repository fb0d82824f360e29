/**
 * The loops of a CRC as a WebAssembly module. It is small enough to be put together right here, once at start, from the
 * instructions below; there is no binary to trust and no build step.
 */
/** Look-ups that are in flight together; so many tables of 256 entries of 8 bytes are at the start of the memory. */
export const lookUpsAtOnce = 16
/** What one instruction of folding takes: vectors of 128 bits. */
export const wordBytes = 16
/** The memory of a module, in pages of WebAssembly. */
export const pages = 6
export const pageBytes = 65_536

export interface CrcModule {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly update: (state: bigint, start: number, end: number) => bigint
  /** From `at` to `end`, in whole words; see `foldBody`. */
  readonly fold: (at: number, end: number, offset: number) => void
  readonly multiply: (a: bigint, b: bigint) => bigint
}

// The compiler's library for Node does not declare this global of Node.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

export function assembleCrc(width: 32 | 64, polynomial: bigint, distances: readonly number[]): CrcModule {
  const signature = (parameters: number[], ...results: number[]): number[] => [
    0x60,
    ...counted(parameters),
    ...counted(results),
  ]
  const name = (text: string): number[] => counted([...Buffer.from(text)])
  const functions = ['update', 'multiply', 'fold'].flatMap((text, at) => [name(text), [0, at]].flat())
  const bodies = [updateBody(), multiplyBody(width, polynomial), foldBody(distances)]
  const module = new WebAssembly.Module(
    Uint8Array.from([
      ...magic,
      ...section(1, [
        3,
        ...signature([i64, i32, i32], i64),
        ...signature([i64, i64], i64),
        ...signature([i32, i32, i32]),
      ]),
      ...section(3, [3, 0, 1, 2]),
      ...section(5, [1, 1, pages, pages]),
      ...section(7, [4, ...name('memory'), 2, 0, ...functions]),
      ...section(10, [3, ...bodies.flatMap(counted)]),
    ]),
  )
  return new WebAssembly.Instance(module).exports as CrcModule
}

/**
 * update(state, at, end):
 *     while at + 16 <= end:
 *       low = load(at) ^ state; high = load(at + 8)
 *       state = T15[low byte 0] ^ T14[low byte 1] ^ … ^ T8[low byte 7] ^ T7[high byte 0] ^ … ^ T0[high byte 7]
 *       at += 16
 *     while at < end:
 *       state = T0[(state ^ load8(at)) & 255] ^ (state >> 8); at += 1
 *     return state
 */
function updateBody(): number[] {
  const [state, at, end, low, high] = [0, 1, 2, 3, 4]
  const sum = (word: number, from: number): number[] =>
    Array.from({ length: 8 }, (_, byte) => [
      ...lookUp(word, byte, from - byte),
      ...(byte === 0 ? [] : [op.i64Xor]),
    ]).flat()
  // Those that do not wait for the state come first.
  const lookUps = [...sum(high, lookUpsAtOnce - 9), ...sum(low, lookUpsAtOnce - 1), op.i64Xor]
  return code(
    [1, 2, i64],
    [op.block, nothing, op.loop, nothing],
    [...get(at), ...constant32(lookUpsAtOnce), op.i32Add, ...get(end), op.i32GreaterU, op.branchIf, 1],
    [...get(at), ...load(0), ...get(state), op.i64Xor, ...set(low)],
    [...get(at), ...load(8), ...set(high)],
    [...lookUps, ...set(state)],
    [...get(at), ...constant32(lookUpsAtOnce), op.i32Add, ...set(at)],
    [op.branch, 0, op.end, op.end],

    [op.block, nothing, op.loop, nothing],
    [...get(at), ...get(end), op.i32GreaterEqualU, op.branchIf, 1],
    [...get(state), ...get(at), ...load8, op.i64Xor, ...set(low)],
    [...lookUp(low, 0, 0), ...get(state), ...constant64(8n), op.i64ShiftRight, op.i64Xor, ...set(state)],
    [...get(at), ...constant32(1), op.i32Add, ...set(at)],
    [op.branch, 0, op.end, op.end],
    [...get(state), op.end],
  )
}

/**
 * fold(at, end, offset):
 *     while at < end:
 *       store(at + offset, load(at + offset) ^ load(at - first distance) ^ load(at - second distance) ^ …)
 *       at += 16
 */
function foldBody(distances: readonly number[]): number[] {
  const [at, end, offset, place] = [0, 1, 2, 3]
  const before = distances.flatMap((distance) =>
    [get(at), constant32(distance), [op.i32Subtract], loadVector, vectorXor].flat(),
  )
  return code(
    [1, 1, i32],
    [op.block, nothing, op.loop, nothing],
    [...get(at), ...get(end), op.i32GreaterEqualU, op.branchIf, 1],
    [...get(at), ...get(offset), op.i32Add, ...tee(place)],
    [...get(place), ...loadVector, ...before, ...storeVector],
    [...get(at), ...constant32(wordBytes), op.i32Add, ...set(at)],
    [op.branch, 0, op.end, op.end],
    [op.end],
  )
}

/** T[table][byte of word]. The byte is moved to where it already counts in entries of 8 bytes. */
function lookUp(word: number, byte: number, table: number): number[] {
  const shift =
    byte === 0 ? [...constant64(3n), op.i64ShiftLeft] : [...constant64(BigInt(byte * 8 - 3)), op.i64ShiftRight]
  return [...get(word), ...shift, op.i32Wrap, ...constant32(255 * 8), op.i32And, ...load(table * 256 * 8)]
}

/**
 * multiply(a, b), as polynomials modulo the CRC's, highest power in the lowest bit:
 *     product = 0
 *     for each bit of a, from the highest: if set, product ^= b; b = b·x, that is (b >> 1) ^ (polynomial if b is odd)
 */
function multiplyBody(width: number, polynomial: bigint): number[] {
  const [a, b, product, left] = [0, 1, 2, 3]
  // 0 - bit is all ones for a set bit: choosing without a branch.
  const maskBy = (bit: number[]): number[] => [...constant64(0n), ...bit, op.i64Subtract]
  return code(
    [2, 1, i64, 1, i32],
    [...constant32(width), ...set(left)],
    [op.loop, nothing],
    get(product),
    maskBy([...get(a), ...constant64(BigInt(width - 1)), op.i64ShiftRight, ...constant64(1n), op.i64And]),
    [...get(b), op.i64And, op.i64Xor, ...set(product)],
    [...get(a), ...constant64(1n), op.i64ShiftLeft, ...set(a)],
    [...get(b), ...constant64(1n), op.i64ShiftRight],
    maskBy([...get(b), ...constant64(1n), op.i64And]),
    [...constant64(BigInt.asIntN(64, polynomial)), op.i64And, op.i64Xor, ...set(b)],
    [...get(left), ...constant32(1), op.i32Subtract, ...tee(left), op.branchIf, 0],
    [op.end, ...get(product), op.end],
  )
}

const i32 = 0x7f
const i64 = 0x7e
const nothing = 0x40

// WebAssembly core specification, "Instructions", binary format.
const op = {
  block: 0x02,
  loop: 0x03,
  end: 0x0b,
  branch: 0x0c,
  branchIf: 0x0d,
  i32GreaterU: 0x4b,
  i32GreaterEqualU: 0x4f,
  i32Add: 0x6a,
  i32Subtract: 0x6b,
  i32And: 0x71,
  i64Subtract: 0x7d,
  i64And: 0x83,
  i64Xor: 0x85,
  i64ShiftLeft: 0x86,
  i64ShiftRight: 0x88,
  i32Wrap: 0xa7,
} as const

const magic = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
const code = (...lines: readonly number[][]): number[] => lines.flat()
const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]
const tee = (local: number): number[] => [0x22, local]
const load = (offset: number): number[] => [0x29, 0, ...leb(BigInt(offset))]
const load8 = [0x31, 0, 0]
const loadVector = [0xfd, 0, 0, 0]
const storeVector = [0xfd, 11, 0, 0]
const vectorXor = [0xfd, 81]
const constant32 = (value: number): number[] => [0x41, ...signedLeb(BigInt(value))]
const constant64 = (value: bigint): number[] => [0x42, ...signedLeb(value)]
const section = (id: number, content: number[]): number[] => [id, ...counted(content)]
const counted = (content: number[]): number[] => [...leb(BigInt(content.length)), ...content]

function leb(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) + 128, ...leb(value >> 7n)]
}

function signedLeb(value: bigint): number[] {
  const low = Number(value & 127n)
  if (value >= -64n && value < 64n) return [low]
  return [low + 128, ...signedLeb(value >> 7n)]
}
