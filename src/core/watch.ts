import { Failure } from '../model/failure.ts'
import type { Cluster } from './cluster.ts'
import { describe } from './job-run.ts'
import { Rounds } from './rounds.ts'

export interface Looks {
  /** How long to rest between two looks. */
  readonly everyMs: number
  /** Logged when a look failed. The next one comes as after any other. */
  readonly failed: string
}

/** Looks for something to do again and again, from `start` to `stop`. */
export abstract class Watch {
  readonly #rounds: Rounds

  constructor({ system, log }: Cluster, { everyMs, failed }: Looks) {
    this.#rounds = new Rounds(system.clock, {
      act: async () => {
        await this.look()
      },
      failed(failure) {
        log.warn(failed, { cause: failure instanceof Failure ? failure.message : describe(failure) })
      },
      restMs: () => everyMs,
    })
  }

  /** One look. Tests call it without starting anything. */
  abstract look(): Promise<unknown>

  start(): void {
    this.#rounds.start()
  }

  /** Ends after the look that is on. Jobs that it began end as jobs do. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** A look that takes long asks now and then. */
  protected get isStopping(): boolean {
    return this.#rounds.isStopping
  }

  /** Aborted when it is to stop, so that nobody waits for a look that sleeps. */
  protected get stopping(): AbortSignal {
    return this.#rounds.stopping
  }
}
