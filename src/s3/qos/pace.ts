import type { Limit } from '../../core/qos-ledger.ts'
import type { Clock } from '../../ports/system.ts'
import { s3Error } from '../errors.ts'

/** Charges a cost to limits that all processes share, and tells how long to wait. Nothing: too long, nothing charged. */
export type Charge = (
  limits: readonly Limit[],
  cost: { readonly operations: number; readonly bytes: number },
  waitMsMax: number,
) => Promise<number | undefined>

/** A request that would wait longer than this before it begins is asked to come back. */
export const admissionMsMax = 20_000

/** Lets one request go on no faster than its ceilings allow. */
export class Pace {
  readonly #limits: readonly Limit[]
  readonly #charge: Charge
  readonly #clock: Clock

  constructor(limits: readonly Limit[], charge: Charge, clock: Clock) {
    this.#limits = limits
    this.#charge = charge
    this.#clock = clock
  }

  /** Waits for the turn of the request itself. */
  async begin(): Promise<void> {
    const waitMs = await this.#charge(this.#limits, { operations: 1, bytes: 0 }, admissionMsMax)
    if (waitMs === undefined) {
      throw s3Error('SlowDown', { headers: { 'Retry-After': String(Math.ceil(admissionMsMax / 1000)) } })
    }
    await this.#wait(waitMs)
  }

  /** Waits for the turn of some bytes of it, before they are sent or after they have come. */
  async bytes(count: number): Promise<void> {
    // A request that has begun ends: cut off half way it would come again, and cost the more.
    await this.#wait((await this.#charge(this.#limits, { operations: 0, bytes: count }, Infinity)) ?? 0)
  }

  #wait(ms: number): Promise<void> {
    return ms < 1 ? Promise.resolve() : this.#clock.sleep(ms)
  }
}
