/** Calls a verb: resolves what the draft refers to, plans, then runs inline or submits a job; and writes the audit trail. */
import { Failure, failure } from '../model/failure.ts'
import { completeArguments } from '../model/arguments.ts'
import { completeDraft } from '../model/shape.ts'
import type { Row } from '../model/value.ts'
import { CommitRefused } from '../ports/catalog.ts'
import { auditEntry } from './access/audit.ts'
import { AuditedCommit } from './access/audited-commit.ts'
import type { Behaviour, VerbName } from './behaviour.ts'
import { Bulk } from './jobs/bulk.ts'
import type { Cluster } from './cluster.ts'
import { describe } from './describe.ts'
import type { Job } from './jobs/job-record.ts'
import type { Jobs } from './jobs/jobs.ts'
import { type LockOptions, REQUESTS_WAITING_MAX } from './jobs/locks.ts'
import { resolveReferences } from './read/references.ts'
import { seed } from './seed/apply.ts'
import type { Caller, ChangeRequest, Plan, Verb, Work } from './verb.ts'

export interface Call {
  readonly caller: Caller
  readonly draft: Row
  readonly row?: Row
  readonly path: Readonly<Record<string, string>>
  /** Those of the arguments of the verb that are given, as their kinds parse them. */
  readonly args: Row
  /** `POST /api/storage/volumes`: for the job's description and the audit trail. */
  readonly description: string
  /** Called when it is settled what will be done, before anything is; with the UUID of the job that will do it, if one will. */
  readonly planned?: (plan: Plan, job: string | undefined) => Promise<void>
  /** It is part of something that was let in: bounds that turn requests away do not hold for it. */
  readonly isAdmitted?: boolean
}

export interface Performed {
  readonly key: string
  /** What was asked for, complete with defaults and what it refers to. */
  readonly draft: Row
  readonly job?: Job
  readonly reveal: Row
  /** Nothing had to be done. */
  readonly wasDone: boolean
}

export class Actions {
  readonly cluster: Cluster
  readonly jobs: Jobs
  readonly bulk: Bulk

  constructor(cluster: Cluster, jobs: Jobs) {
    this.cluster = cluster
    this.jobs = jobs
    this.bulk = new Bulk(this)
    cluster.applySeed = (file) => seed(this, file)
  }

  /** What is not done by a job is in the audit trail with the commit that does it; what is refused, when it is refused. */
  async perform(behaviour: Behaviour, name: VerbName, call: Call): Promise<Performed> {
    try {
      return await this.#perform(behaviour, name, call)
    } catch (failure) {
      const message = failure instanceof Failure ? failure.message : 'internal error'
      await this.audit(call.caller, call.description, 'error', message)
      throw failure
    }
  }

  /**
   * Notes who did what, when, from where, and what became of it, where nothing was changed. The answer does not hang on
   * it: what cannot be written is in the log.
   */
  async audit(caller: Caller, input: string, state: 'success' | 'error', message: string): Promise<void> {
    try {
      await this.cluster.catalog.commit([auditEntry(this.cluster, caller, input, state, message)])
    } catch (failure) {
      const { user, from } = caller
      const details = { user, from, input, state, message, cause: describe(failure) }
      this.cluster.log.warn('An entry of the audit trail could not be written.', details)
    }
  }

  async #perform(behaviour: Behaviour, name: VerbName, call: Call): Promise<Performed> {
    const verb = behaviour[name]
    if (verb === undefined) throw failure('methodUnsupported', { method: name, path: behaviour.resource.path })
    const draft = await this.#draft(behaviour, name, call)
    // Those of a record that is there are given its row.
    const args = completeArguments(verb.args, call.args)
    const request = { ...call, draft, args } as Call & ChangeRequest
    const names = verb.alone?.(request) ?? []
    return this.cluster.locks.with(names, () => this.#run(behaviour, name, verb, request), admission(call))
  }

  async #run(behaviour: Behaviour, name: VerbName, verb: Verb, call: Call): Promise<Performed> {
    // The plan comes first also where too many jobs are active: a request that is wrong is told so, not to come back later.
    const plan = await verb.plan(this.cluster, call)
    const performed = { key: plan.key, draft: call.draft, reveal: plan.reveal ?? {}, wasDone: plan.isDone ?? false }
    if (plan.isDone === true) {
      await this.audit(call.caller, call.description, 'success', plan.key)
      return performed
    }
    const isJob = verb.isJob === true || plan.isLong === true
    const uuid = this.cluster.system.random.uuid()
    await call.planned?.(plan, isJob ? uuid : undefined)
    if (isJob) {
      const { description, caller, isAdmitted = false } = call
      const verbName = plan.by ?? name
      const job = await this.jobs.submit({ behaviour, verb: verbName, plan, description, caller, uuid, isAdmitted })
      return { ...performed, job }
    }
    await this.cluster.locks.with(plan.locks ?? [], () => this.#inline(verb, plan, call), admission(call))
    return performed
  }

  async #draft(behaviour: Behaviour, name: VerbName, call: Call): Promise<Row> {
    const { resource } = behaviour
    if (name === 'remove') return call.draft
    // The keys of the path are fields too: a snapshot made under a volume is a snapshot of that volume.
    const inPath =
      name === 'create' ? Object.fromEntries(resource.pathKeys.map((key) => [key, call.path[key] ?? ''])) : {}
    const given: Row = { ...call.draft, ...inPath }
    const complete = name === 'create' ? completeDraft(resource, given) : given
    return resolveReferences(this.cluster, resource, complete, call.row)
  }

  async #inline(verb: Verb, plan: Plan, { caller, description }: Call): Promise<void> {
    const entry = () => auditEntry(this.cluster, caller, description, 'success', plan.key)
    const audited = new AuditedCommit(this.cluster, entry)
    const work: Work = {
      key: plan.key,
      input: plan.input,
      memo: {},
      stopping: new AbortController().signal,
      progress: () => Promise.resolve(),
      commit: (changes) => audited.cluster.catalog.commit(changes),
    }
    for (const step of verb.steps) {
      try {
        await step.run(audited.cluster, work)
      } catch (cause) {
        if (cause instanceof Failure) throw cause
        if (cause instanceof CommitRefused && cause.reason === 'read-only') throw failure('dataProtected')
        if (cause instanceof CommitRefused) throw failure('objectRefuses', { reason: cause.reason })
        throw cause
      }
    }
    if (!audited.isDone) await this.audit(caller, description, 'success', plan.key)
  }
}

function admission({ isAdmitted }: Call): LockOptions {
  return isAdmitted === true ? {} : { waitersMax: REQUESTS_WAITING_MAX }
}
