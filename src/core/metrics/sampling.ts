/** Takes samples as long as the cluster runs, each at a multiple of `SAMPLE_SECONDS`. */
import type { Cluster } from '../cluster.ts'
import { describe } from '../jobs.ts'
import { SAMPLE_SECONDS } from './intervals.ts'

/** Timers may fire a little early, and a sample is for the multiple before it. */
const WAKE_AFTER_MS = 50

export class Sampling {
  readonly #cluster: Cluster
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  start(): void {
    this.#running = this.#loop()
  }

  /** Saves what is only in memory. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#attempt(() => this.#cluster.metrics.history.save())
  }

  async #loop(): Promise<void> {
    const { clock } = this.#cluster.system
    const { signal } = this.#stop
    while (!signal.aborted) {
      await this.#attempt(() => this.round())
      const stepMs = SAMPLE_SECONDS * 1000
      await clock.sleep(stepMs - (this.#cluster.now() % stepMs) + WAKE_AFTER_MS, signal)
    }
  }

  async round(): Promise<void> {
    const { metrics } = this.#cluster
    const nowMs = this.#cluster.now()
    await metrics.sample(nowMs)
    await metrics.history.keep(nowMs)
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (failure) {
      this.#cluster.log.warn('Metrics were not sampled or not kept. It is tried again.', { cause: describe(failure) })
    }
  }
}
