import { floorRoundMs } from '../../core/qos/floors.ts'
import type { FloorSample } from '../../core/qos/floors.ts'
import type { Rate } from '../../core/qos/limiters.ts'
import type { Clock } from '../../ports/system.ts'

/** A request of an object with floors, while it is under way. */
export interface Presence {
  bytes(count: number): void
  waitsForClient(isSo: boolean): void
  leave(): void
}

interface Measured {
  floor: Rate
  operations: number
  bytes: number
  /** Requests that wait for us. */
  waiting: number
  /** Since when there have been some. */
  sinceMs: number
  busyMs: number
  /** Requests under way, also those that wait for their client. */
  present: number
}

/** Measures what objects with floors get done in this process, and for how long of the time something of them waits for us. */
export class FloorMeter {
  readonly #clock: Clock
  readonly #report: (samples: readonly FloorSample[]) => void
  /** By key of the floor: those of requests under way or since the last report. */
  readonly #measured = new Map<string, Measured>()
  #isReporting = false

  constructor(clock: Clock, report: (samples: readonly FloorSample[]) => void) {
    this.#clock = clock
    this.#report = report
  }

  enter(floors: readonly Rate[]): Presence {
    const all = floors.map((floor) => this.#of(floor))
    for (const one of all) {
      one.present += 1
      this.#wait(one, 1)
    }
    if (!this.#isReporting) void this.#reportWhilePresent()
    let isAway = false
    let isGone = false
    const wait = (isSo: boolean): void => {
      if (isGone || isAway === isSo) return
      isAway = isSo
      for (const one of all) this.#wait(one, isSo ? -1 : 1)
    }
    return {
      bytes(count) {
        for (const one of all) one.bytes += count
      },
      waitsForClient: wait,
      leave() {
        wait(true)
        if (isGone) return
        isGone = true
        for (const one of all) {
          one.present -= 1
          one.operations += 1
        }
      },
    }
  }

  #of(floor: Rate): Measured {
    const known = this.#measured.get(floor.key)
    if (known !== undefined) {
      known.floor = floor
      return known
    }
    const fresh = { floor, operations: 0, bytes: 0, waiting: 0, sinceMs: 0, busyMs: 0, present: 0 }
    this.#measured.set(floor.key, fresh)
    return fresh
  }

  #wait(one: Measured, by: 1 | -1): void {
    const nowMs = this.#clock.elapsed()
    if (one.waiting > 0) one.busyMs += nowMs - one.sinceMs
    one.sinceMs = nowMs
    one.waiting += by
  }

  /** Ends with the requests: where no object has a floor, nothing runs. */
  async #reportWhilePresent(): Promise<void> {
    this.#isReporting = true
    while (this.#measured.size > 0) {
      const beganMs = this.#clock.elapsed()
      await this.#clock.sleep(floorRoundMs)
      const overMs = this.#clock.elapsed() - beganMs
      this.#report([...this.#measured.values()].map((one) => this.#take(one, overMs)))
      for (const [key, one] of this.#measured) if (one.present === 0) this.#measured.delete(key)
    }
    this.#isReporting = false
  }

  #take(one: Measured, overMs: number): FloorSample {
    this.#wait(one, 1)
    one.waiting -= 1
    const { floor, operations, bytes, busyMs } = one
    Object.assign(one, { operations: 0, bytes: 0, busyMs: 0 })
    return { floor, operations, bytes, busyMs, overMs }
  }
}
