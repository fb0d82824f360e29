/**
 * Whether commits can be made, for whoever asks often: load balancers, without credentials. The catalog's writer is asked
 * by a commit of no changes, by one question at a time, whose answer is good for a moment.
 */
import type { Catalog } from '../ports/catalog.ts'
import type { Clock } from '../ports/system.ts'

/** A writer that does not answer within this time is not ready. */
export const ANSWER_MS_MAX = 1000
export const ANSWER_KEPT_MS = 250

export class Readiness {
  readonly #catalog: Pick<Catalog, 'commit'>
  readonly #clock: Clock
  #asked: Promise<boolean> | undefined
  #askedMs = 0

  constructor(catalog: Pick<Catalog, 'commit'>, clock: Clock) {
    this.#catalog = catalog
    this.#clock = clock
  }

  canCommit(): Promise<boolean> {
    const nowMs = this.#clock.elapsed()
    if (this.#asked === undefined || nowMs - this.#askedMs >= ANSWER_KEPT_MS) {
      this.#askedMs = nowMs
      this.#asked = this.#ask()
    }
    return this.#asked
  }

  async #ask(): Promise<boolean> {
    const answered = new AbortController()
    const answer = this.#catalog.commit([]).then(
      () => true,
      () => false,
    )
    const late = this.#clock.sleep(ANSWER_MS_MAX, answered.signal).then(() => false)
    const isReady = await Promise.race([answer, late])
    answered.abort()
    return isReady
  }
}
