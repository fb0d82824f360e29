/**
 * Starts lifecycle runs: soon after each midnight UTC, soon after rules were changed, and soon after a start that follows a
 * midnight. It looks again and again whether any bucket is due, so clocks that jump and machines that slept need no care:
 * whatever was missed, one run makes up for it.
 */
import { describe } from '../../../core/jobs.ts'
import type { Actions } from '../../../core/perform.ts'
import { Rounds } from '../../../core/rounds.ts'
import { Failure } from '../../../model/failure.ts'
import { dueBuckets } from './lifecycle-due.ts'
import { LIFECYCLE_LOCK } from './lifecycle-runs.ts'
import { LIFECYCLE_RUNS } from './types.ts'

/** Rules that are changed are applied no later than this, unless a run is on. Looking costs a read while nothing changes. */
export const LOOK_EVERY_MS = 10_000
/** Where tests have shorter days, they are looked at this often at least. */
const LOOKS_A_DAY = 10

export class LifecycleSchedule {
  readonly #actions: Actions
  readonly #rounds: Rounds

  constructor(actions: Actions) {
    this.#actions = actions
    const { system, lifecycleDayMs, log } = actions.cluster
    this.#rounds = new Rounds(system.clock, {
      act: async () => {
        await this.look()
      },
      failed(failure) {
        const cause = failure instanceof Failure ? failure.message : describe(failure)
        log.warn('Lifecycle rules could not be looked at. That is tried again.', { cause })
      },
      restMs: () => Math.min(LOOK_EVERY_MS, lifecycleDayMs / LOOKS_A_DAY),
    })
  }

  start(): void {
    this.#rounds.start()
  }

  /** A run that is on is a job, and ends as jobs do. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Starts a run if one is needed and none is on. Tells whether it did. */
  async look(): Promise<boolean> {
    const { cluster } = this.#actions
    if (cluster.locks.isHeld(LIFECYCLE_LOCK)) return false
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
