import type { Clock } from '../../ports/system.ts'
import { Gate } from './gate.ts'

/** So many jobs are taken up at once. */
export const PLACES = 64
/** A job that takes longer than this is a long one, or waits for something: it gives its place to the next. */
export const PLACE_MS = 10_000

/**
 * Bounds how many jobs are taken up at once, without holding short jobs up behind long ones. A job asks for a place
 * before it holds anything, keeps it for so many seconds at most, and never asks again: so nobody waits for a place who
 * has what another one in a place waits for.
 */
export class Places {
  readonly #gate = new Gate(PLACES)
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Gives the function that gives the place up; it may be called again. When the signal aborts, the wait for a place ends
   * with `Interrupted`, and a place that was taken is given up.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    await this.#gate.enter(signal)
    const left = new AbortController()
    const leave = () => {
      if (left.signal.aborted) return
      left.abort()
      signal.removeEventListener('abort', leave)
      this.#gate.leave()
    }
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    void this.#clock.sleep(PLACE_MS, left.signal).then(leave)
    return leave
  }
}
