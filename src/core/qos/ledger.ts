import type { Clock } from '../../ports/system.ts'
import { Floors } from './floors.ts'
import type { FloorSample } from './floors.ts'
import { Limiters } from './limiters.ts'
import type { Cost, Rate } from './limiters.ts'

/** What goes through for a floor may be so much more than the floor, or it would be met only just, and look unmet. */
const headroom = 1.25

/** What something is charged to. */
export interface Charged {
  /** Ceilings: it goes through no faster than each of them allows. */
  readonly limits: readonly Rate[]
  /** Floors: while others are held back for the sake of floors, it goes through at least as fast as one of them says. */
  readonly floors: readonly Rate[]
}

/**
 * Shapes traffic to ceilings and floors of throughput. One ledger serves all data-plane processes, as a ceiling is for all of
 * them together.
 */
export class QosLedger {
  readonly #limiters: Limiters
  readonly #floors: Floors

  /** `onHoldBack` is told when requests without a ceiling begin to be, or no longer are, to be charged too. */
  constructor(clock: Clock, onHoldBack: (isOn: boolean) => void = () => undefined) {
    this.#limiters = new Limiters(clock)
    this.#floors = new Floors(clock, onHoldBack)
  }

  /** Whether requests are to be charged that have no ceiling. */
  get isHoldingBack(): boolean {
    return this.#floors.rest() !== undefined
  }

  /**
   * Charges operations and bytes to all limits. The answer is how many milliseconds to wait before doing them; nothing when
   * that would be longer than `waitMsMax`, and then nothing is charged.
   */
  charge({ limits, floors }: Charged, cost: Cost, waitMsMax = Infinity): number | undefined {
    const way = this.#way(floors, cost)
    const rates = [...limits, ...way]
    const waitMs = this.#longestMs(rates, cost)
    if (waitMs > waitMsMax) return undefined
    for (const rate of rates) this.#limiters.charge(rate, cost)
    return waitMs
  }

  /** What a data-plane process saw of objects with floors. */
  report(source: number, samples: readonly FloorSample[]): void {
    this.#floors.report(source, samples)
  }

  /** What else to charge: a floor, or what is left beside the floors, whichever lets it through sooner. */
  #way(floors: readonly Rate[], cost: Cost): readonly Rate[] {
    const rest = this.#floors.rest()
    if (rest === undefined) return []
    const speaking = floors.filter((floor) => speaksOf(floor, cost)).map(withHeadroom)
    // A floor of bytes says nothing of operations: they are those of the bytes.
    if (speaking.length === 0 && floors.length > 0) return []
    const [soonest] = speaking.toSorted((a, b) => this.#limiters.waitMs(a, cost) - this.#limiters.waitMs(b, cost))
    if (soonest !== undefined && this.#limiters.waitMs(soonest, cost) <= this.#limiters.waitMs(rest, cost)) {
      return [soonest]
    }
    this.#floors.countRest(cost)
    return [rest]
  }

  #longestMs(rates: readonly Rate[], cost: Cost): number {
    return rates.reduce((longest, rate) => Math.max(longest, this.#limiters.waitMs(rate, cost)), 0)
  }
}

function withHeadroom({ key, operationsPerSecond, bytesPerSecond }: Rate): Rate {
  return {
    key,
    ...(operationsPerSecond === undefined ? {} : { operationsPerSecond: operationsPerSecond * headroom }),
    ...(bytesPerSecond === undefined ? {} : { bytesPerSecond: bytesPerSecond * headroom }),
  }
}

function speaksOf(rate: Rate, { operations, bytes }: Cost): boolean {
  return (rate.operationsPerSecond !== undefined && operations > 0) || (rate.bytesPerSecond !== undefined && bytes > 0)
}
