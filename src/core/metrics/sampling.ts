/** Takes samples as long as the cluster runs, each at a multiple of `SAMPLE_SECONDS`. */
import type { Cluster } from '../cluster.ts'
import { describe } from '../jobs.ts'
import { Rounds } from '../rounds.ts'
import { SAMPLE_SECONDS } from './intervals.ts'

/** Timers may fire a little early, and a sample is for the multiple before it. */
const WAKE_AFTER_MS = 50

export class Sampling {
  readonly #cluster: Cluster
  readonly #rounds: Rounds

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    const stepMs = SAMPLE_SECONDS * 1000
    this.#rounds = new Rounds(cluster.system.clock, {
      act: () => this.round(),
      failed: (failure) => this.#warn(failure),
      restMs: () => stepMs - (cluster.now() % stepMs) + WAKE_AFTER_MS,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  /** Saves what is only in memory. */
  async stop(): Promise<void> {
    await this.#rounds.stop()
    await this.#cluster.metrics.history.save().catch((failure: unknown) => this.#warn(failure))
  }

  async round(): Promise<void> {
    const { metrics } = this.#cluster
    const nowMs = this.#cluster.now()
    await metrics.sample(nowMs)
    await metrics.history.keep(nowMs)
  }

  #warn(failure: unknown): void {
    this.#cluster.log.warn('Metrics were not sampled or not kept. It is tried again.', { cause: describe(failure) })
  }
}
