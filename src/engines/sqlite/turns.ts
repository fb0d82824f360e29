/**
 * Gathers commits and settles together what has arrived by the end of a turn of the event loop. While one batch is being
 * synced the next arrives, so the more there is to do the more share a sync; a lone commit waits for nobody.
 */
import type { Change } from '../../ports/catalog.ts'
import type { Settled, Writer } from './writer.ts'

export interface Waiting {
  readonly changes: readonly Change[]
  readonly bytes: number
  readonly settle: (settled: Settled) => void
}

/** One transaction takes at most so much. Larger batches gain little and let the first wait for the last. */
export const BATCH_COMMITS_MAX = 256
export const BATCH_BYTES_MAX = 4 * 1024 * 1024
/** Without commits for so long, the log is copied back and closed volumes are swept. */
const IDLE_MS = 200

export class Turns {
  readonly #writer: Writer
  readonly #afterBatch: () => void
  #waiting: Waiting[] = []
  #scheduled = false
  #isOver = false
  #idle: NodeJS.Timeout | undefined

  /** `afterBatch` is called when answers were given and the queue became shorter. */
  constructor(writer: Writer, afterBatch: () => void = () => {}) {
    this.#writer = writer
    this.#afterBatch = afterBatch
  }

  get length(): number {
    return this.#waiting.length
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#scheduled = false
    this.#settleOne()
    if (this.#waiting.length === 0) this.#rest()
    else if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => this.#turn())
    }
  }

  /** Settles all that waits, at once, and is not to be used afterwards. */
  drain(): void {
    this.#isOver = true
    while (this.#waiting.length > 0) this.#settleOne()
    clearTimeout(this.#idle)
    this.#idle = undefined
  }

  #settleOne(): void {
    const batch = this.#take()
    if (batch.length === 0) return
    const settled = this.#writer.settle(batch.map(({ changes }) => changes))
    for (const [i, { settle }] of batch.entries()) settle(settled[i] ?? new Error('The writer gave no answer.'))
    this.#afterBatch()
    this.#writer.tidy(false)
  }

  #take(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes
      if (count === BATCH_COMMITS_MAX || (count > 0 && bytes > BATCH_BYTES_MAX)) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  #rest(): void {
    // A turn that was on its way comes after the end.
    if (this.#isOver) return
    if (this.#idle !== undefined) {
      this.#idle.refresh()
      return
    }
    this.#idle = setTimeout(() => {
      this.#idle = undefined
      if (this.#waiting.length > 0) return
      this.#writer.tidy(true)
      if (this.#writer.hasWork) this.#rest()
    }, IDLE_MS)
    this.#idle.unref()
  }
}
