import type { Random } from '../../ports/system.ts'

/** Chance that repeats itself: the same seed gives the same numbers (sfc32). Not for secrets. */
export class SimulatedRandom implements Random {
  readonly seed: number
  #a: number
  #b = 0x9e3779b9
  #c = 0x243f6a88
  #count = 1

  constructor(seed: number) {
    this.seed = seed
    this.#a = seed | 0
    // The first numbers of neighbouring seeds are alike.
    for (let i = 0; i < 16; i++) this.#next()
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count)
    for (let i = 0; i < count; i++) bytes[i] = this.#next() & 0xff
    return bytes
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex')
    const variant = '89ab'[this.below(4)] ?? '8'
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `${variant}${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-')
  }

  /** A whole number from 0 to below the limit. */
  below(limit: number): number {
    return Math.floor((this.#next() / 2 ** 32) * limit)
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.#next() / 2 ** 32 < probability
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#count++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}
