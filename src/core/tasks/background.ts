/**
 * What the cluster does by itself, beside requests: each task is declared with what it does, how often and what a run may
 * cost, and shows when it ran, what it is doing and what went wrong last. A task runs, rests, and runs again.
 */
import { Failure } from '../../model/failure.ts'
import type { Clock } from '../../ports/system.ts'
import type { Log } from '../cluster.ts'
import { describe } from '../describe.ts'
import type { Claimed } from './task-claims.ts'

export interface TaskDeclaration {
  /** Lower-case words with hyphens, unique in the cluster. */
  readonly name: string
  /** What it does, as a sentence. */
  readonly doc: string
  /** What bounds a run, as a sentence: what it reads, how fast, for how long. */
  readonly bound: string
  /**
   * What runs it: each `node`, because it is about what is that node's own, or the `cluster` once, wherever that is: each
   * run is then claimed by a record.
   */
  readonly scope: 'node' | 'cluster'
  /** How long it rests between two runs. */
  readonly everyMs: number
  /** How long it rests after a run that took so long, where that is not always `everyMs`. */
  readonly restMs?: (tookMs: number) => number
  /** Logged when a run fails. The next one comes as after any other. */
  readonly failed: string
  readonly act: (task: Task) => Promise<unknown>
}

export interface TaskStatus {
  /** `elsewhere`: another node runs it. */
  readonly state: 'waiting' | 'running' | 'elsewhere' | 'stopped'
  /** The node that runs it where that is another. */
  readonly elsewhere?: string
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

/** What tasks are given. */
interface Surroundings {
  readonly clock: Clock
  readonly log: Log
  readonly claims: { begin(task: string): Promise<Claimed> }
}

/** The tasks of this process, by name. */
export class Background {
  readonly #surroundings: Surroundings
  readonly #tasks = new Map<string, Task>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** A task that takes the place of one with the same name is the one that is shown. */
  task(declared: TaskDeclaration): Task {
    const task = new Task(this.#surroundings, declared)
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
  readonly #claims: Surroundings['claims']
  readonly #stop = new AbortController()
  /** Aborts when the run that is on is to end. */
  #halt: AbortSignal = this.#stop.signal
  #running: Promise<void> = Promise.resolve()
  #status: TaskStatus = { state: 'stopped', runs: 0, failures: 0 }
  #work: string | undefined

  constructor({ clock, log, claims }: Surroundings, declared: TaskDeclaration) {
    this.declared = declared
    this.#clock = clock
    this.#log = log
    this.#claims = claims
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

  /** A run that takes long looks at this now and then: the task is stopped, or has become another node's. */
  get isStopping(): boolean {
    return this.#halt.aborted
  }

  /** The same, for one that sleeps. */
  get stopping(): AbortSignal {
    return this.#halt
  }

  /** Says what the run is about to do, until it ends or says something else. */
  says(work: string): void {
    this.#work = work
  }

  async #go(): Promise<void> {
    const { everyMs, restMs = () => everyMs } = this.declared
    const stop = this.#stop.signal
    while (!stop.aborted) {
      const fromMs = this.#clock.elapsed()
      await this.#run()
      const rest = restMs(this.#clock.elapsed() - fromMs)
      if (!stop.aborted && this.#status.state === 'running') {
        this.#status = { ...this.#status, state: 'waiting', nextMs: this.#clock.now() + rest }
      }
      await this.#clock.sleep(rest, stop)
    }
    const { nextMs: _, elsewhere: __, ...status } = this.#status
    this.#status = { ...status, state: 'stopped' }
  }

  async #run(): Promise<void> {
    const { nextMs: _, elsewhere: __, ...status } = this.#status
    const claimed = this.declared.scope === 'node' ? undefined : await this.#claim()
    if (claimed === 'failed') return
    if (claimed !== undefined && 'elsewhere' in claimed) {
      this.#status = { ...status, state: 'elsewhere', elsewhere: claimed.elsewhere }
      return
    }
    this.#status = { ...status, state: 'running', begunMs: this.#clock.now() }
    if (claimed !== undefined) this.#halt = AbortSignal.any([this.#stop.signal, claimed.run.lost])
    try {
      await this.declared.act(this)
    } catch (cause) {
      // What a stop interrupts is no failure.
      if (!this.isStopping) this.#fail(cause)
    }
    claimed?.run.end()
    this.#halt = this.#stop.signal
    this.#work = undefined
    this.#status = { ...this.#status, runs: this.#status.runs + 1, endedMs: this.#clock.now() }
  }

  async #claim(): Promise<Claimed | 'failed'> {
    try {
      return await this.#claims.begin(this.declared.name)
    } catch (cause) {
      if (!this.isStopping) this.#fail(cause)
      return 'failed'
    }
  }

  #fail(cause: unknown): void {
    const said = cause instanceof Failure ? cause.message : describe(cause)
    this.#log.warn(this.declared.failed, { cause: said })
    const message = (cause instanceof Error ? cause.message : String(cause)).slice(0, MESSAGE_CHARACTERS_MAX)
    const lastError = { message, atMs: this.#clock.now() }
    this.#status = { ...this.#status, failures: this.#status.failures + 1, lastError }
  }
}
