/** Calls a verb: resolves what the draft refers to, plans, then runs inline or submits a job; and writes the audit trail. */
import { Failure, failure } from '../model/failure.ts'
import { completeArguments } from '../model/arguments.ts'
import { printedKey } from '../model/resource.ts'
import { completeDraft } from '../model/shape.ts'
import { type Row, textAt } from '../model/value.ts'
import { CommitRefused } from '../ports/catalog.ts'
import { auditEntry } from './access/audit.ts'
import { AuditedCommit } from './access/audited-commit.ts'
import type { Behaviour, VerbName } from './behaviour.ts'
import { Bulk } from './jobs/bulk.ts'
import type { Cluster } from './cluster.ts'
import { describe } from './describe.ts'
import type { Job } from './jobs/job-record.ts'
import type { Jobs } from './jobs/jobs.ts'
import { REQUESTS_WAITING_MAX } from './jobs/locks.ts'
import { alone, type AloneOptions, lockOf, type Look } from './grounds.ts'
import { findInstance } from './read/read.ts'
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
    const request = await this.#requestOf(behaviour, name, call)
    let isAgain = false
    const run = async (_: Cluster, look: Look): Promise<Performed> => {
      const now = isAgain ? await this.#requestNow(behaviour, name, call) : request
      isAgain = true
      return this.#run(behaviour, name, verb, now, look)
    }
    return alone(this.cluster, verb.alone?.(request) ?? [], run, admission(call))
  }

  /** Those of a record that is there are given its row. */
  async #requestOf(behaviour: Behaviour, name: VerbName, call: Call): Promise<Call & ChangeRequest> {
    const args = completeArguments(behaviour[name]?.args, call.args)
    return { ...call, draft: await this.#draft(behaviour, name, call), args } as Call & ChangeRequest
  }

  /** The same, where it is planned again because another process has changed what the first plan rested on. */
  async #requestNow(behaviour: Behaviour, name: VerbName, call: Call): Promise<Call & ChangeRequest> {
    const { resource } = behaviour
    const before = call.row
    if (before === undefined) return this.#requestOf(behaviour, name, call)
    const instance = resource.key.map((key) => printedKey(resource, key, before))
    const path = Object.fromEntries(
      resource.pathKeys.map((key) => [key, (call.path[key] ?? '') || textAt(before, key)]),
    )
    const row = await findInstance(this.cluster, behaviour, path, instance)
    if (row === undefined && resource.key.length > 0) throw failure('recordNotFound', { noun: resource.noun })
    return this.#requestOf(behaviour, name, row === undefined ? call : { ...call, row })
  }

  async #run(behaviour: Behaviour, name: VerbName, verb: Verb, call: Call, look: Look): Promise<Performed> {
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
    const held = plan.locks ?? []
    const act = async () => {
      await look.at(held)
      await this.#inline(look.cluster, verb, plan, call)
    }
    await this.cluster.locks.with(held.map(lockOf), act, admission(call))
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

  async #inline(cluster: Cluster, verb: Verb, plan: Plan, { caller, description }: Call): Promise<void> {
    const entry = () => auditEntry(this.cluster, caller, description, 'success', plan.key)
    const audited = new AuditedCommit(cluster, entry)
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
        if (cause instanceof CommitRefused && cause.reason === 'stale')
          throw failure('recordChanged', { noun: 'record' })
        if (cause instanceof CommitRefused) throw failure('objectRefuses', { reason: cause.reason })
        throw cause
      }
    }
    if (!audited.isDone) await this.audit(caller, description, 'success', plan.key)
  }
}

function admission({ isAdmitted }: Call): AloneOptions {
  return isAdmitted === true ? {} : { waitersMax: REQUESTS_WAITING_MAX, isRequest: true }
}
