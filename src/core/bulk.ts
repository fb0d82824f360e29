/**
 * Many records of one resource in one request: a job that calls the verb for each of them, and keeps what became of
 * each, so that clients can ask for it when the job has ended.
 *
 * Without `continueOnFailure` a failure ends it, and what was made or changed before is taken back, the last first;
 * what was deleted is gone. The requests themselves are in memory only, as they may hold secrets: a job that a restart
 * interrupts is taken back as well, from the notes of what it had begun. What is about to be begun is noted before it is,
 * so a crash in between leaves nothing behind. (A record whose key is a name, not a UUID, stays then: it cannot be told
 * from one that another request made in that moment.)
 */
import { failures, Failure } from '../model/failure.ts'
import type { Resource } from '../model/resource.ts'
import { type Row, textAt, type Value } from '../model/value.ts'
import { CatalogUnavailable } from '../ports/catalog.ts'
import type { Behaviour } from './behaviour.ts'
import type { Cluster } from './cluster.ts'
import { explainFailure } from './explain.ts'
import { failureOf, isActive, JOBS } from './jobs.ts'
import type { Actions } from './perform.ts'
import { findInstance } from './read.ts'
import { Interrupted, type Caller, type Plan, type Verb, type Work } from './verb.ts'

export const BULK_RECORDS_MAX = 500
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
  readonly args: Readonly<Record<string, string>>
  readonly caller: Caller
  readonly description: string
  readonly continueOnFailure: boolean
  readonly isSerial: boolean
  /** Fails where the caller does not see the record. */
  readonly insistOn: (row: Row) => Promise<void>
}

/** What became of one record. Kept with the job, so without secrets. */
export interface Outcome {
  readonly key: string
  readonly job?: string
  /** The fields as they were before they were changed. */
  readonly before?: Row
  readonly error?: { readonly code: number; readonly kind: string; readonly message: string; readonly target?: string }
  readonly isUndone?: boolean
  /** Noted before it was begun: whether it was, only the cluster tells. */
  readonly isPlanned?: boolean
}

export interface BulkResults {
  readonly outcomes: readonly Outcome[]
  readonly rollbackErrors: readonly Required<Outcome>['error'][]
}

interface Pending {
  readonly order: BulkOrder
  readonly outcomes: Outcome[]
}

export class Bulk {
  readonly #actions: Actions
  readonly #pending = new Map<string, Pending>()

  constructor(actions: Actions) {
    this.#actions = actions
    for (const verb of ['create', 'modify', 'remove'] as const) actions.jobs.offer(nameOf(verb), this.#verb(verb))
  }

  /** Starts the job. Fails with `malformed` where the records are none or too many. */
  async submit(order: BulkOrder): Promise<Row> {
    if (order.records.length === 0 || order.records.length > BULK_RECORDS_MAX) {
      throw failures.badArgument('records', `it takes 1 to ${BULK_RECORDS_MAX} records.`)
    }
    const key = this.#actions.cluster.system.random.uuid()
    const { user, role, from } = order.caller
    const { type } = order.behaviour.resource
    const { continueOnFailure } = order
    const input = { type, user, role, from, path: { ...order.path }, continueOnFailure }
    this.#pending.set(key, { order, outcomes: [] })
    try {
      const { behaviour, verb, description, caller } = order
      return await this.#actions.jobs.submit(behaviour, nameOf(verb), { key, input }, description, caller)
    } catch (failure) {
      this.#pending.delete(key)
      throw failure
    }
  }

  #verb(verb: BulkVerb): Verb {
    return {
      isJob: true,
      plan: () => Promise.reject(new Error('It is submitted as it is.')),
      steps: [
        {
          name: `${verb} records`,
          isCancellable: true,
          isPausable: true,
          run: (_cluster, work) => this.#run(work),
          undo: (cluster: Cluster, work: Work) => this.#undo(cluster, work, verb),
        },
      ],
    }
  }

  async #run(work: Work): Promise<void> {
    const pending = this.#pending.get(work.key)
    if (pending === undefined) throw failures.unavailable('The cluster was started anew before all records were done.')
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

  async #each({ order, outcomes }: Pending, work: Work): Promise<void> {
    const firstFailure = () => outcomes.find(({ error }) => error !== undefined)?.error
    const goesOn = () => order.continueOnFailure || firstFailure() === undefined
    for (let at = outcomes.length; at < order.records.length && goesOn(); at++) {
      if (work.stopping.aborted) throw new Interrupted()
      const planned = (outcome: Outcome) => note(work, [...outcomes, { ...outcome, isPlanned: true }])
      outcomes.push(await this.#begin(order, order.records[at] as BulkRecord, planned))
      if (order.isSerial) await this.#settle(outcomes, at, work)
    }
    for (const at of outcomes.keys()) await this.#settle(outcomes, at, work)
    await note(work, outcomes)
    const error = firstFailure()
    if (error !== undefined && !order.continueOnFailure) throw failureFrom(error)
  }

  async #begin(order: BulkOrder, record: BulkRecord, note: (planned: Outcome) => Promise<void>): Promise<Outcome> {
    const { behaviour, verb, path, args, caller } = order
    const { cluster } = this.#actions
    let outcome: Outcome = { key: record.instance.join('/') }
    let isNoted = true
    const planned = async ({ key, reveal = {} }: Plan) => {
      if (verb === 'modify') insistOnNoneRevealed(reveal)
      outcome = { ...outcome, key }
      isNoted = false
      await note(outcome)
      isNoted = true
    }
    const call = { caller, draft: record.draft, path, args, description: record.description, planned }
    try {
      let row: Row | undefined
      if (verb !== 'create') {
        row = await findInstance(cluster, behaviour, path, record.instance)
        if (row === undefined) throw failures.notFound(behaviour.resource.noun, behaviour.resource.key[0])
        await order.insistOn(row)
        if (verb === 'modify') outcome = { ...outcome, before: before(behaviour, row, record.draft) }
      }
      const { key, job } = await this.#actions.perform(behaviour, verb, row === undefined ? call : { ...call, row })
      return { ...outcome, key, ...(job === undefined ? {} : { job: textAt(job, 'uuid') }) }
    } catch (cause) {
      // Nothing was begun: the step is repeated, and this record with it.
      if (cause instanceof Interrupted || !isNoted) throw cause
      const isUnknown = cause instanceof CatalogUnavailable
      return { ...outcome, error: errorOf(explainFailure(cause)), ...(isUnknown ? { isPlanned: true } : {}) }
    }
  }

  /** Waits until the job of a record has ended, and notes its failure. */
  async #settle(outcomes: Outcome[], at: number, work: Work): Promise<void> {
    const outcome = outcomes[at]
    if (outcome?.job === undefined || outcome.error !== undefined) return
    const ended = await this.#ended(outcome.job, work)
    if (ended['state'] === 'failure') outcomes[at] = { ...outcome, error: errorOf(failureOf(ended)) }
  }

  async #ended(uuid: string, work: Work): Promise<Row> {
    for (;;) {
      const job = await this.#actions.jobs.wait(uuid, WAIT_MS)
      if (!isActive(job)) return job
      if (work.stopping.aborted) throw new Interrupted()
    }
  }

  async #undo(cluster: Cluster, work: Work, verb: BulkVerb): Promise<void> {
    this.#pending.delete(work.key)
    // What was deleted is gone.
    if (verb === 'remove' || work.input['continueOnFailure'] === true) return
    const { outcomes, rollbackErrors } = resultsOf(work.memo)
    const [settled, problems] = [[...outcomes], [...rollbackErrors]]
    for (const [at, outcome] of [...settled.entries()].toReversed()) {
      if (outcome.isUndone === true || (outcome.error !== undefined && outcome.isPlanned !== true)) continue
      try {
        if (await this.#isDone(cluster, work, verb, outcome)) await this.#takeBack(cluster, work, verb, outcome)
      } catch (cause) {
        if (cause instanceof Interrupted || cause instanceof CatalogUnavailable) throw cause
        problems.push(errorOf(explainFailure(cause)))
      }
      settled[at] = { ...outcome, isUndone: true }
      await note(work, settled, problems)
    }
  }

  /** Whether what was begun has been done; waits until that is certain. */
  async #isDone(cluster: Cluster, work: Work, verb: 'create' | 'modify', outcome: Outcome): Promise<boolean> {
    const type = textAt(work.input, 'type')
    const { key, isPlanned } = outcome
    const begun = isPlanned
      ? (await cluster.rows(JOBS)).find((row) => row['$type'] === type && row['$verb'] === verb && row['$key'] === key)
      : undefined
    const job = outcome.job ?? (begun === undefined ? undefined : textAt(begun, 'uuid'))
    if (job !== undefined) return (await this.#ended(job, work))['state'] === 'success'
    return isPlanned !== true || verb === 'modify' || isUuid(cluster.registry.resource(type))
  }

  async #takeBack(cluster: Cluster, work: Work, verb: 'create' | 'modify', outcome: Outcome): Promise<void> {
    const behaviour = cluster.behaviour(textAt(work.input, 'type'))
    const { resource } = behaviour
    const row = await cluster.find(resource.rowsOf, outcome.key)
    if (row === undefined) return
    const caller = {
      user: textAt(work.input, 'user'),
      role: textAt(work.input, 'role'),
      from: textAt(work.input, 'from'),
    }
    const path = work.input['path'] as Readonly<Record<string, string>>
    const [act, draft] = verb === 'create' ? (['remove', {}] as const) : (['modify', outcome.before ?? {}] as const)
    const description = `taking back ${resource.noun} ${outcome.key}`
    const { job } = await this.#actions.perform(behaviour, act, { caller, draft, row, path, args: {}, description })
    if (job === undefined) return
    const ended = await this.#ended(textAt(job, 'uuid'), work)
    if (ended['state'] === 'failure') throw failureOf(ended)
  }
}

/** What is shown once could not be shown: the answer of many records is their job. */
function insistOnNoneRevealed(reveal: Row): void {
  const [path] = Object.keys(reveal)
  if (path === undefined) return
  throw failures.invalid(
    path,
    `"${path}" is shown once, in the answer of a request for one record. Send such a request.`,
  )
}

const isUuid = ({ recordKey }: Resource) => recordKey.join() === 'uuid'

function nameOf(verb: BulkVerb) {
  return `bulk ${verb}` as const
}

/** What became of the records of a bulk job, from its notes. */
export function resultsOf(memo: unknown): BulkResults {
  const notes = (memo ?? {}) as { outcomes?: readonly Outcome[]; rollbackErrors?: BulkResults['rollbackErrors'] }
  return { outcomes: notes.outcomes ?? [], rollbackErrors: notes.rollbackErrors ?? [] }
}

async function note(work: Work, outcomes: readonly Outcome[], rollbackErrors: BulkResults['rollbackErrors'] = []) {
  const notes = { outcomes: [...outcomes], rollbackErrors: [...rollbackErrors] }
  await work.commit([], notes as unknown as Readonly<Record<string, Value>>)
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

function errorOf({ code, kind, message, target }: Failure): Required<Outcome>['error'] {
  return { code, kind, message, ...(target === undefined ? {} : { target }) }
}

export function failureFrom({ code, kind, message, target }: Required<Outcome>['error']): Failure {
  return new Failure(kind as Failure['kind'], code, message, { target })
}
