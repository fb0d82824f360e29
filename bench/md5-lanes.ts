/**
 * MD5 of four messages at once, as a WebAssembly module. Only measured (docs/decisions/0065).
 *
 * A step of MD5 waits for the one before it, so one message keeps a core busy with a third of what it could do. Vectors of
 * four words do each step for four messages, a message in each word, in hardly more time than one takes.
 *
 * Memory:
 *
 *     0     states of four messages: four vectors A, B, C, D with a word of each message
 *     64    state of one message: words A, B, C, D
 *     128   constants of the 64 steps, each four times
 *     64 K  four windows of `laneBytes` with what is to be digested, in whole blocks
 */
import {
  assemble,
  code,
  constant32,
  get,
  i32,
  load32,
  loadVector,
  nothing,
  op,
  pageBytes,
  set,
  shuffleWords,
  store32,
  storeVector,
  tee,
  v128,
  vectorOp,
} from '../src/s3/checksums/wasm.ts'
import type { FunctionParts } from '../src/s3/checksums/wasm.ts'

export const lanes = 4
export const laneBytes = 16_384
export const blockBytes = 64
/** Where windows begin; that of the only message is all of them together. */
export const windowStart = pageBytes
/** The first word of the states of four messages, where the same word of all of them comes before the next; of one message. */
export const statesWord = 0
export const stateWord = 16
const tableStart = 128

export interface Md5Module {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** So many blocks of each of the four windows. */
  readonly four: (blocks: number) => void
  /** So many blocks of the first window on. */
  readonly one: (blocks: number) => void
}

/** RFC 1321: what is added in step i is the whole part of 2^32 · |sin(i + 1)|, with i from 0. */
const additions = Array.from({ length: 64 }, (_, step) => Math.trunc(Math.abs(Math.sin(step + 1)) * 2 ** 32) | 0)
const rotations = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const

export function assembleMd5(): Md5Module {
  const memoryPages = 1 + (lanes * laneBytes) / pageBytes
  const module = assemble({ memoryPages, functions: { four: four(), one: one() } }) as Md5Module
  const words = new Int32Array(module.memory.buffer)
  for (const [step, addition] of additions.entries()) {
    // The last function of `four` is complemented by one subtraction more: a + ~y is a - y - 1.
    const at = tableStart / 4 + step * lanes
    words.fill(step < 48 ? addition : addition - 1, at, at + lanes)
  }
  return module
}

/** The round of a step, its word of the block, and its rotation. */
interface Step {
  readonly number: number
  readonly round: number
  readonly word: number
  readonly rotation: number
}

/**
 * Each step makes another of the four words of the state anew, a = b + rotate(a + f(b, c, d) + addition + word), and the
 * names move on by one. `b` is what the step before has made, so it is used as late as can be.
 */
function steps(
  state: readonly number[],
  step: (a: number, b: number, c: number, d: number, of: Step) => number[],
): number[][] {
  return additions.map((_, number) => {
    const round = number >> 4
    const word = [number, 5 * number + 1, 3 * number + 5, 7 * number][round] ?? 0
    const local = (name: number): number => state[(name + 64 - number) % 4] ?? 0
    const rotation = rotations[round]?.[number % 4] ?? 0
    return step(local(0), local(1), local(2), local(3), { number, round, word: word % 16, rotation })
  })
}

function one(): FunctionParts {
  const [blocks, at, a, b, c, d, before] = [0, 1, 2, 3, 4, 5, 6]
  const state = [a, b, c, d]
  const add = [op.i32Add]
  const xor = [op.i32Xor]
  const and = [op.i32And]
  const not = code(constant32(-1), xor)
  const mixed = (round: number, q: number, u: number, w: number): number[] => {
    if (round === 0) return code(get(u), get(w), xor, get(q), and, get(w), xor, add)
    // (b and d) or (c and not d), of which no bit is in both: the part without b is added while b is being made.
    if (round === 1) return code(get(w), not, get(u), and, add, get(q), get(w), and, add)
    if (round === 2) return code(get(u), get(w), xor, get(q), xor, add)
    return code(get(w), not, get(q), [op.i32Or], get(u), xor, add)
  }
  return {
    parameters: [i32],
    locals: [9, i32],
    body: [
      code(constant32(windowStart), set(at)),
      ...state.map((local, n) => code(constant32(0), load32((stateWord + n) * 4), set(local))),
      [op.loop, nothing],
      ...state.map((local, n) => code(get(local), set(before + n))),
      ...steps(state, (p, q, u, w, { number, round, word, rotation }) =>
        code(
          code(get(p), constant32(additions[number] ?? 0), add, get(at), load32(word * 4), add),
          mixed(round, q, u, w),
          code(constant32(rotation), [op.i32RotateLeft], get(q), add, set(p)),
        ),
      ),
      ...state.map((local, n) => code(get(local), get(before + n), add, set(local))),
      nextBlock(at, blocks),
      ...state.map((local, n) => code(constant32(0), get(local), store32((stateWord + n) * 4))),
    ],
  }
}

function four(): FunctionParts {
  const [blocks, at, a, b, c, d, before, words, rows, sum] = [0, 1, 2, 3, 4, 5, 6, 10, 26, 34]
  const state = [a, b, c, d]
  const { select, andNot, and, or, xor, i32x4Add: add, i32x4Subtract: subtract } = vectorOp
  const mixed = (round: number, q: number, u: number, w: number): number[] => {
    if (round === 0) return code(get(u), get(w), get(q), select, add)
    if (round === 1) return code(get(u), get(w), andNot, add, get(q), get(w), and, add)
    if (round === 2) return code(get(u), get(w), xor, get(q), xor, add)
    // c xor (b or not d) is the complement of c xor (d and not b).
    return code(get(u), get(w), get(q), andNot, xor, subtract)
  }
  const rotated = (bits: number): number[] =>
    code(
      code(tee(sum), constant32(bits), vectorOp.i32x4ShiftLeft),
      code(get(sum), constant32(32 - bits), vectorOp.i32x4ShiftRight, or),
    )
  return {
    parameters: [i32],
    locals: [1, i32, 33, v128],
    body: [
      code(constant32(windowStart), set(at)),
      ...state.map((local, n) => code(constant32(0), loadVector((statesWord + n * lanes) * 4), set(local))),
      [op.loop, nothing],
      ...state.map((local, n) => code(get(local), set(before + n))),
      ...[0, 1, 2, 3].map((group) => transposed(at, group, rows, words)),
      ...steps(state, (p, q, u, w, { number, round, word, rotation }) =>
        code(
          code(get(p), constant32(0), loadVector(tableStart + number * 16), add, get(words + word), add),
          mixed(round, q, u, w),
          rotated(rotation),
          code(get(q), add, set(p)),
        ),
      ),
      ...state.map((local, n) => code(get(local), get(before + n), add, set(local))),
      nextBlock(at, blocks),
      ...state.map((local, n) => code(constant32(0), get(local), storeVector((statesWord + n * lanes) * 4))),
    ],
  }
}

/** Four words of each message become four vectors with a word of each: first pairs, then pairs of pairs. */
function transposed(at: number, group: number, rows: number, words: number): number[] {
  const pairs = rows + lanes
  const shuffled = (from: number, and: number, picked: readonly number[], to: number): number[] =>
    code(get(from), get(and), shuffleWords(...picked), set(to))
  return code(
    ...[0, 1, 2, 3].map((n) => code(get(at), loadVector(n * laneBytes + group * 16), set(rows + n))),
    shuffled(rows, rows + 1, [0, 4, 1, 5], pairs),
    shuffled(rows + 2, rows + 3, [0, 4, 1, 5], pairs + 1),
    shuffled(rows, rows + 1, [2, 6, 3, 7], pairs + 2),
    shuffled(rows + 2, rows + 3, [2, 6, 3, 7], pairs + 3),
    shuffled(pairs, pairs + 1, [0, 1, 4, 5], words + group * 4),
    shuffled(pairs, pairs + 1, [2, 3, 6, 7], words + group * 4 + 1),
    shuffled(pairs + 2, pairs + 3, [0, 1, 4, 5], words + group * 4 + 2),
    shuffled(pairs + 2, pairs + 3, [2, 3, 6, 7], words + group * 4 + 3),
  )
}

/** The end of the loop. */
function nextBlock(at: number, blocks: number): number[] {
  return code(
    code(get(at), constant32(blockBytes), [op.i32Add], set(at)),
    code(get(blocks), constant32(1), [op.i32Subtract], tee(blocks), [op.branchIf, 0, op.end]),
  )
}
