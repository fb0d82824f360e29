/** Lets through so many a second, each in a turn of the event loop of its own, so that other work goes on between them. */
import type { Clock } from '../../ports/system.ts'

export class Pace {
  readonly #clock: Clock
  readonly #everyMs: number
  #nextMs = 0

  constructor(clock: Clock, aSecond: number) {
    this.#clock = clock
    this.#everyMs = 1000 / aSecond
  }

  /** Waits for its turn. What was not used before is not made up for. */
  async turn(signal?: AbortSignal): Promise<void> {
    const nowMs = this.#clock.elapsed()
    const turnMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = turnMs + this.#everyMs
    await this.#clock.sleep(turnMs - nowMs, signal)
  }
}
