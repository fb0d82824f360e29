/** The loops of a CRC as a WebAssembly module, put together once at start from the instructions below. */
import {
  assemble,
  constant32,
  constant64,
  get,
  i32,
  i64,
  load64 as load,
  load8,
  loadVector,
  nothing,
  op,
  set,
  storeVector,
  tee,
  vectorOp,
} from './wasm.ts'
import type { FunctionParts } from './wasm.ts'

/** Look-ups that are in flight together; so many tables of 256 entries of 8 bytes are at the start of the memory. */
export const lookUpsAtOnce = 16
/** What one instruction of folding takes: vectors of 128 bits. */
export const wordBytes = 16
/** The memory of a module, in pages of WebAssembly. */
export const pages = 6

export interface CrcModule {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly update: (state: bigint, start: number, end: number) => bigint
  /** From `at` to `end`, in whole words; see `fold`. */
  readonly fold: (at: number, end: number, offset: number) => void
  readonly multiply: (a: bigint, b: bigint) => bigint
}

export function assembleCrc(width: 32 | 64, polynomial: bigint, distances: readonly number[]): CrcModule {
  const functions = { update: update(), multiply: multiply(width, polynomial), fold: fold(distances) }
  return assemble({ memoryPages: pages, functions }) as CrcModule
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
function update(): FunctionParts {
  const [state, at, end, low, high] = [0, 1, 2, 3, 4]
  const sum = (word: number, from: number): number[] =>
    Array.from({ length: 8 }, (_, byte) => [
      ...lookUp(word, byte, from - byte),
      ...(byte === 0 ? [] : [op.i64Xor]),
    ]).flat()
  // Those that do not wait for the state come first.
  const lookUps = [...sum(high, lookUpsAtOnce - 9), ...sum(low, lookUpsAtOnce - 1), op.i64Xor]
  return {
    parameters: [i64, i32, i32],
    results: [i64],
    locals: [2, i64],
    body: [
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
      get(state),
    ],
  }
}

/**
 * fold(at, end, offset):
 *     while at < end:
 *       store(at + offset, load(at + offset) ^ load(at - first distance) ^ load(at - second distance) ^ …)
 *       at += 16
 */
function fold(distances: readonly number[]): FunctionParts {
  const [at, end, offset, place] = [0, 1, 2, 3]
  const before = distances.flatMap((distance) =>
    [get(at), constant32(distance), [op.i32Subtract], loadVector(), vectorOp.xor].flat(),
  )
  return {
    parameters: [i32, i32, i32],
    locals: [1, i32],
    body: [
      [op.block, nothing, op.loop, nothing],
      [...get(at), ...get(end), op.i32GreaterEqualU, op.branchIf, 1],
      [...get(at), ...get(offset), op.i32Add, ...tee(place)],
      [...get(place), ...loadVector(), ...before, ...storeVector()],
      [...get(at), ...constant32(wordBytes), op.i32Add, ...set(at)],
      [op.branch, 0, op.end, op.end],
    ],
  }
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
function multiply(width: number, polynomial: bigint): FunctionParts {
  const [a, b, product, left] = [0, 1, 2, 3]
  // 0 - bit is all ones for a set bit: choosing without a branch.
  const maskBy = (bit: number[]): number[] => [...constant64(0n), ...bit, op.i64Subtract]
  return {
    parameters: [i64, i64],
    results: [i64],
    locals: [1, i64, 1, i32],
    body: [
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
      [op.end, ...get(product)],
    ],
  }
}
