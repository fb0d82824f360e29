/**
 * Many records of one resource in one request: a job that calls the verb for each of them, and keeps what became of
 * each, so that clients can ask for it when the job has ended.
 *
 * Records are begun one after the other, and only so many jobs of them run at once: a body of thousands needs no more
 * room among the active jobs than one of a few dozen, and gets that room however many others ask for theirs.
 *
 * Without `continueOnFailure` a failure ends it, and what was made or changed before is taken back, the last first;
 * what was deleted is gone. The requests themselves are in memory only, as they may hold secrets: a job that a restart
 * interrupts is taken back as well, from the notes of what it had begun. What is about to be begun is noted before it is,
 * so a crash in between leaves nothing behind. (A record whose key is a name, not a UUID, stays then: it cannot be told
 * from one that another request made in that moment.)
 */
import { Failure, failure } from '../../model/failure.ts'
import type { Resource } from '../../model/resource.ts'
import type { Row, Value } from '../../model/value.ts'
import { CatalogUnavailable } from '../../ports/catalog.ts'
import type { Behaviour } from '../behaviour.ts'
import { forgetOutcomes, type Outcome, outcomeChange, type OutcomeError, outcomesOf } from './bulk-outcomes.ts'
import type { Cluster } from '../cluster.ts'
import { explainFailure } from '../explain.ts'
import { Gate } from './gate.ts'
import { type Job, isActive, JOBS } from './job-record.ts'
import { failureOf } from './jobs.ts'
import type { Actions } from '../perform.ts'
import { findInstance } from '../read/read.ts'
import { Interrupted, type Caller, type Plan, type Verb, type VerbRequest, type Work } from '../verb.ts'

export const BULK_RECORDS_MAX = 5000
/** Records of all bulk jobs that wait or run, which are in memory; bodies beyond are turned away. */
export const BULK_PENDING_MAX = 20_000
/** Jobs of the records of one body that run at once, and of all bodies. */
const JOBS_AT_ONCE = 32
const ALL_JOBS_AT_ONCE = 128
/** Outcomes that are noted in one commit, where none has to be noted before. */
const NOTES_MAX = 100
/** How often the job says how far it is: after so many records. */
const PROGRESS_EVERY = 100
/** How long a wait for the job of one record is at most; then it is looked at whether the cluster stops. */
const WAIT_MS = 500

export type BulkVerb = 'create' | 'modify' | 'remove'

export interface BulkRecord {
  readonly draft: Row
  /** The words of the path that lead to it, where it is there already. */
  readonly instance: readonly string[]
  /** For the audit trail: `DELETE /api/storage/volumes/<uuid>`. */
  readonly description: string
}

export interface BulkOrder {
  readonly behaviour: Behaviour
  readonly verb: BulkVerb
  readonly records: readonly BulkRecord[]
  readonly path: Readonly<Record<string, string>>
  readonly args: Row
  readonly caller: Caller
  readonly description: string
  readonly continueOnFailure: boolean
  readonly isSerial: boolean
  /** Fails where the caller does not see the record. */
  readonly insistOn: (row: Row) => Promise<void>
}

interface Pending {
  readonly order: BulkOrder
  /** Of the records that were begun, in their order. */
  readonly outcomes: Outcome[]
  /** Places of outcomes that are not noted as they are now. */
  readonly unsaved: Set<number>
  /** Places of records whose job was not seen to end. */
  readonly open: Set<number>
  hasFailed: boolean
}

/** What its step is told. The records are in memory alone. */
type BulkInput = Caller & {
  readonly type: string
  readonly path: Readonly<Record<string, string>>
  readonly continueOnFailure: boolean
}

type BulkWork = Work<BulkInput>

export class Bulk {
  readonly #actions: Actions
  readonly #pending = new Map<string, Pending>()
  readonly #gate = new Gate(ALL_JOBS_AT_ONCE)

  constructor(actions: Actions) {
    this.#actions = actions
    const forget = (job: Job) => forgetOutcomes(actions.cluster, job.$key)
    for (const verb of ['create', 'modify', 'remove'] as const) {
      actions.jobs.offer(nameOf(verb), this.#verb(verb), forget)
    }
  }

  /** Starts the job. Fails with `malformed` where the records are none or too many, with `limited` where too many wait. */
  async submit(order: BulkOrder): Promise<Job> {
    if (order.records.length === 0 || order.records.length > BULK_RECORDS_MAX) {
      throw failure('bulkRecordsOutOfBounds', { max: BULK_RECORDS_MAX })
    }
    const waiting = [...this.#pending.values()].reduce((sum, { order: other }) => sum + other.records.length, 0)
    if (waiting + order.records.length > BULK_PENDING_MAX) {
      throw failure('tooManyBulkRecords')
    }
    const key = this.#actions.cluster.system.random.uuid()
    const { user, role, from } = order.caller
    const { type } = order.behaviour.resource
    const { continueOnFailure } = order
    const input = { type, user, role, from, path: { ...order.path }, continueOnFailure }
    this.#pending.set(key, { order, outcomes: [], unsaved: new Set(), open: new Set(), hasFailed: false })
    try {
      const { behaviour, verb, description, caller } = order
      const plan = { key, input }
      return await this.#actions.jobs.submit({ behaviour, verb: nameOf(verb), plan, description, caller })
    } catch (failure) {
      this.#pending.delete(key)
      throw failure
    }
  }

  #verb(verb: BulkVerb): Verb<VerbRequest, BulkInput> {
    return {
      isJob: true,
      plan: () => Promise.reject(new Error('It is submitted as it is.')),
      steps: [
        {
          name: `${verb} records`,
          isCancellable: true,
          isPausable: true,
          run: (_cluster, work) => this.#run(work),
          undo: (cluster: Cluster, work: BulkWork) => this.#undo(cluster, work, verb),
        },
      ],
    }
  }

  async #run(work: BulkWork): Promise<void> {
    const pending = this.#pending.get(work.key)
    if (pending === undefined) throw failure('bulkInterrupted')
    try {
      await this.#each(pending, work)
      this.#pending.delete(work.key)
    } catch (failure) {
      // The step is repeated when the catalog is back, or after a pause, and goes on where it was.
      const isRepeated = failure instanceof CatalogUnavailable || failure instanceof Interrupted
      if (!isRepeated) this.#pending.delete(work.key)
      throw failure
    }
  }

  async #each(pending: Pending, work: BulkWork): Promise<void> {
    const { order, outcomes, open } = pending
    const total = order.records.length
    const running = new Set<Promise<void>>()
    let interruption: unknown
    const watch = (at: number) => {
      const ended = this.#settle(pending, at, work)
        .catch((failure: unknown) => {
          interruption ??= failure
        })
        .finally(() => {
          running.delete(ended)
          this.#gate.leave()
        })
      running.add(ended)
    }
    const goesOn = () => interruption === undefined && (order.continueOnFailure || !pending.hasFailed)
    try {
      // Those that were begun before a pause.
      for (const at of open) {
        await this.#gate.enter(work.stopping)
        watch(at)
      }
      for (let at = outcomes.length; at < total && goesOn(); at++) {
        if (work.stopping.aborted) throw new Interrupted()
        await this.#gate.enter(work.stopping)
        try {
          outcomes.push(await this.#begin(pending, order.records[at] as BulkRecord, work.key))
        } catch (failure) {
          this.#gate.leave()
          throw failure
        }
        watch(at)
        while (running.size >= (order.isSerial ? 1 : JOBS_AT_ONCE)) await Promise.race(running)
        if (pending.unsaved.size >= NOTES_MAX) await this.#note(pending, work.key)
        if ((at + 1) % PROGRESS_EVERY === 0)
          await work.progress(at / total, `${at + 1} of ${total} records were begun.`)
      }
    } catch (failure) {
      interruption ??= failure
    }
    await Promise.all(running)
    await this.#note(pending, work.key)
    if (interruption !== undefined) throw interruption
    const error = outcomes.find((outcome) => outcome.error !== undefined)?.error
    if (error !== undefined && !order.continueOnFailure) throw failureFrom(error)
  }

  /** Writes the outcomes that changed since they were written, and with them what is about to be begun. */
  async #note({ outcomes, unsaved }: Pending, bulk: string, planned?: Outcome): Promise<void> {
    const places = [...unsaved]
    const changes = places.map((at) => outcomeChange(bulk, at, outcomes[at] as Outcome))
    if (planned !== undefined) changes.push(outcomeChange(bulk, outcomes.length, planned))
    unsaved.clear()
    try {
      if (changes.length > 0) await this.#actions.cluster.catalog.commit(changes)
    } catch (failure) {
      for (const at of places) unsaved.add(at)
      throw failure
    }
  }

  async #begin(pending: Pending, record: BulkRecord, bulk: string): Promise<Outcome> {
    const { order } = pending
    const { behaviour, verb, path, args, caller } = order
    const { cluster } = this.#actions
    let outcome: Outcome = { key: record.instance.join('/') }
    let isNoted = true
    const planned = async ({ key, reveal = {} }: Plan, job: string | undefined) => {
      if (verb === 'modify') insistOnNoneRevealed(reveal)
      outcome = { ...outcome, key, ...(job === undefined ? {} : { job }) }
      isNoted = false
      await this.#note(pending, bulk, { ...outcome, isPlanned: true })
      isNoted = true
    }
    const { draft, description } = record
    const call = { caller, draft, path, args, description, planned, isAdmitted: true }
    try {
      let row: Row | undefined
      if (verb !== 'create') {
        row = await findInstance(cluster, behaviour, path, record.instance)
        if (row === undefined)
          throw failure('recordNotFound', { noun: behaviour.resource.noun }, { target: behaviour.resource.key[0] })
        await order.insistOn(row)
        if (verb === 'modify') outcome = { ...outcome, before: before(behaviour, row, record.draft) }
      }
      const { key } = await this.#actions.perform(behaviour, verb, row === undefined ? call : { ...call, row })
      return { ...outcome, key }
    } catch (cause) {
      // Nothing was begun: the step is repeated, and this record with it.
      if (cause instanceof Interrupted || !isNoted) throw cause
      const isUnknown = cause instanceof CatalogUnavailable
      return { ...outcome, error: errorOf(explainFailure(cause)), ...(isUnknown ? { isPlanned: true } : {}) }
    }
  }

  /** Waits until the job of a record has ended, and notes its failure. */
  async #settle(pending: Pending, at: number, work: BulkWork): Promise<void> {
    const { outcomes, unsaved, open } = pending
    const outcome = outcomes[at] as Outcome
    unsaved.add(at)
    if (outcome.error !== undefined) pending.hasFailed = true
    if (outcome.job === undefined || outcome.error !== undefined) return
    open.add(at)
    const ended = await this.#ended(outcome.job, work)
    open.delete(at)
    if (ended['state'] !== 'failure') return
    outcomes[at] = { ...outcome, error: errorOf(failureOf(ended)) }
    pending.hasFailed = true
    unsaved.add(at)
  }

  async #ended(uuid: string, work: BulkWork): Promise<Job> {
    for (;;) {
      const job = await this.#actions.jobs.wait(uuid, WAIT_MS)
      if (!isActive(job)) return job
      if (work.stopping.aborted) throw new Interrupted()
    }
  }

  async #undo(cluster: Cluster, work: BulkWork, verb: BulkVerb): Promise<void> {
    this.#pending.delete(work.key)
    // What was deleted is gone.
    if (verb === 'remove' || work.input.continueOnFailure) return
    const outcomes = await outcomesOf(cluster, work.key)
    for (const [at, outcome] of [...outcomes].toReversed()) {
      if (outcome.isUndone === true || (outcome.error !== undefined && outcome.isPlanned !== true)) continue
      let undone: Outcome = { ...outcome, isUndone: true }
      try {
        if (await this.#isDone(cluster, work, verb, outcome)) await this.#takeBack(cluster, work, verb, outcome)
      } catch (cause) {
        if (cause instanceof Interrupted || cause instanceof CatalogUnavailable) throw cause
        undone = { ...undone, rollbackError: errorOf(explainFailure(cause)) }
      }
      await cluster.catalog.commit([outcomeChange(work.key, at, undone)])
    }
  }

  /** Whether what was begun has been done; waits until that is certain. */
  async #isDone(cluster: Cluster, work: BulkWork, verb: 'create' | 'modify', outcome: Outcome): Promise<boolean> {
    const { job, isPlanned } = outcome
    const isBegun = job !== undefined && (await cluster.find(JOBS, job)) !== undefined
    if (isBegun) return (await this.#ended(job, work))['state'] === 'success'
    return isPlanned !== true || verb === 'modify' || isUuid(cluster.registry.resource(work.input.type))
  }

  async #takeBack(cluster: Cluster, work: BulkWork, verb: 'create' | 'modify', outcome: Outcome): Promise<void> {
    const behaviour = cluster.behaviour(work.input.type)
    const { resource } = behaviour
    const row = await cluster.find(resource.rowsOf, outcome.key)
    if (row === undefined) return
    const { user, role, from, path } = work.input
    const caller = { user, role, from }
    const [act, draft] = verb === 'create' ? (['remove', {}] as const) : (['modify', outcome.before ?? {}] as const)
    const description = `taking back ${resource.noun} ${outcome.key}`
    // Nobody has used what is taken back: nobody will want it back.
    const args = act === 'remove' && behaviour.remove?.args?.['force'] !== undefined ? { force: true } : {}
    const call = { caller, draft, row, path, args, description, isAdmitted: true }
    const { job } = await this.#actions.perform(behaviour, act, call)
    if (job === undefined) return
    const ended = await this.#ended(job['uuid'], work)
    if (ended['state'] === 'failure') throw failureOf(ended)
  }
}

/** What is shown once could not be shown: the answer of many records is their job. */
function insistOnNoneRevealed(reveal: Row): void {
  const [path] = Object.keys(reveal)
  if (path === undefined) return
  throw failure('fieldShownOnce', { path })
}

const isUuid = ({ recordKey }: Resource) => recordKey.join() === 'uuid'

function nameOf(verb: BulkVerb) {
  return `bulk ${verb}` as const
}

/** The values that a change takes the place of. A secret is not kept: it cannot be put back. */
function before({ resource }: Behaviour, row: Row, draft: Row): Row {
  const kept: Record<string, Value> = {}
  for (const path of Object.keys(draft)) {
    const field = resource.fields.get(path)
    if (field === undefined || field.kind.isSecret === true) continue
    const { reference } = field
    const stored = reference?.part === 'name' ? `${reference.base}.uuid` : path
    kept[stored] = row[stored] ?? null
  }
  return kept
}

function errorOf({ code, kind, message, target }: Failure): OutcomeError {
  return { code, kind, message, ...(target === undefined ? {} : { target }) }
}

export function failureFrom({ code, kind, message, target }: OutcomeError): Failure {
  return new Failure(kind, code, message, { target })
}
