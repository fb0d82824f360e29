import type { Task, TaskDeclaration } from './background.ts'
import type { Cluster } from '../cluster.ts'

/** A background task that looks for something to do, from `start` to `stop`. */
export abstract class Watch {
  readonly #task: Task

  constructor({ background }: Cluster, declared: Omit<TaskDeclaration, 'act'>) {
    this.#task = background.task({ ...declared, act: () => this.look() })
  }

  /** One look. Tests call it without starting anything. */
  abstract look(): Promise<unknown>

  start(): void {
    this.#task.start()
  }

  /** Ends after the look that is on. Jobs that it began end as jobs do. */
  stop(): Promise<void> {
    return this.#task.stop()
  }

  /** A look that takes long asks now and then. */
  protected get isStopping(): boolean {
    return this.#task.isStopping
  }

  /** Aborted when it is to stop, so that nobody waits for a look that sleeps. */
  protected get stopping(): AbortSignal {
    return this.#task.stopping
  }

  /** Says what the look is about to do. */
  protected says(work: string): void {
    this.#task.says(work)
  }
}
