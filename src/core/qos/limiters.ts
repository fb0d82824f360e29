import type { Clock } from '../../ports/system.ts'

/** A rate of throughput. Those who name the same key share it. */
export interface Rate {
  readonly key: string
  readonly operationsPerSecond?: number
  readonly bytesPerSecond?: number
}

/** What is let through: a request when it begins, and pieces of bodies. */
export interface Cost {
  readonly operations: number
  readonly bytes: number
}

/** After a pause so much of the missed time may be made up for, or a process that is late would lose it. */
export const burstMs = 100
/** Limiters are forgotten once nothing has gone through them for long enough not to matter; beyond this many, at once. */
const limitersMax = 100_000

interface Limiter {
  operationsUntilMs: number
  bytesUntilMs: number
}

/**
 * Keeps rates. For each it knows the moment until which what was let through so far takes; what comes next begins there (the
 * generic cell rate algorithm: ITU-T I.371, annex A). So a rate holds over any span longer than the burst, whoever asks comes
 * in the order of asking, and nobody has to be remembered.
 */
export class Limiters {
  readonly #clock: Clock
  readonly #limiters = new Map<string, Limiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many milliseconds to wait before something goes through. Nothing is charged. */
  waitMs(rate: Rate, cost: Cost): number {
    const { operationsUntilMs, bytesUntilMs } = this.#limiter(rate.key)
    const nowMs = this.#clock.elapsed()
    const isOfOperations = rate.operationsPerSecond !== undefined && cost.operations > 0
    const isOfBytes = rate.bytesPerSecond !== undefined && cost.bytes > 0
    return Math.max(0, isOfOperations ? operationsUntilMs - nowMs : 0, isOfBytes ? bytesUntilMs - nowMs : 0)
  }

  /** Charges what goes through. */
  charge(rate: Rate, cost: Cost): void {
    const limiter = this.#limiter(rate.key)
    limiter.operationsUntilMs += takesMs(cost.operations, rate.operationsPerSecond)
    limiter.bytesUntilMs += takesMs(cost.bytes, rate.bytesPerSecond)
  }

  #limiter(key: string): Limiter {
    const earliestMs = this.#clock.elapsed() - burstMs
    let limiter = this.#limiters.get(key)
    if (limiter === undefined) {
      if (this.#limiters.size >= limitersMax) this.#forget(earliestMs)
      limiter = { operationsUntilMs: earliestMs, bytesUntilMs: earliestMs }
      this.#limiters.set(key, limiter)
    }
    limiter.operationsUntilMs = Math.max(limiter.operationsUntilMs, earliestMs)
    limiter.bytesUntilMs = Math.max(limiter.bytesUntilMs, earliestMs)
    return limiter
  }

  #forget(earliestMs: number): void {
    for (const [key, { operationsUntilMs, bytesUntilMs }] of this.#limiters) {
      if (operationsUntilMs <= earliestMs && bytesUntilMs <= earliestMs) this.#limiters.delete(key)
    }
  }
}

/** A rate of nothing lets nothing through, not everything. */
function takesMs(amount: number, perSecond: number | undefined): number {
  return perSecond === undefined || amount === 0 ? 0 : (amount * 1000) / Math.max(perSecond, 1e-3)
}
