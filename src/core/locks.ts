import { failures } from '../model/failure.ts'

/** How many may wait for one lock before more are turned away. */
const WAITERS_MAX = 256

/** Named locks of this process, handed over in the order of asking. Several are taken in one order, so none waits in a ring. */
export class Locks {
  readonly #queues = new Map<string, (() => void)[]>()

  /** Waits for all, then gives the function that lets go of them. */
  async acquire(names: readonly string[]): Promise<() => void> {
    const held: string[] = []
    const release = () => {
      for (const name of held.splice(0)) this.#hand(name)
    }
    try {
      for (const name of new Set(names.toSorted())) {
        await this.#take(name)
        held.push(name)
      }
    } catch (failure) {
      release()
      throw failure
    }
    return release
  }

  async with<Result>(names: readonly string[], act: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire(names)
    try {
      return await act()
    } finally {
      release()
    }
  }

  isHeld(name: string): boolean {
    return this.#queues.has(name)
  }

  #take(name: string): Promise<void> {
    const queue = this.#queues.get(name)
    if (queue === undefined) {
      this.#queues.set(name, [])
      return Promise.resolve()
    }
    if (queue.length >= WAITERS_MAX)
      throw failures.tooMany(`Too many requests wait for ${name.split(':')[0] ?? name}.`, 5)
    return new Promise((resolve) => queue.push(resolve))
  }

  #hand(name: string): void {
    const next = this.#queues.get(name)?.shift()
    if (next === undefined) this.#queues.delete(name)
    else next()
  }
}
