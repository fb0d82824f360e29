/**
 * What is asked of jobs while they are under way: to be given up, to halt, to go on.
 *
 * A job finds out at the end of a step, and within those that look at `work.stopping`. What was asked is a record of its
 * own, which the job does not write: so a restart knows it, and neither writes over what the other said. Any process may
 * ask; the one that runs the job looks for what others asked between two steps, and now and then within one.
 */
import { failure } from '../../model/failure.ts'
import { type Change, CommitRefused, type Commits, type Records } from '../../ports/catalog.ts'
import type { Clock } from '../../ports/system.ts'
import { recordOf } from '../read/record-of.ts'
import { isActive, type Job, type JobAction, JOBS } from './job-record.ts'
import type { Step } from '../verb.ts'

/** The type of the records; their key is that of the job. */
export const JOB_ORDERS = 'internal/job-orders'

type Wish = 'go' | 'pause' | 'cancel'

declare module '../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/job-orders': { readonly wish: Wish }
  }
}

/** How often it is looked for what other processes asked. */
const LOOK_EVERY_MS = 1000
/** The record of a job changes while it runs: an order rests on how it was at that moment. */
const TRIES_MAX = 20

/** What decides on what may be asked of a job. */
interface JobSeen {
  readonly wish: Wish
  readonly isBegun: boolean
  readonly isOver: boolean
  readonly isCancellable: boolean
  readonly isPausable: boolean
}

/** Of one job that waits, runs or is paused. */
export class JobOrder {
  wish: Wish = 'go'
  /** The step it is in. None while it waits to begin. */
  step: Step | undefined
  /** It is being undone, or all of it is done: nothing can be asked any more. */
  isOver = false
  readonly #stopping: AbortSignal
  #asked = new AbortController()
  #changed = Promise.withResolvers<void>()

  constructor(stopping: AbortSignal, wish: Wish) {
    this.#stopping = stopping
    this.wish = wish
    if (wish !== 'go') this.#asked.abort()
  }

  /** Aborts when the job is to halt or to be given up, and when the cluster stops. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#stopping, this.#asked.signal])
  }

  get seen(): JobSeen {
    const { wish, isOver, step } = this
    return {
      wish,
      isOver,
      isBegun: step !== undefined,
      isCancellable: step === undefined || step.isCancellable === true,
      isPausable: step?.isPausable === true,
    }
  }

  set(wish: Wish): void {
    this.wish = wish
    if (wish === 'go') this.#asked = new AbortController()
    else this.#asked.abort()
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** What is done from here on is not given up again. */
  close(): void {
    this.isOver = true
    this.#asked = new AbortController()
  }

  /** Waits until something else is asked, or the cluster stops. */
  async otherwise(): Promise<void> {
    const stopped = Promise.withResolvers<void>()
    const onAbort = () => stopped.resolve()
    this.#stopping.addEventListener('abort', onAbort)
    if (this.#stopping.aborted) onAbort()
    await Promise.race([this.#changed.promise, stopped.promise])
    this.#stopping.removeEventListener('abort', onAbort)
  }
}

export class JobOrders {
  readonly #catalog: Records & Commits
  readonly #clock: Clock
  readonly #active = new Map<string, JobOrder>()
  /** Ends the looks for what others asked, as there is no job here. */
  #idle: AbortController | undefined
  /** Grows when this process asks something: what was read before does not hold any more. */
  #asks = 0

  constructor(catalog: Records & Commits, clock: Clock) {
    this.#catalog = catalog
    this.#clock = clock
  }

  /** To be called when a job is begun or taken up. */
  open(job: string, stopping: AbortSignal, wish: Wish = 'go'): JobOrder {
    const order = new JobOrder(stopping, wish)
    this.#active.set(job, order)
    if (this.#idle === undefined) {
      this.#idle = new AbortController()
      void this.#watch(AbortSignal.any([stopping, this.#idle.signal]))
    }
    return order
  }

  close(job: string): void {
    this.#active.delete(job)
    if (this.#active.size > 0) return
    this.#idle?.abort()
    this.#idle = undefined
  }

  /** What was asked of a job, by whatever process. */
  async asked(job: string): Promise<Wish> {
    return (await this.#read(job)).wish
  }

  /**
   * Has a job of this process do what another process asked of it. Gives what was asked, and the change that fails with
   * `stale` where something else was asked since.
   */
  async look(job: string): Promise<{ readonly wish: Wish; readonly unchanged: Change }> {
    const asks = this.#asks
    const { wish, revision } = await this.#read(job)
    const unchanged = { do: 'check-record', type: JOB_ORDERS, key: job, expect: revision } as const
    const order = this.#active.get(job)
    if (asks !== this.#asks || order === undefined || order.isOver) return { wish, unchanged }
    if (wish !== order.wish && order.wish !== 'cancel') order.set(wish)
    return { wish, unchanged }
  }

  async #read(job: string): Promise<{ readonly wish: Wish; readonly revision: number | 'absent' }> {
    const record = await recordOf(this.#catalog, JOB_ORDERS, job)
    return { wish: record?.body.wish ?? 'go', revision: record?.revision ?? 'absent' }
  }

  /** Asks something of a job. It survives a crash when this returns. */
  async ask({ catalog }: { readonly catalog: Records & Commits }, job: string, action: JobAction): Promise<void> {
    this.#asks++
    try {
      await this.#ask(catalog, job, action)
    } finally {
      this.#asks++
    }
  }

  /** Removes what is left of orders to jobs that are not there any more. */
  async prune(): Promise<void> {
    for (const { key } of await this.#catalog.records(JOB_ORDERS)) {
      const job = await recordOf(this.#catalog, JOBS, key)
      if (job !== undefined && isActive(job.body)) continue
      await this.#catalog.commit([forgetOrder(key)])
    }
  }

  /**
   * The record of the job says whether it is active when the order is written, and its last commit that no order came
   * before it: so what is answered is what becomes of the job. What the job allows is known best by the process that runs
   * it; others go by its record.
   */
  async #ask(catalog: Records & Commits, job: string, action: JobAction): Promise<void> {
    for (let tries = 1; ; tries++) {
      const record = await recordOf(this.#catalog, JOBS, job)
      if (record === undefined || !isActive(record.body)) throw failure('jobEnded')
      const order = this.#active.get(job)
      const before = order?.wish ?? (await this.asked(job))
      const known = seenIn(record.body, before)
      const seen = order === undefined ? known : { ...order.seen, isOver: order.isOver || known.isOver }
      const wish = wishOf(seen, action)
      if (wish === before) return
      try {
        await catalog.commit([
          { do: 'check-record', type: JOBS, key: job, expect: record.revision },
          wishChange(job, wish),
        ])
        order?.set(wish)
        return
      } catch (failure) {
        if (!(failure instanceof CommitRefused) || failure.reason !== 'stale' || tries >= TRIES_MAX) throw failure
      }
    }
  }

  async #watch(over: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(LOOK_EVERY_MS, over)
      if (over.aborted) return
      try {
        const asked = new Set((await this.#catalog.records(JOB_ORDERS)).map(({ key }) => key))
        for (const [job, { wish }] of this.#active) if (asked.has(job) || wish === 'pause') await this.look(job)
      } catch {
        // The catalog is away: it is looked again.
      }
    }
  }
}

/** What another process than the one that runs a job knows of it. */
function seenIn(job: Job, wish: Wish): JobSeen {
  const isBegun = job['state'] !== 'queued'
  const allows = job.$allows ?? []
  return {
    wish,
    isBegun,
    isOver: job.$direction === 'back',
    isCancellable: !isBegun || allows.includes('cancel'),
    isPausable: allows.includes('pause'),
  }
}

function wishOf(seen: JobSeen, action: JobAction): Wish {
  const { wish, isBegun, isOver, isCancellable, isPausable } = seen
  if (wish === 'cancel' && action === 'cancel') return 'cancel'
  if (wish === 'cancel') throw failure('jobBeingCancelled')
  switch (action) {
    case 'cancel':
      if (isOver || !isCancellable) {
        throw failure('jobNotCancellable')
      }
      return 'cancel'
    case 'pause':
      if (wish === 'pause') throw failure('jobPaused')
      if (!isBegun && !isOver) throw failure('jobNotBegun')
      if (isOver || !isPausable) throw failure('jobNotPausable')
      return 'pause'
    case 'resume':
      if (wish !== 'pause') throw failure('jobNotPaused')
      return 'go'
  }
}

function wishChange(job: string, wish: Wish): Change {
  return wish === 'go' ? forgetOrder(job) : { do: 'put-record', type: JOB_ORDERS, key: job, body: { wish } }
}

export function forgetOrder(job: string): Change {
  return { do: 'remove-record', type: JOB_ORDERS, key: job }
}
