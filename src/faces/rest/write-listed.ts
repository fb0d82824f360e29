/** POST, PATCH and DELETE of the records that a body lists: a job, and what became of each record. */
import { failureFrom, type BulkRecord, type BulkVerb } from '../../core/jobs/bulk.ts'
import { outcomesOf } from '../../core/jobs/bulk-outcomes.ts'
import { failureOf, isActive, JOBS } from '../../core/jobs/jobs.ts'
import { derive } from '../../core/read/derive.ts'
import { insistOnParents } from '../../core/read/read.ts'
import { inTurns } from '../../core/time/turns.ts'
import { Failure, failure } from '../../model/failure.ts'
import { isRecord, type Json, type Row, textOf } from '../../model/value.ts'
import { changes, changesNothing, newDraft } from '../requests/drafts.ts'
import type { RestReply } from './answer.ts'
import { bulkArguments, readArguments } from './arguments.ts'
import type { Exchange } from './exchange.ts'
import { printFailure } from './failed.ts'
import { jobPath } from './links.ts'
import { keyOf } from './write-one.ts'

/** The records of a body that lists some; nothing where it is one record itself. */
export function listedRecords({ resource }: Exchange, body: unknown): readonly unknown[] | undefined {
  if (!isRecord(body) || resource.fields.has('records') || resource.createMethod === 'PUT') return undefined
  const { records } = body
  if (!Array.isArray(records)) return undefined
  const other = Object.keys(body).find((name) => !['records', 'num_records', '_links'].includes(name))
  if (other !== undefined) throw failure('fieldUnknown', { field: other })
  return records
}

export async function writeListed(exchange: Exchange, verb: BulkVerb, given: readonly unknown[]): Promise<RestReply> {
  const { cluster, behaviour, match, resource, asked } = exchange
  const { face, request, caller } = asked
  const args = bulkArguments(resource, asked.query, asked.dialect, behaviour[verb]?.args)
  await insistOnParents(cluster, behaviour, match.pathValues)
  if (verb === 'create' && [...resource.fields.values()].some(({ shownOnce }) => shownOnce)) {
    throw failure('secretInList')
  }
  const records = given.map((record, at) => within(at, () => recordOf(exchange, verb, record, args.args)))
  exchange.attempt.isNoted = true
  const job = await face.actions.bulk.submit({
    behaviour,
    verb,
    records,
    path: match.pathValues,
    args: args.args,
    caller,
    description: `${request.method} ${asked.path}`,
    continueOnFailure: args.continueOnFailure,
    isSerial: args.isSerial,
    insistOn: (row) => exchange.insistOn(row),
  })
  const uuid = job['uuid']
  const ended = await face.actions.jobs.wait(uuid, args.returnTimeoutSeconds * 1000)
  if (ended['state'] === 'failure') throw failureOf(ended)
  const results = `${exchange.collection}?job_results_uuid=${uuid}`
  return {
    status: isActive(ended) || args.returnTimeoutSeconds === 0 ? 202 : verb === 'create' ? 201 : 200,
    headers: { ...exchange.headers(), location: results },
    body: { job: { uuid, _links: { self: { href: jobPath(uuid) }, results: { href: results } } } },
  }
}

function recordOf(exchange: Exchange, verb: BulkVerb, given: unknown, args: Row): BulkRecord {
  const { request, path, dialect } = exchange.asked
  if (!isRecord(given)) throw failure('recordNotObject')
  if (verb === 'create') {
    return {
      draft: newDraft(exchange, given, dialect.bucketSizeBytes),
      instance: [],
      description: `${request.method} ${path}`,
    }
  }
  const { instance, rest } = keyed(exchange, given)
  const words = instance.map((word) => encodeURIComponent(word)).join('/')
  const description = `${request.method} ${exchange.collection}/${words}`
  if (verb === 'modify') {
    const draft = changes(exchange, rest)
    if (changesNothing(draft, args)) throw failure('nothingToApply')
    return { draft, instance, description }
  }
  const other = Object.keys(rest).find((name) => name !== '_links')
  if (other !== undefined) throw failure('fieldUnknown', { field: other })
  return { draft: {}, instance, description }
}

/** A record divided into the words that lead to it, and what is said of it. Keys may be nested or dotted. */
function keyed({ resource, match }: Exchange, given: Readonly<Record<string, unknown>>) {
  const rest: Record<string, unknown> = { ...given }
  const take = (key: string): unknown => {
    const [first = '', ...inner] = key.split('.')
    const [holder, name] = Object.hasOwn(rest, key) ? [rest, key] : [rest[first], inner.join('.')]
    if (!isRecord(holder)) return undefined
    const value = holder[name]
    if (holder === rest) delete rest[key]
    else rest[first] = Object.fromEntries(Object.entries(holder).filter(([each]) => each !== name))
    return value
  }
  for (const key of resource.pathKeys) {
    const value = take(key)
    if (value !== undefined && value !== match.pathValues[key]) {
      throw failure('keyMismatch', { field: key })
    }
  }
  const instance = resource.key.map((key) => {
    const value = take(key)
    if (typeof value === 'string' || typeof value === 'number') return textOf(value)
    throw failure('fieldRequired', { field: key })
  })
  const whole = Object.entries(rest).filter(([, value]) => !isRecord(value) || Object.keys(value).length > 0)
  return { instance, rest: Object.fromEntries(whole) }
}

/** A failure in a record of the list says which one. */
function within<Result>(at: number, act: () => Result): Result {
  try {
    return act()
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    const { kind, code, message, target, givens } = cause
    const place = `records[${at}]`
    throw new Failure(kind, code, `${place}: ${message}`, {
      target: target === undefined ? place : `${place}.${target}`,
      givens: [place, ...givens],
      cause,
    })
  }
}

/** What became of the records of a job: those that it made, changed or deleted, and the failures of the others. */
export async function getResults(exchange: Exchange, uuid: string): Promise<RestReply> {
  const { cluster, behaviour, resource, asked } = exchange
  const job = await cluster.find(JOBS, uuid)
  const isBulk = job?.$verb.startsWith('bulk ') === true && job.$type === resource.type
  if (job === undefined || !isBulk) throw failure('jobNotFound')
  const query = new URLSearchParams([...asked.query].filter(([name]) => name !== 'job_results_uuid'))
  const { fields } = readArguments(
    resource,
    query,
    { ...asked.dialect, fieldsByDefault: 'keys' },
    cluster.release,
    true,
  )
  const outcomes = [...(await outcomesOf(cluster, job.$key)).values()]
  const rollbackErrors = outcomes.flatMap(({ rollbackError }) => (rollbackError === undefined ? [] : [rollbackError]))
  const done = outcomes.filter(({ error, isUndone }) => error === undefined && isUndone !== true)
  const rows: Row[] = []
  for await (const some of inTurns(cluster.system, done)) {
    for (const { key } of some) {
      const row = await cluster.find(resource.rowsOf, key)
      const [derived] = row === undefined ? [] : await derive(cluster, behaviour, [row], fields)
      rows.push(derived ?? { ...exchange.match.pathValues, ...keyOf(resource, key) })
    }
  }
  const print = (error: Parameters<typeof failureFrom>[0]): Json =>
    printFailure(failureFrom(error), asked.dialect, asked.request.headers)
  const errors = outcomes.flatMap(({ error }) => (error === undefined ? [] : [print(error)]))
  return {
    status: 200,
    headers: exchange.headers(),
    body: {
      records: rows.map(exchange.printer(fields)),
      num_records: rows.length,
      ...(errors.length === 0 ? {} : { errors }),
      ...(rollbackErrors.length === 0 ? {} : { rollback_errors: rollbackErrors.map(print) }),
      ...(exchange.links === 'none' ? {} : { _links: { self: { href: asked.request.target } } }),
    },
  }
}
