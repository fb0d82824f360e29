/** Counts answers of one kind of request. */
import type { Load } from './order.ts'
import type { Answer } from './sender.ts'

export class Tally {
  readonly #startMs = performance.now()
  readonly #milliseconds: number[] = []
  readonly #failures: Record<string, number> = {}
  #firstFailure = ''
  #bytes = 0

  /** Notes the answer to a request that was sent at a time, with the bytes that went either way. */
  note(sentMs: number, answer: Answer, bytesOut: number): boolean {
    this.#milliseconds.push(performance.now() - sentMs)
    const { status, bytes, text } = answer
    if (status >= 200 && status < 300) {
      this.#bytes += bytes + bytesOut
      return true
    }
    this.#failures[status] = (this.#failures[status] ?? 0) + 1
    if (this.#firstFailure === '') this.#firstFailure = `${status} ${text}`
    return false
  }

  load(next = 0): Load {
    return {
      seconds: (performance.now() - this.#startMs) / 1000,
      milliseconds: Float64Array.from(this.#milliseconds),
      bytes: this.#bytes,
      failures: this.#failures,
      firstFailure: this.#firstFailure,
      next,
    }
  }
}
