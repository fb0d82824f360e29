/** Takes samples as long as the cluster runs, each at a multiple of `SAMPLE_SECONDS`. */
import { textOf } from '../model/value.ts'
import { aggregateOf } from '../storage/aggregate-of.ts'
import type { Task } from '../core/tasks/background.ts'
import type { Cluster } from '../core/cluster.ts'
import { describe } from '../core/describe.ts'
import { type Growth, growthOf } from '../core/metrics/figures.ts'
import { SAMPLE_SECONDS } from '../core/metrics/intervals.ts'

/** Timers may fire a little early, and a sample is for the multiple before it. */
const WAKE_AFTER_MS = 50

export class Sampling {
  readonly #cluster: Cluster
  readonly #task: Task

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    const stepMs = SAMPLE_SECONDS * 1000
    this.#task = cluster.background.task({
      name: 'metrics-sampling',
      doc: 'Samples the performance counters and keeps their history.',
      bound: 'Reads the counters of every object that has any, and writes one commit.',
      scope: 'node',
      everyMs: stepMs,
      restMs: () => stepMs - (cluster.now() % stepMs) + WAKE_AFTER_MS,
      failed: 'Performance counters could not be sampled or kept. It is retried.',
      act: () => this.round(),
    })
  }

  start(): void {
    this.#task.start()
  }

  /** Saves what is only in memory. */
  async stop(): Promise<void> {
    await this.#task.stop()
    await this.#cluster.metrics.history.save().catch((failure: unknown) => {
      this.#cluster.log.warn('The history of metrics could not be saved.', { cause: describe(failure) })
    })
  }

  async round(): Promise<void> {
    const { metrics } = this.#cluster
    const nowMs = this.#cluster.now()
    await metrics.sample(nowMs, await this.#nodes(), async (volume) => {
      const row = await this.#cluster.find('storage/volumes', volume)
      return row === undefined ? undefined : aggregateOf(row)
    })
    await metrics.history.keep(nowMs)
  }

  /** What the processors of the nodes did, by the node's UUID. */
  async #nodes(): Promise<ReadonlyMap<string, Growth>> {
    const { busyMs, wholeMs } = this.#cluster.machine.processors()
    const growth = growthOf({ processor_busy: busyMs, processor_whole: wholeMs })
    return new Map((await this.#cluster.rows('cluster/nodes')).map((node) => [textOf(node['uuid']), growth]))
  }
}
