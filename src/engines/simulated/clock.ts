import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../ports/system.ts'

interface Sleeper {
  readonly wakeMs: number
  readonly order: number
  readonly wake: () => void
}

/**
 * Turns of the event loop that woken code gets before time moves on: commits of a catalog in memory take one, and so does
 * each table of counters that is sampled.
 */
const TURNS = 5

/** Time that stands still until it is moved. Sleepers wake in the order of their times, equal ones as they came. */
export class SimulatedClock implements Clock {
  readonly #startMs: number
  readonly #isBusy: () => boolean
  #nowMs: number
  #slept = 0
  #sleepers: Sleeper[] = []

  /** Time does not move while `isBusy` says that something else than time is being waited for. */
  constructor(startMs = Date.UTC(2026, 0, 1), isBusy: () => boolean = () => false) {
    this.#startMs = startMs
    this.#isBusy = isBusy
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  elapsed(): number {
    return this.#nowMs - this.#startMs
  }

  get sleeping(): number {
    return this.#sleepers.length
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
      resolve()
    }
    const wake = () => {
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const sleeper = { wakeMs: this.#nowMs + Math.max(0, ms), order: this.#slept++, wake }
    this.#sleepers.push(sleeper)
    signal?.addEventListener('abort', end, { once: true })
    return promise
  }

  /** Moves time, stopping at each sleeper on the way so that what it does happens at its time. */
  async advance(ms: number): Promise<void> {
    const until = this.#nowMs + ms
    await this.#settle()
    for (let next = this.#next(); next !== undefined && next.wakeMs <= until; next = this.#next())
      await this.#wake(next)
    this.#nowMs = until
  }

  /** Moves time as far as it takes until the promise settles. Fails when nobody sleeps any more and it has not. */
  async until<Result>(promise: Promise<Result>): Promise<Result> {
    const waiting = { over: false }
    void Promise.allSettled([promise]).then(() => {
      waiting.over = true
    })
    await this.#settle()
    while (!waiting.over) {
      const next = this.#next()
      if (next === undefined) throw new Error('Everybody waits, and nobody for the time.')
      await this.#wake(next)
    }
    return promise
  }

  #next(): Sleeper | undefined {
    return this.#sleepers.reduce<Sleeper | undefined>(
      (first, one) =>
        first === undefined || one.wakeMs < first.wakeMs || (one.wakeMs === first.wakeMs && one.order < first.order)
          ? one
          : first,
      undefined,
    )
  }

  async #wake(sleeper: Sleeper): Promise<void> {
    this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
    this.#nowMs = Math.max(this.#nowMs, sleeper.wakeMs)
    sleeper.wake()
    await this.#settle()
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < TURNS; quiet = this.#isBusy() ? 0 : quiet + 1) await nextTurn()
  }
}
