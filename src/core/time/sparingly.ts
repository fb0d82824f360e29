import type { Clock } from '../../ports/system.ts'

/**
 * Tells of what may happen thousands of times: of the first `at once` in each period, and then, with the first of a later
 * period, how many were passed over.
 */
export class Sparingly {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #atOnce: number
  #sinceMs = -Infinity
  #told = 0
  #passedOver = 0

  constructor(clock: Clock, { everyMs, atOnce = 1 }: { readonly everyMs: number; readonly atOnce?: number }) {
    this.#clock = clock
    this.#everyMs = everyMs
    this.#atOnce = atOnce
  }

  /** Calls `tell` with how many were passed over since it was called last, unless this one is passed over too. */
  happened(tell: (passedOver: number) => void): void {
    const nowMs = this.#clock.elapsed()
    if (nowMs - this.#sinceMs >= this.#everyMs) {
      this.#sinceMs = nowMs
      this.#told = 0
    }
    if (this.#told >= this.#atOnce) {
      this.#passedOver++
      return
    }
    this.#told++
    const passedOver = this.#passedOver
    this.#passedOver = 0
    tell(passedOver)
  }
}
