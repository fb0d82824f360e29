import { failure } from '../../model/failure.ts'
import { Gate } from './gate.ts'

/** How many requests may wait for one lock before more are turned away. */
export const REQUESTS_WAITING_MAX = 256

export interface LockOptions {
  /**
   * With so many waiting for one of the locks, fails with `limited`. For requests of which nothing is recorded yet. What
   * was let in already waits as long as it takes: the number of jobs and of requests in progress has bounds of its own.
   */
  readonly waitersMax?: number
  /** Ends the wait with `Interrupted`. */
  readonly signal?: AbortSignal
}

/** Named locks of this process, handed over in the order of asking. Several are taken in one order, so none waits in a ring. */
export class Locks {
  readonly #gates = new Map<string, Gate>()

  /** Waits for all, then gives the function that lets go of them. */
  async acquire(names: readonly string[], options: LockOptions = {}): Promise<() => void> {
    const held: string[] = []
    const release = () => {
      for (const name of held.splice(0)) this.#leave(name)
    }
    try {
      for (const name of new Set(names.toSorted())) {
        await this.#enter(name, options)
        held.push(name)
      }
    } catch (failure) {
      release()
      throw failure
    }
    return release
  }

  async with<Result>(names: readonly string[], act: () => Promise<Result>, options?: LockOptions): Promise<Result> {
    const release = await this.acquire(names, options)
    try {
      return await act()
    } finally {
      release()
    }
  }

  isHeld(name: string): boolean {
    return this.#gates.has(name)
  }

  #enter(name: string, { waitersMax = Infinity, signal }: LockOptions): Promise<void> {
    const gate = this.#gates.get(name) ?? new Gate(1)
    this.#gates.set(name, gate)
    if (gate.waiting >= waitersMax) {
      throw failure('tooManyWaiting', { what: name.split(':')[0] ?? name })
    }
    return gate.enter(signal)
  }

  #leave(name: string): void {
    const gate = this.#gates.get(name)
    gate?.leave()
    if (gate?.isEmpty === true) this.#gates.delete(name)
  }
}
