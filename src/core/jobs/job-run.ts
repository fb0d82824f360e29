/** One job under way: its steps forward, and back when one of them fails. Its record says what it does before it does it. */
import { codeOf, Failure, failure } from '../../model/failure.ts'
import type { Row, Value } from '../../model/value.ts'
import { CatalogUnavailable, CommitRefused, type Change, type Outcome } from '../../ports/catalog.ts'
import type { Clock } from '../../ports/system.ts'
import { auditEntry } from '../access/audit.ts'
import type { Cluster } from '../cluster.ts'
import { describe } from '../describe.ts'
import { explainFailure } from '../explain.ts'
import { forgetOrder, type JobOrder } from './job-orders.ts'
import { claimed, type JobClaim, releaseChange } from './job-claims.ts'
import { type Job, type JobAction, JOBS } from './job-record.ts'
import { claimsFor, LocksTaken, unclaimChanges } from './lock-claims.ts'
import { stepsOf, upgraded } from './job-steps.ts'
import { Interrupted, type Step, type Verb, type Work } from '../verb.ts'

/** A job whose undo fails is tried again this often before it is left for later. */
const UNDO_TRIES = 5
/** How often a job tries again while the catalog cannot be reached, before it is left for later; and between. */
const UNAVAILABLE_TRIES = 100
const UNAVAILABLE_WAIT_MS = 1000

export interface JobHooks {
  /** Called at each point where a crash may strike: `<type> <verb>: <step>: before|after|undo-before|undo-after`. */
  reached?(point: string): Promise<void>
  /** Called when a step begins; an error makes the step fail. */
  beforeStep?(point: string): Promise<void>
}

export interface JobRunParts {
  readonly cluster: Cluster
  readonly claim: JobClaim
  /** Nothing where this release does not know it. */
  readonly verb: Verb | undefined
  readonly order: JobOrder
  readonly hooks: JobHooks
  /** Aborts when the cluster stops. */
  readonly stopping: AbortSignal
  /** Lets another job begin: this one takes long from here on. */
  readonly leavePlace: () => void
}

export class JobRun {
  readonly #cluster: Cluster
  readonly #verb: Verb | undefined
  readonly #order: JobOrder
  readonly #hooks: JobHooks
  readonly #stopping: AbortSignal
  readonly #leavePlace: () => void

  constructor(parts: JobRunParts) {
    this.#cluster = claimed(parts.cluster, parts.claim)
    this.#verb = parts.verb
    this.#order = parts.order
    this.#hooks = parts.hooks
    this.#stopping = parts.stopping
    this.#leavePlace = parts.leavePlace
  }

  /**
   * Settles when it has ended, or the cluster stops first, or another process has taken it. False where another job has one
   * of its locks: then nothing was done.
   */
  async run(queued: Job): Promise<boolean> {
    try {
      await this.#run(queued)
      return true
    } catch (cause) {
      if (cause instanceof LocksTaken) return false
      // Nobody waits for what cannot go on.
      if (!(cause instanceof Interrupted)) await this.#letGo(queued)
      throw cause
    }
  }

  async #letGo(job: Job): Promise<void> {
    try {
      await this.#cluster.catalog.commit(unclaimChanges(locksOf(job)))
    } catch (failure) {
      const details = { job: job['uuid'], cause: describe(failure) }
      this.#cluster.log.warn('A job that could not continue keeps its locks until it is taken up again.', details)
    }
  }

  async #run(queued: Job): Promise<void> {
    const cluster = this.#cluster
    let claims = await this.#insist(() => claimsFor(cluster, queued['uuid'], locksOf(queued)))
    const order = this.#order
    const steps = this.#verb?.steps ?? []
    const pointOf = (step: Step) => `${queued.$type} ${queued.$verb}: ${step.name}`
    let job = queued
    const memo: Record<string, Value> = { ...queued.$memo }
    const saveOnce = async (changes: Partial<Job>, beside: readonly Change[] = []) => {
      const next: Job = { ...job, ...changes, $memo: { ...memo } }
      await this.#write(next, beside, claims)
      claims = []
      job = next
    }
    const save = (changes: Partial<Job>, beside: readonly Change[] = []) =>
      this.#insist(() => saveOnce(changes, beside))
    const work: Work<Row, Row> = {
      key: queued.$key,
      input: queued.$input,
      memo,
      get stopping() {
        return order.signal
      },
      progress: (done, message) =>
        saveOnce({
          progress: Math.min(99, Math.floor(((job.$at + done) / steps.length) * 100)),
          ...(message === undefined ? {} : { message }),
        }),
      conclude: (message) => {
        job = { ...job, $conclusion: message }
      },
      commit: async (changes, notes: Readonly<Record<string, Value>>) => {
        const noted: Job = { ...job, $memo: { ...memo, ...notes } }
        let outcomes: readonly Outcome[]
        try {
          outcomes = await cluster.catalog.commit([...changes, cluster.put(JOBS, noted)])
        } catch (failure) {
          isInDoubt ||= failure instanceof CatalogUnavailable
          throw failure
        }
        job = noted
        Object.assign(memo, notes)
        return outcomes
      },
    }

    /** A commit of the step that was not answered may have been done: its notes are in the record then. */
    let isInDoubt = false
    const recall = async () => {
      const { body } = (await cluster.record(JOBS, queued['uuid'])) ?? {}
      if (body !== undefined) Object.assign(memo, body.$memo)
      isInDoubt = false
    }

    const otherwise = await this.#upgrade(queued)
    if (otherwise !== undefined) await save(otherwise)

    if (job.$direction === 'forward') {
      try {
        for (let at = job.$at; at < steps.length; at++) {
          const step = steps[at] as Step
          await this.#insist(() => cluster.jobOrders.look(job['uuid']))
          await this.#obey(order, save)
          order.step = step
          if (step.isPausable === true) this.#leavePlace()
          await save({
            state: 'running',
            message: `Step ${at + 1} of ${steps.length}: ${step.name}.`,
            $at: at,
            $allows: allowedBy(step),
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
        await this.#unlessCancelled(queued, (unchanged) =>
          save(
            {
              state: 'success',
              message: job.$conclusion ?? 'success',
              code: 0,
              progress: 100,
              end_time: cluster.now(),
            },
            [
              unchanged,
              this.#auditEntry(queued, 'success', queued.$key),
              forgetOrder(job['uuid']),
              releaseChange(job['uuid']),
              ...unclaimChanges(locksOf(queued)),
            ],
          ),
        )
        order.close()
        return
      } catch (cause) {
        if (cause instanceof Interrupted) return
        if (cause instanceof CatalogUnavailable || cause instanceof LocksTaken) throw cause
        const failure = explainFailure(cause)
        if (failure.kind === 'internal')
          cluster.log.error('A job failed.', { job: job['uuid'], cause: describe(cause) })
        // Nothing has been done of what was not begun.
        await save({ ...backFor(failure), ...(job['state'] === 'queued' ? { $at: -1 } : {}) })
      }
    }

    order.close()
    for (let at = job.$at; at >= 0; at--) {
      const step = steps[at] as Step
      if (step.isPausable === true) this.#leavePlace()
      await save({ $at: at, message: `Undoing step ${at + 1}: ${step.name}.` })
      await this.#hooks.reached?.(`${pointOf(step)}: undo-before`)
      await this.#undo(step, work)
      await this.#hooks.reached?.(`${pointOf(step)}: undo-after`)
    }
    const { code, message } = job.$failure ?? { code: codeOf('jobFailed'), message: '' }
    await save(
      {
        state: 'failure',
        message,
        code,
        'error.message': message,
        'error.code': String(code),
        end_time: cluster.now(),
      },
      [
        this.#auditEntry(queued, 'error', message),
        cluster.event('cluster.job.failed', { job: job['uuid'], message }),
        forgetOrder(job['uuid']),
        releaseChange(job['uuid']),
        ...unclaimChanges(locksOf(queued)),
      ],
    )
  }

  /** What the record of a job says from now on, where it was begun in other steps than its verb has now. */
  async #upgrade(job: Job): Promise<Partial<Job> | undefined> {
    if (this.#verb === undefined) return { ...backFor(failure('jobVerbUnknown')), $at: -1 }
    const found = upgraded(job, this.#verb)
    if (found === undefined) return undefined
    const steps = stepsOf(this.#verb)
    if (found.isLast && job.$direction === 'forward' && (await this.#isMade(job))) {
      return { ...steps, $at: this.#verb.steps.length }
    }
    const isBack = job.$direction === 'back'
    return { ...(isBack ? {} : backFor(failure('jobStepsChanged'))), ...steps, $at: found.undoFrom }
  }

  async #isMade(job: Job): Promise<boolean> {
    const { rowsOf } = this.#cluster.behaviour(job.$type).resource
    return job.$verb === 'create' && (await this.#cluster.find(rowsOf, job.$key)) !== undefined
  }

  async #faulty(job: Job, order: JobOrder): Promise<void> {
    const { signal } = order
    await this.#cluster.faults.onJob(job['description'], signal)
    if (signal.aborted) throw new Interrupted()
  }

  /** Does what is asked of the job: gives it up, or halts until something else is asked. */
  async #obey(order: JobOrder, save: (changes: Partial<Job>) => Promise<void>): Promise<void> {
    if (order.wish === 'pause') await save({ state: 'paused', message: 'Paused.' })
    while (order.wish === 'pause') {
      await order.otherwise()
      if (this.#stopping.aborted) throw new Interrupted()
    }
    if (order.wish === 'cancel') throw cancelled()
  }

  /** Ends a job with a commit that is refused where something is asked of it meanwhile: whoever asked was told so. */
  async #unlessCancelled(job: Job, end: (unchanged: Change) => Promise<void>): Promise<void> {
    for (;;) {
      const { wish, unchanged } = await this.#insist(() => this.#cluster.jobOrders.look(job['uuid']))
      if (wish === 'cancel') throw cancelled()
      try {
        await end(unchanged)
        return
      } catch (failure) {
        if (!(failure instanceof CommitRefused) || failure.reason !== 'stale') throw failure
      }
    }
  }

  /** Runs a step, again after a pause, unless the job is given up meanwhile. */
  async #whileWanted(
    order: JobOrder,
    save: (changes: Partial<Job>) => Promise<void>,
    run: () => Promise<void>,
  ): Promise<void> {
    for (;;) {
      try {
        await run()
        return
      } catch (cause) {
        if (this.#stopping.aborted || cause instanceof CatalogUnavailable) throw cause
        if (order.wish === 'cancel') throw cancelled()
        if (!(cause instanceof Interrupted)) throw cause
        await this.#obey(order, save)
        await save({ state: 'running', message: 'The job continues after a pause.' })
      }
    }
  }

  /** Repeats what failed because the catalog could not be reached, until it can be or the cluster stops. */
  #insist<Result>(act: () => Promise<Result>): Promise<Result> {
    return insist(this.#cluster.system.clock, act, { triesMax: UNAVAILABLE_TRIES, stopping: this.#stopping })
  }

  async #undo(step: Step, work: Work<Row, Row>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await step.undo?.(this.#cluster, work)
        return
      } catch (failure) {
        if (failure instanceof Interrupted || tries >= UNDO_TRIES) throw failure
        await this.#cluster.system.clock.sleep(100 * 2 ** tries, this.#stopping)
        if (this.#stopping.aborted) throw new Interrupted()
      }
    }
  }

  /** What became of a job is in the audit trail when its record says so, neither sooner nor later. */
  #auditEntry(job: Job, state: 'success' | 'error', message: string): Change {
    const caller = { user: job.$user, from: job.$from }
    return auditEntry(this.#cluster, caller, job['description'], state, message)
  }

  /** With the first of its commits, the job has its locks. */
  async #write(job: Job, beside: readonly Change[], claims: readonly Change[]): Promise<void> {
    try {
      await this.#cluster.catalog.commit([...claims, this.#cluster.put(JOBS, job), ...beside])
    } catch (refused) {
      if (!(refused instanceof CommitRefused)) throw refused
      if (refused.change < claims.length) throw new LocksTaken()
      throw new CommitRefused(refused.reason, refused.change - claims.length, refused.scope)
    }
  }
}

/** Repeats what the catalog could not be reached for, so often. */
export async function insist<Result>(
  clock: Clock,
  act: () => Promise<Result>,
  { triesMax, stopping }: { readonly triesMax: number; readonly stopping: AbortSignal },
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await act()
    } catch (failure) {
      if (!(failure instanceof CatalogUnavailable) || tries >= triesMax) throw failure
      await clock.sleep(UNAVAILABLE_WAIT_MS, stopping)
      if (stopping.aborted) throw new Interrupted()
    }
  }
}

function locksOf(job: Row): readonly string[] {
  return job['$locks'] as readonly string[]
}

function cancelled(): Failure {
  return failure('jobCancelled')
}

/** The record of a job that is about to be undone. */
function backFor({ code, kind, message, target }: Failure): Pick<Job, '$direction' | '$failure'> {
  return { $direction: 'back', $failure: { code, kind, message, target: target ?? null } }
}

/** What may be asked of the job in a step, for processes that do not run it. */
function allowedBy({ isCancellable, isPausable }: Step): readonly JobAction[] {
  return [
    ...(isCancellable === true ? (['cancel'] as const) : []),
    ...(isPausable === true ? (['pause'] as const) : []),
  ]
}

/** The failure that a failed job's record tells of. */
export function failureOf({ $failure: told }: Pick<Job, '$failure'>): Failure {
  const { kind = 'internal', code = codeOf('jobFailed'), message = 'The job failed.', target = null } = told ?? {}
  return new Failure(kind, code, message, { target: target ?? undefined })
}
