import type { Clock } from '../../ports/system.ts'
import type { Cost, Rate } from './limiters.ts'

/** What one data-plane process saw of an object with a floor in a while. */
export interface FloorSample {
  readonly floor: Rate
  readonly operations: number
  readonly bytes: number
  /** For so long something of it was under way here, and waited for us rather than for the client. */
  readonly busyMs: number
  /** The length of the while. */
  readonly overMs: number
}

/** How often data-plane processes say what they saw, and what the others get is set anew. */
export const floorRoundMs = 250
/** An object that has something under way for less of the time asks for less than it gets: nobody stands in its way. */
const busyShareMin = 0.5
/** A floor is kept with a little to spare, as it is looked at in rounds. */
const margin = 1.05
/** What the others get is cut by this while a floor is not met, and raised by that while all are. */
const cut = 0.75
const raise = 1.05
/** The others always get so much of what they had when they were first held back: floors starve nobody. */
const restShareMin = 0.1
/** After so many rounds in which the others asked for less than they might have, they are left alone. */
const easyRoundsMax = 20
/** A process that has not said anything for so long sees nothing of the object any more. */
const staleMs = 4 * floorRoundMs
/** Of a rate so much comes from the last round, the rest from those before: single rounds are noisy. */
const newest = 0.5

const restKey = 'what has no floor'

interface Seen {
  readonly floor: Rate
  readonly operationsPerSecond: number
  readonly bytesPerSecond: number
  readonly busyShare: number
  readonly atMs: number
}

interface HoldBack {
  /** What the others get. Unbounded in the first round, which measures what they have. */
  operationsPerSecond: number
  bytesPerSecond: number
  least: { readonly operationsPerSecond: number; readonly bytesPerSecond: number } | undefined
  easyRounds: number
}

/**
 * Keeps floors of throughput. Nobody knows what the disks and processors beneath can do, so a floor cannot be set aside: it
 * is watched. While an object has requests waiting and gets less than its floor, what all others get together is cut, round by
 * round; while every floor is met, it is raised again (as congestion control of networks does, RFC 5681). An object above its
 * floor is one of the others with what is above.
 */
export class Floors {
  readonly #clock: Clock
  readonly #onHoldBack: (isOn: boolean) => void
  /** By key of the floor and process. */
  readonly #seen = new Map<string, Seen>()
  readonly #rest = { operations: 0, bytes: 0 }
  #steppedMs = -Infinity
  #holdBack: HoldBack | undefined

  constructor(clock: Clock, onHoldBack: (isOn: boolean) => void) {
    this.#clock = clock
    this.#onHoldBack = onHoldBack
  }

  report(source: number, samples: readonly FloorSample[]): void {
    const atMs = this.#clock.elapsed()
    for (const { floor, operations, bytes, busyMs, overMs } of samples) {
      const name = `${floor.key} ${source}`
      const before = this.#seen.get(name)
      const perSecond = (amount: number, was: number | undefined): number => {
        const now = (amount * 1000) / Math.max(overMs, 1)
        return was === undefined ? now : newest * now + (1 - newest) * was
      }
      this.#seen.set(name, {
        floor,
        operationsPerSecond: perSecond(operations, before?.operationsPerSecond),
        bytesPerSecond: perSecond(bytes, before?.bytesPerSecond),
        busyShare: busyMs / Math.max(overMs, 1),
        atMs,
      })
    }
    this.#step()
  }

  /** What those without a floor get together. Nothing: as much as there is. */
  rest(): Rate | undefined {
    this.#step()
    if (this.#holdBack === undefined) return undefined
    const { operationsPerSecond, bytesPerSecond } = this.#holdBack
    return { key: restKey, operationsPerSecond, bytesPerSecond }
  }

  countRest({ operations, bytes }: Cost): void {
    this.#rest.operations += operations
    this.#rest.bytes += bytes
  }

  #step(): void {
    const nowMs = this.#clock.elapsed()
    const tookMs = nowMs - this.#steppedMs
    if (tookMs < floorRoundMs) return
    this.#steppedMs = nowMs
    for (const [name, { atMs }] of this.#seen) if (atMs < nowMs - staleMs) this.#seen.delete(name)
    const isUnmet = this.#isUnmet()
    if (this.#holdBack === undefined) {
      if (isUnmet) this.#begin()
    } else if (this.#seen.size === 0) {
      this.#end()
    } else {
      this.#adjust(this.#holdBack, isUnmet, tookMs)
    }
    this.#rest.operations = 0
    this.#rest.bytes = 0
  }

  #begin(): void {
    this.#holdBack = { operationsPerSecond: Infinity, bytesPerSecond: Infinity, least: undefined, easyRounds: 0 }
    this.#onHoldBack(true)
  }

  #end(): void {
    this.#holdBack = undefined
    this.#onHoldBack(false)
  }

  #adjust(holdBack: HoldBack, isUnmet: boolean, tookMs: number): void {
    const operationsPerSecond = (this.#rest.operations * 1000) / tookMs
    const bytesPerSecond = (this.#rest.bytes * 1000) / tookMs
    const least = (holdBack.least ??= {
      operationsPerSecond: Math.max(1, operationsPerSecond * restShareMin),
      bytesPerSecond: Math.max(2 ** 16, bytesPerSecond * restShareMin),
    })
    const set = (limit: number, had: number, lowest: number): number =>
      isUnmet ? Math.max(lowest, Math.min(limit, had) * cut) : Math.max(lowest, limit * raise)
    const isEasy =
      operationsPerSecond < holdBack.operationsPerSecond / 2 && bytesPerSecond < holdBack.bytesPerSecond / 2
    holdBack.easyRounds = isEasy && !isUnmet ? holdBack.easyRounds + 1 : 0
    if (holdBack.easyRounds > easyRoundsMax) return this.#end()
    holdBack.operationsPerSecond = set(holdBack.operationsPerSecond, operationsPerSecond, least.operationsPerSecond)
    holdBack.bytesPerSecond = set(holdBack.bytesPerSecond, bytesPerSecond, least.bytesPerSecond)
  }

  /** Whether an object has more to do than it gets done, and gets less done than its floor says. */
  #isUnmet(): boolean {
    const objects = new Map<string, Seen>()
    for (const seen of this.#seen.values()) {
      const other = objects.get(seen.floor.key)
      objects.set(seen.floor.key, other === undefined ? seen : together(seen, other))
    }
    return [...objects.values()].some(
      ({ floor, busyShare, operationsPerSecond, bytesPerSecond }) =>
        busyShare >= busyShareMin &&
        (operationsPerSecond < (floor.operationsPerSecond ?? 0) * margin ||
          bytesPerSecond < (floor.bytesPerSecond ?? 0) * margin),
    )
  }
}

function together(a: Seen, b: Seen): Seen {
  return {
    floor: a.floor,
    operationsPerSecond: a.operationsPerSecond + b.operationsPerSecond,
    bytesPerSecond: a.bytesPerSecond + b.bytesPerSecond,
    busyShare: Math.max(a.busyShare, b.busyShare),
    atMs: Math.max(a.atMs, b.atMs),
  }
}
