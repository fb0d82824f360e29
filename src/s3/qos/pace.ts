import type { Charged } from '../../core/qos/ledger.ts'
import type { Clock } from '../../ports/system.ts'
import { s3Error } from '../errors.ts'
import type { FloorMeter, Presence } from './floor-meter.ts'
import type { Shaper } from './shaper.ts'

/** A request that would wait longer than this before it begins is asked to come back. */
export const admissionMsMax = 20_000

/** Lets one request go on no faster than its ceilings allow, and others not in the way of its floors. */
export class Pace {
  readonly #charged: Charged
  readonly #shaper: Shaper
  readonly #clock: Clock
  readonly #presence: Presence | undefined

  constructor(charged: Charged, parts: { readonly shaper: Shaper; readonly meter: FloorMeter; readonly clock: Clock }) {
    this.#charged = charged
    this.#shaper = parts.shaper
    this.#clock = parts.clock
    this.#presence = charged.floors.length === 0 ? undefined : parts.meter.enter(charged.floors)
  }

  /** Waits for the turn of the request itself. */
  async begin(): Promise<void> {
    if (this.#isFree) return
    const waitMs = await this.#shaper.charge(this.#charged, { operations: 1, bytes: 0 }, admissionMsMax)
    if (waitMs === undefined) {
      throw s3Error('SlowDown', { headers: { 'Retry-After': String(Math.ceil(admissionMsMax / 1000)) } })
    }
    await this.#wait(waitMs)
  }

  /** Waits for the turn of some bytes of it, before they are sent or after they have come. */
  async bytes(count: number): Promise<void> {
    this.#presence?.bytes(count)
    if (this.#isFree) return
    // A request that has begun ends: cut off half way it would come again, and cost the more.
    await this.#wait((await this.#shaper.charge(this.#charged, { operations: 0, bytes: count }, Infinity)) ?? 0)
  }

  /** The request waits for its client, or no longer. */
  waitsForClient(isSo: boolean): void {
    this.#presence?.waitsForClient(isSo)
  }

  /** The request has been answered. */
  end(): void {
    this.#presence?.leave()
  }

  get #isFree(): boolean {
    return this.#charged.limits.length === 0 && !this.#shaper.isHoldingBack()
  }

  #wait(ms: number): Promise<void> {
    return ms < 1 ? Promise.resolve() : this.#clock.sleep(ms)
  }
}
