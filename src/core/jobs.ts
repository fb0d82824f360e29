/**
 * Jobs: verbs of several steps that outlive the request and the process. The record of a job is its progress, and it
 * is written before the step it promises:
 *
 *     queued ─ locks ─▶ running at 0 ─ step 0 ─▶ running at 1 ─ step 1 ─▶ … ─▶ success
 *                          │ a step fails
 *                          ▼
 *                       unwinding at n ─ undo n ─▶ unwinding at n-1 ─ … ─▶ failure
 *
 * After a crash, a job that was moving forward repeats the step it was in, and one that was unwinding goes on unwinding.
 *
 * While the catalog cannot be reached nobody knows whether the last commit was done. To undo what came before it could
 * take away what it has just made known; so the job waits and repeats the step, which finds out.
 */
import { Failure, failures } from '../model/failure.ts'
import { type Row, textAt, type Value, textOf } from '../model/value.ts'
import { CatalogUnavailable, type Change, type Outcome } from '../ports/catalog.ts'
import { auditEntry } from './audit.ts'
import type { Behaviour, VerbName } from './behaviour.ts'
import type { Cluster } from './cluster.ts'
import { explainFailure } from './explain.ts'
import { forgetOrder, type JobOrder } from './job-orders.ts'
import { Interrupted, type Caller, type Plan, type Step, type Verb, type Work } from './verb.ts'

export const JOBS = 'cluster/jobs'

/** Ended jobs are kept this long, and no more than so many of them. */
export const ENDED_KEPT_MS = 24 * 3600 * 1000
export const ENDED_KEPT_MAX = 10_000
/** Jobs that wait or run at once; further ones are turned away. */
const ACTIVE_MAX = 1000
/** A job whose undo fails is tried again this often before it is left for the next start. */
const UNDO_TRIES = 5
/** How often a job tries again while the catalog cannot be reached, before it is left for the next start; and between. */
const UNAVAILABLE_TRIES = 100
const UNAVAILABLE_WAIT_MS = 1000
/** The same for the record of a new job: somebody waits for the answer. */
const SUBMIT_TRIES = 3

/** Verbs of many records of any resource. */
export type OtherVerbName = `bulk ${'create' | 'modify' | 'remove'}`

export interface JobHooks {
  /** Called at each point where a crash may strike: `<type> <verb>: <step>: before|after|undo-before|undo-after`. */
  reached?(point: string): Promise<void>
  /** Called when a step begins; an error makes the step fail. */
  beforeStep?(point: string): Promise<void>
}

export class Jobs {
  readonly #cluster: Cluster
  readonly #hooks: JobHooks
  readonly #active = new Map<string, Promise<Row>>()
  readonly #stopping = new AbortController()
  /** Verbs that are not those of a resource, by name. */
  readonly #others = new Map<string, Verb>()

  constructor(cluster: Cluster, hooks: JobHooks = {}) {
    this.#cluster = cluster
    this.#hooks = hooks
  }

  get activeCount(): number {
    return this.#active.size
  }

  /** Takes up jobs of a verb that any resource has. To be called before `resume`. */
  offer(name: OtherVerbName, verb: Verb): void {
    this.#others.set(name, verb)
  }

  /** Writes the job and starts it. It is on disk when this returns. */
  async submit(
    behaviour: Behaviour,
    verb: VerbName | OtherVerbName,
    plan: Plan,
    description: string,
    caller: Caller,
  ): Promise<Row> {
    if (this.#stopping.signal.aborted) throw failures.unavailable('The cluster is stopping.')
    if (this.#active.size >= ACTIVE_MAX) throw failures.tooMany('Too many jobs are active.', 5)
    const now = this.#cluster.now()
    const svm = plan.input['svm.uuid']
    const job: Row = {
      uuid: this.#cluster.system.random.uuid(),
      name: `${behaviour.resource.noun} ${verb}`,
      description,
      state: 'queued',
      message: 'Waiting to run.',
      code: 0,
      start_time: now,
      progress: 0,
      ...(typeof svm === 'string' ? { 'svm.uuid': svm } : {}),
      $type: behaviour.resource.type,
      $verb: verb,
      $key: plan.key,
      $input: plan.input,
      $memo: {},
      $at: 0,
      $direction: 'forward',
      $locks: [...(plan.locks ?? [])],
      $user: caller.user,
      $from: caller.from,
    }
    await this.#insist(() => this.#write(job), SUBMIT_TRIES)
    this.#start(job)
    return job
  }

  /** Waits until the job has ended, at most so long. Gives its record as it is then. */
  async wait(uuid: string, ms: number): Promise<Row> {
    const running = this.#active.get(uuid)
    if (running !== undefined && ms > 0) {
      const ended = new AbortController()
      await Promise.race([running.then(() => ended.abort()), this.#cluster.system.clock.sleep(ms, ended.signal)])
    }
    return this.#cluster.row(JOBS, uuid)
  }

  /** Takes up the jobs that an earlier process left. */
  async resume(): Promise<number> {
    const left = (await this.#cluster.rows(JOBS)).filter((row) => isActive(row))
    for (const job of left) {
      await this.#cluster.commit([this.#cluster.event('cluster.job.resumed', { job: job['uuid'] ?? '' })])
      this.#start(job, await this.#cluster.jobOrders.asked(textAt(job, 'uuid')))
    }
    return left.length
  }

  /**
   * Takes no new job and waits for the running ones; long steps that can be interrupted are. What is not done by then is
   * resumed at the next start.
   */
  async drain(ms: number): Promise<void> {
    this.#stopping.abort()
    const ended = new AbortController()
    const all = Promise.all(this.#active.values()).then(() => ended.abort())
    await Promise.race([all, this.#cluster.system.clock.sleep(ms, ended.signal)])
  }

  /** Removes the records of jobs that ended long ago. */
  async prune(): Promise<void> {
    const ended = (await this.#cluster.rows(JOBS))
      .filter((row) => !isActive(row))
      .toSorted((a, b) => Number(b['end_time'] ?? 0) - Number(a['end_time'] ?? 0))
    const oldest = this.#cluster.now() - ENDED_KEPT_MS
    const gone = ended.filter((row, at) => at >= ENDED_KEPT_MAX || Number(row['end_time'] ?? 0) < oldest)
    for (let at = 0; at < gone.length; at += 100) {
      await this.#cluster.catalog.commit(
        gone.slice(at, at + 100).map((row) => ({ do: 'remove-record', type: JOBS, key: textAt(row, 'uuid') })),
      )
    }
    await this.#cluster.jobOrders.prune()
  }

  #start(job: Row, wish: JobOrder['wish'] = 'go'): void {
    const uuid = textAt(job, 'uuid')
    const order = this.#cluster.jobOrders.open(uuid, this.#stopping.signal, wish)
    const running = this.#run(job, order).catch((failure: unknown) => {
      if (failure instanceof Interrupted) return job
      // The record could not be written. It stays active there, and the next start takes it up.
      this.#cluster.log.error('A job was left for the next start.', { job: uuid, failure: String(failure) })
      return job
    })
    this.#active.set(uuid, running)
    void running.finally(() => {
      this.#active.delete(uuid)
      this.#cluster.jobOrders.close(uuid)
    })
  }

  async #run(queued: Row, order: JobOrder): Promise<Row> {
    const release = await this.#cluster.locks.acquire(queued['$locks'] as string[])
    try {
      return await this.#steps(queued, order)
    } finally {
      release()
    }
  }

  async #steps(queued: Row, order: JobOrder): Promise<Row> {
    const cluster = this.#cluster
    const behaviour = cluster.behaviour(textAt(queued, '$type'))
    const verb = this.#others.get(textAt(queued, '$verb')) ?? behaviour[queued['$verb'] as VerbName]
    if (verb === undefined) throw new Error(`${behaviour.resource.type} has no ${textAt(queued, '$verb')}.`)
    const { steps } = verb
    const pointOf = (step: Step) => `${behaviour.resource.type} ${textAt(queued, '$verb')}: ${step.name}`
    let job: Row = queued
    const saveOnce = async (changes: Row, beside: readonly Change[] = []) => {
      job = { ...job, ...changes, $memo: { ...work.memo } }
      await this.#write(job, beside)
    }
    const save = (changes: Row, beside: readonly Change[] = []) => this.#insist(() => saveOnce(changes, beside))
    const work: Work = {
      key: textAt(queued, '$key'),
      input: queued['$input'] as Row,
      memo: { ...(queued['$memo'] as Record<string, Value>) },
      get stopping() {
        return order.signal
      },
      progress: (done, message) =>
        saveOnce({
          progress: Math.min(99, Math.floor(((Number(job['$at']) + done) / steps.length) * 100)),
          ...(message === undefined ? {} : { message }),
        }),
      commit: async (changes, notes) => {
        const noted: Row = { ...job, $memo: { ...work.memo, ...notes } }
        let outcomes: readonly Outcome[]
        try {
          outcomes = await cluster.catalog.commit([...changes, cluster.put(JOBS, noted)])
        } catch (failure) {
          isInDoubt ||= failure instanceof CatalogUnavailable
          throw failure
        }
        job = noted
        Object.assign(work.memo, notes)
        return outcomes
      },
    }

    /** A commit of the step that was not answered may have been done: its notes are in the record then. */
    let isInDoubt = false
    const recall = async () => {
      const { body } = (await cluster.catalog.record(JOBS, textAt(queued, 'uuid'))) ?? {}
      if (body !== undefined) Object.assign(work.memo, body['$memo'])
      isInDoubt = false
    }

    if (job['$direction'] === 'forward') {
      try {
        for (let at = Number(job['$at']); at < steps.length; at++) {
          const step = steps[at] as Step
          await this.#obey(order, save)
          order.step = step
          await save({
            state: 'running',
            message: `Step ${at + 1} of ${steps.length}: ${step.name}.`,
            $at: at,
            progress: Math.floor((at / steps.length) * 100),
          })
          await this.#hooks.reached?.(`${pointOf(step)}: before`)
          await this.#hooks.beforeStep?.(pointOf(step))
          await this.#whileWanted(order, save, async () => {
            if (at === 0 && cluster.faults.isOn) await this.#faulty(queued, order)
            await this.#insist(async () => {
              if (isInDoubt) await recall()
              await step.run(cluster, work)
            })
          })
          await this.#hooks.reached?.(`${pointOf(step)}: after`)
        }
        if (order.wish === 'cancel') throw cancelled()
        order.close()
        await save({ state: 'success', message: 'success', code: 0, progress: 100, end_time: cluster.now() }, [
          this.#auditEntry(queued, 'success', textAt(queued, '$key')),
          ...endOfOrder(job, order),
        ])
        return job
      } catch (cause) {
        if (cause instanceof Interrupted) return job
        if (cause instanceof CatalogUnavailable) throw cause
        const failure = explainFailure(cause)
        if (failure.kind === 'internal')
          cluster.log.error('A job failed.', { job: job['uuid'], cause: describe(cause) })
        await save({
          $direction: 'back',
          // Nothing has been done of what was not begun.
          ...(job['state'] === 'queued' ? { $at: -1 } : {}),
          $failure: {
            code: failure.code,
            kind: failure.kind,
            message: failure.message,
            target: failure.target ?? null,
          },
        })
      }
    }

    order.close()
    for (let at = Number(job['$at']); at >= 0; at--) {
      const step = steps[at] as Step
      await save({ $at: at, message: `Undoing step ${at + 1}: ${step.name}.` })
      await this.#hooks.reached?.(`${pointOf(step)}: undo-before`)
      await this.#undo(step, work)
      await this.#hooks.reached?.(`${pointOf(step)}: undo-after`)
    }
    const failure = job['$failure'] as Row
    const message = textAt(failure, 'message')
    await save(
      {
        state: 'failure',
        message,
        code: Number(failure['code']),
        'error.message': message,
        'error.code': Number(failure['code']),
        end_time: cluster.now(),
      },
      [
        this.#auditEntry(queued, 'error', message),
        cluster.event('cluster.job.failed', { job: textAt(job, 'uuid'), message }),
        ...endOfOrder(job, order),
      ],
    )
    return job
  }

  async #faulty(job: Row, order: JobOrder): Promise<void> {
    const { signal } = order
    await this.#cluster.faults.onJob(textAt(job, 'description'), signal)
    if (signal.aborted) throw new Interrupted()
  }

  /** Does what is asked of the job: gives it up, or halts until something else is asked. */
  async #obey(order: JobOrder, save: (changes: Row) => Promise<void>): Promise<void> {
    if (order.wish === 'pause') await save({ state: 'paused', message: 'Paused.' })
    while (order.wish === 'pause') {
      await order.otherwise()
      if (this.#stopping.signal.aborted) throw new Interrupted()
    }
    if (order.wish === 'cancel') throw cancelled()
  }

  /** Runs a step, again after a pause, unless the job is given up meanwhile. */
  async #whileWanted(order: JobOrder, save: (changes: Row) => Promise<void>, run: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await run()
        return
      } catch (cause) {
        if (this.#stopping.signal.aborted || cause instanceof CatalogUnavailable) throw cause
        if (order.wish === 'cancel') throw cancelled()
        if (!(cause instanceof Interrupted)) throw cause
        await this.#obey(order, save)
        await save({ state: 'running', message: 'It goes on after a pause.' })
      }
    }
  }

  /** Repeats what failed because the catalog could not be reached, until it can be or the cluster stops. */
  async #insist<Result>(act: () => Promise<Result>, triesMax = UNAVAILABLE_TRIES): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await act()
      } catch (failure) {
        if (!(failure instanceof CatalogUnavailable) || tries >= triesMax) throw failure
        await this.#cluster.system.clock.sleep(UNAVAILABLE_WAIT_MS, this.#stopping.signal)
        if (this.#stopping.signal.aborted) throw new Interrupted()
      }
    }
  }

  async #undo(step: Step, work: Work): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await step.undo?.(this.#cluster, work)
        return
      } catch (failure) {
        if (failure instanceof Interrupted || tries >= UNDO_TRIES) throw failure
        await this.#cluster.system.clock.sleep(100 * 2 ** tries)
      }
    }
  }

  /** What became of a job is in the audit trail when its record says so, neither sooner nor later. */
  #auditEntry(job: Row, state: 'success' | 'error', message: string): Change {
    const caller = { user: textAt(job, '$user'), from: textAt(job, '$from') }
    return auditEntry(this.#cluster, caller, textAt(job, 'description'), state, message)
  }

  async #write(job: Row, beside: readonly Change[] = []): Promise<void> {
    await this.#cluster.catalog.commit([this.#cluster.put(JOBS, job), ...beside])
  }
}

/** What clients know a job by that was given up. */
const CANCELLED = 460770

function cancelled(): Failure {
  return new Failure('conflict', CANCELLED, 'The job was cancelled.')
}

function endOfOrder(job: Row, { wish }: JobOrder): Change[] {
  return wish === 'go' ? [] : [forgetOrder(textAt(job, 'uuid'))]
}

export function isActive(job: Row): boolean {
  return job['state'] === 'queued' || job['state'] === 'running' || job['state'] === 'paused'
}

/** The failure that a failed job's record tells of. */
export function failureOf(job: Row): Failure {
  const failure = (job['$failure'] ?? {}) as Row
  const kind = failure['kind'] as Failure['kind'] | undefined
  const target = failure['target']
  return new Failure(
    kind ?? 'internal',
    Number(failure['code'] ?? 262145),
    textOf(failure['message'] ?? 'The job failed.'),
    {
      target: typeof target === 'string' ? target : undefined,
    },
  )
}

export function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
