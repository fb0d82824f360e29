/**
 * Jobs: verbs of several steps that outlive the request and the process. The record of a job is its progress, and it
 * is written before the step it promises:
 *
 *     queued ─ place, locks ─▶ running at 0 ─ step 0 ─▶ running at 1 ─ step 1 ─▶ … ─▶ success
 *                                  │ a step fails
 *                                  ▼
 *                               unwinding at n ─ undo n ─▶ unwinding at n-1 ─ … ─▶ failure
 *
 * After a crash, a job that was moving forward repeats the step it was in, and one that was unwinding goes on unwinding.
 *
 * While the catalog cannot be reached nobody knows whether the last commit was done. To undo what came before it could
 * take away what it has just made known; so the job waits and repeats the step, which finds out.
 *
 * Too many jobs are refused before they have a record. A job that has one waits its turn however long that takes, and one
 * that cannot go on is taken up again later: nothing but its end takes it off the list.
 */
import { failure } from '../../model/failure.ts'
import type { Change } from '../../ports/catalog.ts'
import { verbOfJob } from '../action.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Cluster } from '../cluster.ts'
import { lockOf } from '../grounds.ts'
import { claimChange, claimMade, type JobClaim, takeJob } from './job-claims.ts'
import { isActive, type Job, JOBS, type OtherVerbName } from './job-record.ts'
import { describe } from '../describe.ts'
import { insist, type JobHooks, JobRun } from './job-run.ts'
import { stepsOf } from './job-steps.ts'
import { Places } from './places.ts'
import { Interrupted, type Caller, type Plan, type Verb } from '../verb.ts'

export { isActive, JOBS } from './job-record.ts'
export { failureOf, type JobHooks } from './job-run.ts'

/** Ended jobs are kept this long, and no more than so many of them. */
export const ENDED_KEPT_MS = 24 * 3600 * 1000
export const ENDED_KEPT_MAX = 10_000
/** Jobs that wait or run at once; requests for further ones are turned away. */
export const ACTIVE_MAX = 1000
/** How often the record of a new job is tried while the catalog cannot be reached: somebody waits for the answer. */
const SUBMIT_TRIES = 3
/** Events of jobs that are taken up, in one commit. */
const RESUMED_TOGETHER = 100
/** How often a job looks whether one of another process has let go of its locks. */
const LOCKS_LOOK_MS = 200
/** How often a wait looks at a job that this process does not run. */
const LOOK_EVERY_MS = 500

interface OtherVerb {
  readonly verb: Verb
  /** Removes what is kept beside the record of a job, which is about to go. */
  readonly forget: (job: Job) => Promise<void>
}

export interface Submission {
  readonly behaviour: Behaviour
  readonly verb: Job['$verb']
  readonly plan: Plan
  /** The request that it is for. */
  readonly description: string
  readonly caller: Caller
  /** The UUID that it is to have. Without it, a new one. */
  readonly uuid?: string
  /** It is part of a job that was let in, which bounds how many of its parts there are at once: none of them is refused. */
  readonly isAdmitted?: boolean
}

interface TakenUp {
  readonly job: Job
  readonly claim: JobClaim
  readonly wish: 'go' | 'pause' | 'cancel'
}

export class Jobs {
  readonly #cluster: Cluster
  readonly #hooks: JobHooks
  readonly #places: Places
  readonly #active = new Map<string, Promise<unknown>>()
  /** Those whose record, or whose claim, is being written. */
  readonly #submitted = new Set<string>()
  /** Those that could not go on. Each is told of once. */
  readonly #left = new Set<string>()
  readonly #stopping = new AbortController()
  /** Nobody waits any more: what was not done while the cluster stopped is resumed at the next start. */
  readonly #drained = new AbortController()
  /** Verbs that are not those of a resource, by name. */
  readonly #others = new Map<string, OtherVerb>()

  constructor(cluster: Cluster, hooks: JobHooks = {}) {
    this.#cluster = cluster
    this.#hooks = hooks
    this.#places = new Places(cluster.system.clock)
  }

  get activeCount(): number {
    return this.#active.size
  }

  /** Takes up jobs of a verb that any resource has. To be called before `resume`. */
  offer(name: OtherVerbName, verb: Verb, forget: OtherVerb['forget']): void {
    this.#others.set(name, { verb, forget })
  }

  /** Fails with `limited` where too many are active. */
  #insistOnRoom(): void {
    if (this.#active.size + this.#submitted.size < ACTIVE_MAX) return
    throw failure('tooManyJobs')
  }

  /** Writes the job and starts it. It is on disk when this returns. Fails with `limited` where too many are active. */
  async submit({ behaviour, verb, plan, description, caller, uuid, isAdmitted }: Submission): Promise<Job> {
    if (this.#stopping.signal.aborted) throw failure('stopping')
    if (isAdmitted !== true) this.#insistOnRoom()
    const now = this.#cluster.now()
    const svm = plan.input['svm.uuid']
    const key = uuid ?? this.#cluster.system.random.uuid()
    const job: Job = {
      uuid: key,
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
      $locks: (plan.locks ?? []).map(lockOf),
      $user: caller.user,
      $from: caller.from,
    }
    Object.assign(job, stepsOf(this.#findVerb(job)))
    this.#submitted.add(key)
    try {
      const isMaking = verb === 'create' || verb === 'bulk create'
      const changes: Change[] = [
        claimChange(this.#cluster, key),
        ...(isMaking ? [{ do: 'check-space' } as const] : []),
        this.#cluster.put(JOBS, job),
      ]
      const outcomes = await this.#insist(() => this.#cluster.catalog.commit(changes))
      this.#start(job, claimMade(key, outcomes, 0))
    } finally {
      this.#submitted.delete(key)
    }
    return job
  }

  /**
   * Waits until the job has ended, at most so long, and no longer than the cluster waits when it stops. Gives its record
   * as it is then. A job that this process does not run is looked at now and then: another process may run it, or it is
   * to be taken up again.
   */
  async wait(uuid: string, ms: number): Promise<Job> {
    const { clock } = this.#cluster.system
    let leftMs = ms
    const running = this.#active.get(uuid)
    if (running !== undefined && ms > 0) {
      const [beganMs, over] = [clock.elapsed(), new AbortController()]
      const end = () => over.abort()
      const drained = this.#drained.signal
      drained.addEventListener('abort', end, { once: true })
      if (!drained.aborted) await Promise.race([running.then(end), clock.sleep(ms, over.signal)])
      drained.removeEventListener('abort', end)
      leftMs = over.signal.aborted ? Math.max(0, ms - (clock.elapsed() - beganMs)) : 0
    }
    for (;;) {
      const row = await this.#cluster.row(JOBS, uuid)
      if (!isActive(row) || leftMs <= 0 || this.#stopping.signal.aborted) return row
      await clock.sleep(Math.min(LOOK_EVERY_MS, leftMs), this.#stopping.signal)
      leftMs -= LOOK_EVERY_MS
    }
  }

  /**
   * Takes up jobs that nobody runs: those of an earlier process of this node, and those that could not go on when they
   * were last tried. Gives how many. What cannot be taken up is told in the events and in the log, and stops nothing.
   */
  async resume(): Promise<number> {
    const found = (await this.#cluster.rows(JOBS)).filter((row) => isActive(row) && !this.#isOurs(row['uuid']))
    // Those that have begun have locks that others wait for.
    const left = found.toSorted((a, b) => isWaiting(a) - isWaiting(b) || a['start_time'] - b['start_time'])
    let taken = 0
    for (let from = 0; from < left.length && !this.#stopping.signal.aborted; from += RESUMED_TOGETHER) {
      const some = left.slice(from, from + RESUMED_TOGETHER).map((row) => row['uuid'])
      // Together, so that their commits share syncs. They begin in the order in which they were asked for.
      const ours = (await Promise.all(some.map((uuid) => this.#takeUp(uuid)))).filter((one) => one !== undefined)
      await this.#tell(
        'cluster.job.resumed',
        ours.map(({ claim }) => claim.job),
      )
      for (const { job, claim, wish } of ours) {
        this.#start(job, claim, wish)
        this.#submitted.delete(claim.job)
      }
      taken += ours.length
    }
    return taken
  }

  /**
   * Takes no new job and waits for the running ones; those that wait for their turn do not begin, and long steps that can
   * be interrupted are. What is not done by then is resumed at the next start.
   */
  async drain(ms: number): Promise<void> {
    this.#stopping.abort()
    const ended = new AbortController()
    const all = Promise.all(this.#active.values()).then(() => ended.abort())
    await Promise.race([all, this.#cluster.system.clock.sleep(ms, ended.signal)])
    this.#drained.abort()
  }

  /** Removes the records of jobs that ended long ago. */
  async prune(): Promise<void> {
    const ended = (await this.#cluster.rows(JOBS))
      .filter((row) => !isActive(row))
      .toSorted((a, b) => (b.end_time ?? 0) - (a.end_time ?? 0))
    const oldest = this.#cluster.now() - ENDED_KEPT_MS
    const gone = ended.filter((row, at) => at >= ENDED_KEPT_MAX || (row.end_time ?? 0) < oldest)
    for (const row of gone) await this.#others.get(row.$verb)?.forget(row)
    for (let at = 0; at < gone.length; at += 100) {
      await this.#cluster.catalog.commit(
        gone.slice(at, at + 100).map((row) => ({ do: 'remove-record', type: JOBS, key: row['uuid'] })),
      )
    }
    await this.#cluster.jobOrders.prune()
  }

  #isOurs(uuid: string): boolean {
    return this.#active.has(uuid) || this.#submitted.has(uuid)
  }

  /** Claims a job that nobody runs, for the caller to start. Nothing where somebody does, or where that fails. */
  async #takeUp(uuid: string): Promise<TakenUp | undefined> {
    if (this.#isOurs(uuid)) return undefined
    this.#submitted.add(uuid)
    try {
      const wish = await this.#cluster.jobOrders.asked(uuid)
      // It may have ended since it was listed.
      const job = await this.#cluster.find(JOBS, uuid)
      const claim = job === undefined || !isActive(job) ? undefined : await takeJob(this.#cluster, uuid)
      if (job !== undefined && claim !== undefined) return { job, claim, wish }
    } catch (failure) {
      await this.#leave(uuid, failure)
    }
    this.#submitted.delete(uuid)
    return undefined
  }

  #start(job: Job, claim: JobClaim, wish: 'go' | 'pause' | 'cancel' = 'go'): void {
    const uuid = job['uuid']
    const order = this.#cluster.jobOrders.open(uuid, this.#stopping.signal, wish)
    const run = async () => {
      try {
        await this.#run(job, claim, order)
        this.#left.delete(uuid)
      } catch (failure) {
        // The record says where it is, and it is taken up there again.
        if (!(failure instanceof Interrupted)) await this.#leave(uuid, failure)
      } finally {
        this.#active.delete(uuid)
        this.#cluster.jobOrders.close(uuid)
      }
    }
    this.#active.set(uuid, run())
  }

  async #run(job: Job, claim: JobClaim, order: ReturnType<Cluster['jobOrders']['open']>): Promise<void> {
    const cluster = this.#cluster
    const { signal } = this.#stopping
    const names = job.$locks
    const leavePlace = await this.#places.take(signal)
    try {
      const verb = this.#findVerb(job)
      const parts = { cluster, claim, verb, order, hooks: this.#hooks, stopping: signal, leavePlace }
      for (;;) {
        if (names.some((name) => cluster.locks.isHeld(name))) leavePlace()
        const hasEnded = await cluster.locks.with(names, () => new JobRun(parts).run(job), { signal })
        if (hasEnded) return
        // Another job has one of the locks by its claim. It may be one that this process has taken up, or is about to: so
        // the locks are free for it meanwhile.
        leavePlace()
        await cluster.system.clock.sleep(LOCKS_LOOK_MS, signal)
        if (signal.aborted) throw new Interrupted()
      }
    } finally {
      leavePlace()
    }
  }

  #findVerb(job: Job): Verb | undefined {
    const behaviour = this.#cluster.behaviours.get(job.$type)
    return this.#others.get(job.$verb)?.verb ?? (behaviour && verbOfJob(job, behaviour))
  }

  async #leave(uuid: string, failure: unknown): Promise<void> {
    if (this.#left.has(uuid)) return
    this.#cluster.log.error('A job could not continue. The cluster retries it later.', {
      job: uuid,
      cause: describe(failure),
    })
    await this.#tell('cluster.job.left', [uuid])
    this.#left.add(uuid)
  }

  /** Nobody waits for these events, and a job is not to fail for want of one. */
  async #tell(event: 'cluster.job.left' | 'cluster.job.resumed', uuids: readonly string[]): Promise<void> {
    const news = uuids.filter((uuid) => !this.#left.has(uuid))
    if (news.length === 0) return
    try {
      await this.#insist(() => this.#cluster.catalog.commit(news.map((job) => this.#cluster.event(event, { job }))))
    } catch (failure) {
      this.#cluster.log.warn('Events of jobs could not be logged.', { event, cause: describe(failure) })
    }
  }

  #insist<Result>(act: () => Promise<Result>): Promise<Result> {
    return insist(this.#cluster.system.clock, act, { triesMax: SUBMIT_TRIES, stopping: this.#stopping.signal })
  }
}

/** 1 for a job that has not begun, for sorting. */
function isWaiting({ state }: Job): number {
  return state === 'queued' ? 1 : 0
}
