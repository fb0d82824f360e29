/**
 * What the cluster does by itself, beside requests: each task is declared with what it does, how often and what a run may
 * cost, and shows when it ran, what it is doing and what went wrong last. A task runs, rests, and runs again.
 */
import { Failure } from '../model/failure.ts'
import type { Clock } from '../ports/system.ts'
import type { Log } from './cluster.ts'
import { describe } from './describe.ts'

export interface TaskDeclaration {
  /** Lower-case words with hyphens, unique in the cluster. */
  readonly name: string
  /** What it does, as a sentence. */
  readonly doc: string
  /** What bounds a run, as a sentence: what it reads, how fast, for how long. */
  readonly bound: string
  /** How long it rests between two runs. */
  readonly everyMs: number
  /** How long it rests after a run that took so long, where that is not always `everyMs`. */
  readonly restMs?: (tookMs: number) => number
  /** Logged when a run fails. The next one comes as after any other. */
  readonly failed: string
  readonly act: (task: Task) => Promise<unknown>
}

export interface TaskStatus {
  readonly state: 'waiting' | 'running' | 'stopped'
  readonly runs: number
  readonly failures: number
  /** Milliseconds since 1970. Of the run that is on, or of the last one. */
  readonly begunMs?: number
  /** Of the last run that ended. */
  readonly endedMs?: number
  readonly nextMs?: number
  readonly work?: string
  readonly lastError?: { readonly message: string; readonly atMs: number }
}

const MESSAGE_CHARACTERS_MAX = 500

/** The tasks of this process, by name. */
export class Background {
  readonly #clock: Clock
  readonly #log: Log
  readonly #tasks = new Map<string, Task>()

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** A task that takes the place of one with the same name is the one that is shown. */
  task(declared: TaskDeclaration): Task {
    const task = new Task(this.#clock, this.#log, declared)
    this.#tasks.set(declared.name, task)
    return task
  }

  get tasks(): readonly Task[] {
    return [...this.#tasks.values()]
  }
}

export class Task {
  readonly declared: TaskDeclaration
  readonly #clock: Clock
  readonly #log: Log
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #status: TaskStatus = { state: 'stopped', runs: 0, failures: 0 }
  #work: string | undefined

  constructor(clock: Clock, log: Log, declared: TaskDeclaration) {
    this.declared = declared
    this.#clock = clock
    this.#log = log
  }

  get status(): TaskStatus {
    return { ...this.#status, ...(this.#work === undefined ? {} : { work: this.#work }) }
  }

  start(): void {
    this.#running = this.#go()
  }

  /** Ends after the run that is on. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** A run that takes long looks at this now and then. */
  get isStopping(): boolean {
    return this.#stop.signal.aborted
  }

  /** The same, for one that sleeps. */
  get stopping(): AbortSignal {
    return this.#stop.signal
  }

  /** Says what the run is about to do, until it ends or says something else. */
  says(work: string): void {
    this.#work = work
  }

  async #go(): Promise<void> {
    const { everyMs, restMs = () => everyMs } = this.declared
    while (!this.isStopping) {
      const fromMs = this.#clock.elapsed()
      await this.#run()
      const rest = restMs(this.#clock.elapsed() - fromMs)
      if (!this.isStopping) this.#status = { ...this.#status, state: 'waiting', nextMs: this.#clock.now() + rest }
      await this.#clock.sleep(rest, this.#stop.signal)
    }
    const { nextMs: _, ...status } = this.#status
    this.#status = { ...status, state: 'stopped' }
  }

  async #run(): Promise<void> {
    const { nextMs: _, ...status } = this.#status
    this.#status = { ...status, state: 'running', begunMs: this.#clock.now() }
    try {
      await this.declared.act(this)
    } catch (cause) {
      // What a stop interrupts is no failure.
      if (!this.isStopping) this.#fail(cause)
    }
    this.#work = undefined
    this.#status = { ...this.#status, runs: this.#status.runs + 1, endedMs: this.#clock.now() }
  }

  #fail(cause: unknown): void {
    const said = cause instanceof Failure ? cause.message : describe(cause)
    this.#log.warn(this.declared.failed, { cause: said })
    const message = (cause instanceof Error ? cause.message : String(cause)).slice(0, MESSAGE_CHARACTERS_MAX)
    const lastError = { message, atMs: this.#clock.now() }
    this.#status = { ...this.#status, failures: this.#status.failures + 1, lastError }
  }
}
