/**
 * What is asked of jobs while they are under way: to be given up, to halt, to go on.
 *
 * A job finds out at the end of a step, and within those that look at `work.stopping`. What was asked is a record of its
 * own, which the job does not write: so a restart knows it, and neither writes over what the other said.
 */
import { Failure } from '../model/failure.ts'
import type { Change, Catalog } from '../ports/catalog.ts'
import type { Step } from './verb.ts'

/** The type of the records; their key is that of the job. */
export const JOB_ORDERS = 'internal/job-orders'

export const JOB_ACTIONS = ['cancel', 'pause', 'resume'] as const
export type JobAction = (typeof JOB_ACTIONS)[number]
type Wish = 'go' | 'pause' | 'cancel'

/** What clients of the interface know these failures by. */
const codes = { ended: 458762, running: 458771, notRunning: 458776, noPause: 458783, noCancel: 458784 } as const

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
  readonly #catalog: Catalog
  readonly #active = new Map<string, JobOrder>()

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** To be called when a job is begun or taken up. */
  open(job: string, stopping: AbortSignal, wish: Wish = 'go'): JobOrder {
    const order = new JobOrder(stopping, wish)
    this.#active.set(job, order)
    return order
  }

  close(job: string): void {
    this.#active.delete(job)
  }

  /** What was asked of a job before a restart. */
  async asked(job: string): Promise<Wish> {
    const wish = (await this.#catalog.record(JOB_ORDERS, job))?.body['wish']
    return wish === 'cancel' || wish === 'pause' ? wish : 'go'
  }

  /** Asks something of a job. It survives a crash when this returns. */
  async ask({ catalog }: { readonly catalog: Catalog }, job: string, action: JobAction): Promise<void> {
    const order = this.#active.get(job)
    if (order === undefined) throw refused(codes.ended, 'The job has ended.')
    const wish = wishOf(order, action)
    if (wish === order.wish) return
    await catalog.commit([wish === 'go' ? forgetOrder(job) : orderChange(job, wish)])
    order.set(wish)
    // It may have ended in between. What cannot be removed now is when jobs are pruned.
    if (!this.#active.has(job)) await this.#catalog.commit([forgetOrder(job)]).catch(() => undefined)
  }

  /** Removes what is left of orders to jobs that are not there any more. */
  async prune(): Promise<void> {
    const left = (await this.#catalog.records(JOB_ORDERS)).filter(({ key }) => !this.#active.has(key))
    if (left.length > 0) await this.#catalog.commit(left.map(({ key }) => forgetOrder(key)))
  }
}

function wishOf(order: JobOrder, action: JobAction): Wish {
  if (order.wish === 'cancel' && action === 'cancel') return 'cancel'
  if (order.wish === 'cancel') throw refused(codes.notRunning, 'The job is being cancelled.')
  switch (action) {
    case 'cancel':
      if (order.isOver || (order.step !== undefined && order.step.isCancellable !== true)) {
        throw refused(codes.noCancel, 'The job cannot be cancelled at this point. Wait for its end.')
      }
      return 'cancel'
    case 'pause':
      if (order.wish === 'pause') throw refused(codes.notRunning, 'The job is paused.')
      if (order.step === undefined && !order.isOver) throw refused(codes.notRunning, 'The job is not running yet.')
      if (order.isOver || order.step?.isPausable !== true) {
        throw refused(codes.noPause, 'The job cannot be paused at this point.')
      }
      return 'pause'
    case 'resume':
      if (order.wish !== 'pause') throw refused(codes.running, 'The job is not paused.')
      return 'go'
  }
}

function refused(code: number, message: string): Failure {
  return new Failure('conflict', code, message, { target: 'action' })
}

function orderChange(job: string, wish: Wish): Change {
  return { do: 'put-record', type: JOB_ORDERS, key: job, body: { wish } }
}

export function forgetOrder(job: string): Change {
  return { do: 'remove-record', type: JOB_ORDERS, key: job }
}
