/**
 * Enough of WebAssembly's binary format to put small modules together at start, from instructions that the source shows:
 * there is no binary to trust and no build step.
 */

/** A module has one memory, which is exported as `memory`, and functions that are exported by their names. */
export interface ModuleParts {
  readonly memoryPages: number
  readonly functions: Readonly<Record<string, FunctionParts>>
}

export interface FunctionParts {
  readonly parameters: readonly number[]
  readonly results?: readonly number[]
  /** Locals behind the parameters, as counts and types that take turns. */
  readonly locals: readonly number[]
  readonly body: readonly (readonly number[])[]
}

export const pageBytes = 65_536

// The compiler's library for Node does not declare this global of Node.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** What an instance of the module exports. The caller knows its type. */
export function assemble({ memoryPages, functions }: ModuleParts): unknown {
  const entries = Object.entries(functions)
  const count = leb(BigInt(entries.length))
  const signatures = entries.flatMap(([, { parameters, results = [] }]) => [
    0x60,
    ...counted(parameters),
    ...counted(results),
  ])
  const exported = entries.flatMap(([name], at) => [...counted([...Buffer.from(name)]), 0, at])
  const codes = entries.flatMap(([, { locals, body }]) =>
    counted([...leb(BigInt(locals.length / 2)), ...locals, ...body.flat(), op.end]),
  )
  const module = new WebAssembly.Module(
    Uint8Array.from([
      ...magic,
      ...section(1, [...count, ...signatures]),
      ...section(3, [...count, ...entries.keys()]),
      ...section(5, [1, 1, memoryPages, memoryPages]),
      ...section(7, [entries.length + 1, ...counted([...Buffer.from('memory')]), 2, 0, ...exported]),
      ...section(10, [...count, ...codes]),
    ]),
  )
  return new WebAssembly.Instance(module).exports
}

export const i32 = 0x7f
export const i64 = 0x7e
export const v128 = 0x7b
export const nothing = 0x40

// WebAssembly core specification, "Instructions", binary format.
export const op = {
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
  i32Or: 0x72,
  i32Xor: 0x73,
  i32RotateLeft: 0x77,
  i64Subtract: 0x7d,
  i64And: 0x83,
  i64Xor: 0x85,
  i64ShiftLeft: 0x86,
  i64ShiftRight: 0x88,
  i32Wrap: 0xa7,
} as const

const vector = (number: number): number[] => [0xfd, ...leb(BigInt(number))]

/** On vectors of 128 bits; `i32x4` on each of four words. */
export const vectorOp = {
  andNot: vector(79),
  and: vector(78),
  or: vector(80),
  xor: vector(81),
  /** Bits of the first where the third has ones, else of the second. */
  select: vector(82),
  i32x4ShiftLeft: vector(171),
  i32x4ShiftRight: vector(173),
  i32x4Add: vector(174),
  i32x4Subtract: vector(177),
} as const

const magic = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
/** Some instructions, one after the other. */
export const code = (...lines: readonly (readonly number[])[]): number[] => lines.flat()
export const get = (local: number): number[] => [0x20, local]
export const set = (local: number): number[] => [0x21, local]
export const tee = (local: number): number[] => [0x22, local]
export const load32 = (offset: number): number[] => [0x28, 0, ...leb(BigInt(offset))]
export const load64 = (offset: number): number[] => [0x29, 0, ...leb(BigInt(offset))]
export const load8 = [0x31, 0, 0]
export const store32 = (offset: number): number[] => [0x36, 0, ...leb(BigInt(offset))]
export const loadVector = (offset = 0): number[] => [...vector(0), 0, ...leb(BigInt(offset))]
export const storeVector = (offset = 0): number[] => [...vector(11), 0, ...leb(BigInt(offset))]
export const constant32 = (value: number): number[] => [0x41, ...signedLeb(BigInt(value))]
export const constant64 = (value: bigint): number[] => [0x42, ...signedLeb(value)]

/** A vector of four words: 0 to 3 are those of the first of two vectors, 4 to 7 those of the second. */
export function shuffleWords(...words: readonly number[]): number[] {
  return [...vector(13), ...words.flatMap((word) => [0, 1, 2, 3].map((byte) => word * 4 + byte))]
}

const section = (id: number, content: number[]): number[] => [id, ...counted(content)]
const counted = (content: readonly number[]): number[] => [...leb(BigInt(content.length)), ...content]

function leb(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) + 128, ...leb(value >> 7n)]
}

function signedLeb(value: bigint): number[] {
  const low = Number(value & 127n)
  if (value >= -64n && value < 64n) return [low]
  return [low + 128, ...signedLeb(value >> 7n)]
}
