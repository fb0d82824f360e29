/**
 * Starts lifecycle runs: soon after each midnight UTC, soon after rules were changed, and soon after a start that follows a
 * midnight. It looks again and again whether any bucket is due, so clocks that jump and machines that slept need no care:
 * whatever was missed, one run makes up for it.
 */
import { isTaken } from '../core/jobs/lock-claims.ts'
import type { Actions } from '../core/perform.ts'
import { Watch } from '../core/tasks/watch.ts'
import { dueBuckets } from '../resources/protocols/s3/lifecycle-due.ts'
import { LIFECYCLE_LOCK } from '../resources/protocols/s3/lifecycle-runs.ts'
import { LIFECYCLE_RUNS } from '../resources/protocols/s3/types.ts'

/** Rules that are changed are applied no later than this, unless a run is on. Looking costs a read while nothing changes. */
export const LOOK_EVERY_MS = 10_000
/** Where tests have shorter days, they are looked at this often at least. */
const LOOKS_A_DAY = 10

export class LifecycleSchedule extends Watch {
  readonly #actions: Actions

  constructor(actions: Actions) {
    super(actions.cluster, {
      name: 'lifecycle-schedule',
      doc: 'Starts a run of the lifecycle rules when a bucket is due, after every midnight UTC and when rules change.',
      bound: 'Reads the buckets with lifecycle rules that changed. The run itself is a job.',
      scope: 'cluster',
      everyMs: Math.min(LOOK_EVERY_MS, actions.cluster.lifecycleDayMs / LOOKS_A_DAY),
      failed: 'Lifecycle rules could not be checked. It is retried.',
    })
    this.#actions = actions
  }

  /** Starts a run if one is needed and none is on. Tells whether it did. */
  async look(): Promise<boolean> {
    const { cluster } = this.#actions
    if (await isTaken(cluster, LIFECYCLE_LOCK)) return false
    if ((await dueBuckets(cluster, 'due')).length === 0) return false
    await this.#actions.perform(cluster.behaviour(LIFECYCLE_RUNS), 'create', {
      caller: { user: 'cluster', role: 'admin', from: 'lifecycle schedule' },
      draft: { scope: 'due' },
      path: {},
      args: {},
      description: 'Apply lifecycle rules',
    })
    return true
  }
}
