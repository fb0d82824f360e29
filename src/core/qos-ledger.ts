/**
 * Shapes traffic to ceilings. For each limiter it keeps the moment until which what was let through so far takes, at the
 * rate that is allowed; what comes next begins there (the generic cell rate algorithm: ITU-T I.371, annex A). So a ceiling
 * holds over any span longer than the burst, whoever asks comes in the order of asking, and nobody has to be remembered.
 *
 * One ledger serves all data-plane processes, as a ceiling is for all of them together.
 */
import type { Clock } from '../ports/system.ts'

/** A ceiling. Those who name the same key share it. */
export interface Limit {
  readonly key: string
  readonly operationsPerSecond?: number
  readonly bytesPerSecond?: number
}

/** After a pause so much of the missed time may be made up for, or a process that is late would lose it. */
export const burstMs = 100
/** Limiters are forgotten once nothing has gone through them for long enough not to matter; beyond this many, at once. */
const limitersMax = 100_000

interface Limiter {
  operationsUntilMs: number
  bytesUntilMs: number
}

export class QosLedger {
  readonly #clock: Clock
  readonly #limiters = new Map<string, Limiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Charges operations and bytes to all limits. The answer is how many milliseconds to wait before doing them; nothing when
   * that would be longer than `waitMsMax`, and then nothing is charged.
   */
  charge(
    limits: readonly Limit[],
    cost: { readonly operations: number; readonly bytes: number },
    waitMsMax = Infinity,
  ): number | undefined {
    const nowMs = this.#clock.elapsed()
    const earliestMs = nowMs - burstMs
    let waitMs = 0
    for (const limit of limits) {
      const { operationsUntilMs, bytesUntilMs } = this.#limiter(limit.key, earliestMs)
      if (limit.operationsPerSecond !== undefined && cost.operations > 0) {
        waitMs = Math.max(waitMs, operationsUntilMs - nowMs)
      }
      if (limit.bytesPerSecond !== undefined && cost.bytes > 0) waitMs = Math.max(waitMs, bytesUntilMs - nowMs)
    }
    if (waitMs > waitMsMax) return undefined
    for (const limit of limits) {
      const limiter = this.#limiter(limit.key, earliestMs)
      // A ceiling of nothing lets nothing through, not everything.
      limiter.operationsUntilMs += takes(cost.operations, limit.operationsPerSecond)
      limiter.bytesUntilMs += takes(cost.bytes, limit.bytesPerSecond)
    }
    return waitMs
  }

  #limiter(key: string, earliestMs: number): Limiter {
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

function takes(amount: number, perSecond: number | undefined): number {
  return perSecond === undefined || amount === 0 ? 0 : (amount * 1000) / Math.max(perSecond, 1e-3)
}
