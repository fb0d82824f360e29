import { Interrupted } from '../verb.ts'

/** Lets so many in at once. Others wait in the order of asking; their number has to be bounded by whoever sends them. */
export class Gate {
  readonly #insideMax: number
  /** In the order of asking. */
  readonly #waiting = new Set<() => void>()
  #inside = 0

  constructor(insideMax: number) {
    this.#insideMax = insideMax
  }

  get isFull(): boolean {
    return this.#inside >= this.#insideMax
  }

  get isEmpty(): boolean {
    return this.#inside === 0
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Settles inside. Rejects with `Interrupted` when the signal aborts while it would have to wait. */
  enter(signal?: AbortSignal): Promise<void> {
    if (!this.isFull) {
      this.#inside++
      return Promise.resolve()
    }
    if (signal?.aborted === true) return Promise.reject(new Interrupted())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      this.#waiting.delete(comeIn)
      reject(new Interrupted())
    }
    const comeIn = () => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }
    this.#waiting.add(comeIn)
    signal?.addEventListener('abort', giveUp, { once: true })
    return promise
  }

  leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#inside--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
