import type { Clock } from '../ports/system.ts'

export interface Round {
  /** One round. */
  readonly act: () => Promise<void>
  /** Called with what made a round fail. The next one comes as after any other. */
  readonly failed: (cause: unknown) => void
  /** How long to rest after a round that took so long. */
  readonly restMs: (tookMs: number) => number
}

/** Does something, rests, and does it again, until it is stopped. */
export class Rounds {
  readonly #clock: Clock
  readonly #round: Round
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(clock: Clock, round: Round) {
    this.#clock = clock
    this.#round = round
  }

  start(): void {
    this.#running = this.#go()
  }

  /** Ends after the round that is on. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** A round that takes long looks at this now and then. */
  get isStopping(): boolean {
    return this.#stop.signal.aborted
  }

  /** The same, for one that sleeps. */
  get stopping(): AbortSignal {
    return this.#stop.signal
  }

  async #go(): Promise<void> {
    while (!this.isStopping) {
      const beganMs = this.#clock.elapsed()
      try {
        await this.#round.act()
      } catch (failure) {
        this.#round.failed(failure)
      }
      await this.#clock.sleep(this.#round.restMs(this.#clock.elapsed() - beganMs), this.#stop.signal)
    }
  }
}
