/** Calls a verb: resolves what the draft refers to, plans, then runs inline or submits a job; and writes the audit trail. */
import { Failure, failure } from '../model/failure.ts'
import { argumentsOf, completeArguments } from '../model/arguments.ts'
import { printedKey } from '../model/resource.ts'
import { completeDraft } from '../model/shape.ts'
import { type Row, textAt } from '../model/value.ts'
import { CommitRefused } from '../ports/catalog.ts'
import { isOneAction, partsOf, withActions } from './action.ts'
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

/** A verb or an action, and what it is asked for: those of a record that is there are given its row. */
interface Asked {
  readonly name: string
  readonly verb: Verb
  readonly request: Call & ChangeRequest
}

function asked(name: string, verb: Verb, call: Call): Asked {
  return { name, verb, request: { ...call, args: completeArguments(verb.args, call.args) } as Call & ChangeRequest }
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
  perform(behaviour: Behaviour, name: VerbName, call: Call): Promise<Performed> {
    return this.#audited(call, async () => this.#perform(behaviour, name, call))
  }

  /** Calls an action by its name, on the row of the call. */
  act(behaviour: Behaviour, name: string, call: Omit<Call, 'draft'> & { readonly row: Row }): Promise<Performed> {
    return this.#audited(call, async () => this.#act(behaviour, name, { ...call, draft: {} }))
  }

  async #audited(call: Omit<Call, 'draft'>, act: () => Promise<Performed>): Promise<Performed> {
    try {
      return await act()
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

  #perform(behaviour: Behaviour, name: VerbName, call: Call): Promise<Performed> {
    const verb = behaviour[name]
    if (verb === undefined) throw failure('methodUnsupported', { method: name, path: behaviour.resource.path })
    return this.#called(behaviour, call, (now) => this.#directed(behaviour, name, verb, now))
  }

  #act(behaviour: Behaviour, name: string, call: Call): Promise<Performed> {
    const action = behaviour.actions?.[name]
    if (action === undefined) throw failure('methodUnsupported', { method: name, path: behaviour.resource.path })
    return this.#called(behaviour, call, (now) => this.#acting(behaviour, name, action, now))
  }

  /** What is asked for is found out again where another process has changed what the first plan rested on. */
  async #called(behaviour: Behaviour, call: Call, find: (call: Call) => Promise<Asked>): Promise<Performed> {
    const first = await find(call)
    let isAgain = false
    const run = async (_: Cluster, look: Look): Promise<Performed> => {
      const { name, verb, request } = isAgain ? await find(await this.#callNow(behaviour, call)) : first
      isAgain = true
      return this.#run(behaviour, name, verb, request, look)
    }
    return alone(this.cluster, first.verb.alone?.(first.request) ?? [], run, admission(call))
  }

  /** The verb that a call comes to: a change may ask for actions. */
  async #directed(behaviour: Behaviour, name: VerbName, verb: Verb, call: Call): Promise<Asked> {
    const draft = await this.#draft(behaviour, name, call)
    if (name !== 'modify') return asked(name, verb, { ...call, draft })
    const parts = partsOf(behaviour.actions ?? {}, draft, call.args)
    const [first] = parts.called
    if (first === undefined) return asked(name, verb, { ...call, draft: parts.draft, args: parts.args })
    if (!isOneAction(parts)) return asked(name, withActions(verb, parts), { ...call, draft })
    return this.#acting(behaviour, first.name, first.action, { ...call, draft: {}, args: first.args })
  }

  async #acting({ resource }: Behaviour, name: string, action: Verb, call: Call): Promise<Asked> {
    const referring = { ...resource, fields: argumentsOf(action.args) }
    return asked(name, action, { ...call, args: await resolveReferences(this.cluster, referring, call.args, call.row) })
  }

  /** The same call on the record as it is now. */
  async #callNow(behaviour: Behaviour, call: Call): Promise<Call> {
    const { resource } = behaviour
    const before = call.row
    if (before === undefined) return call
    const instance = resource.key.map((key) => printedKey(resource, key, before))
    const path = Object.fromEntries(
      resource.pathKeys.map((key) => [key, (call.path[key] ?? '') || textAt(before, key)]),
    )
    const row = await findInstance(this.cluster, behaviour, path, instance)
    if (row === undefined && resource.key.length > 0) throw failure('recordNotFound', { noun: resource.noun })
    return row === undefined ? call : { ...call, row }
  }

  async #run(behaviour: Behaviour, name: string, verb: Verb, call: Call, look: Look): Promise<Performed> {
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
      const job = await this.jobs.submit({ behaviour, verb: name, plan, description, caller, uuid, isAdmitted })
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
      conclude: () => undefined,
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
