/**
 * What several planes do at the same time, in an order that a seed says: every call of a port waits for its turn, and one
 * of those that wait is let go at a time. A turn takes a
 * millisecond, and sleepers wake when nobody waits for one.
 */
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import type { Clock, System } from '../../src/ports/system.ts'

/** The event loop is idle after so many of its turns, and nobody came: only then time moves. */
const IDLE_TURNS = 4
const BEGIN_MS = Date.UTC(2026, 0, 1)

interface Waiting {
  readonly atMs: number
  readonly go: () => void
}

export class SeededTurns implements Clock {
  readonly random: SimulatedRandom
  readonly #ready: (() => void)[] = []
  #asleep: Waiting[] = []
  #nowMs = 0
  #isOver = false

  constructor(seed: number) {
    this.random = new SimulatedRandom(seed)
    void this.#run()
  }

  get system(): System {
    return { clock: this, random: this.random, turn: () => this.turn() }
  }

  now(): number {
    return BEGIN_MS + this.#nowMs
  }

  elapsed(): number {
    return this.#nowMs
  }

  turn(): Promise<void> {
    return new Promise((resolve) => void this.#ready.push(resolve))
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return
    await new Promise<void>((resolve) => {
      const waiting = { atMs: this.#nowMs + ms, go: resolve }
      this.#asleep.push(waiting)
      signal?.addEventListener(
        'abort',
        () => {
          this.#asleep = this.#asleep.filter((one) => one !== waiting)
          resolve()
        },
        { once: true },
      )
    })
  }

  /** The same port, whose calls wait for their turn. What it gives without a promise it gives at once. */
  interleaved<Port extends object>(port: Port, isAtOnce: (name: string) => boolean = () => false): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const call = value.bind(target) as (...given: unknown[]) => unknown
        if (isAtOnce(String(name))) return call
        return async (...given: unknown[]) => {
          await this.turn()
          return call(...given)
        }
      },
    })
  }

  stop(): void {
    this.#isOver = true
  }

  async #run(): Promise<void> {
    for (let idle = 0; !this.#isOver;) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      if (this.#ready.length > 0) {
        idle = 0
        // What is numbered by time gets another number when it is made again.
        this.#nowMs++
        const [go] = this.#ready.splice(this.random.below(this.#ready.length), 1)
        go?.()
      } else if (++idle >= IDLE_TURNS && this.#asleep.length > 0) {
        idle = 0
        const first = this.#asleep.reduce((one, other) => (other.atMs < one.atMs ? other : one))
        this.#asleep = this.#asleep.filter((one) => one !== first)
        this.#nowMs = Math.max(this.#nowMs, first.atMs)
        first.go()
      }
    }
  }
}
