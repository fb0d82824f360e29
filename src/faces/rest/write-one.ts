/** POST, PUT, PATCH and DELETE of one record. */
import type { VerbName } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { failureOf, isActive } from '../../core/jobs.ts'
import type { Performed } from '../../core/perform.ts'
import { derive } from '../../core/derive.ts'
import { findInstance, insistOnParents } from '../../core/read.ts'
import { failure } from '../../model/failure.ts'
import { selectFields } from '../../model/fields.ts'
import type { Field, Resource } from '../../model/resource.ts'
import { flatten, nester } from '../../model/shape.ts'
import { type Json, type Row, textAt, textOf, type Value } from '../../model/value.ts'
import type { RestReply } from './answer.ts'
import { changeArguments, writeArguments, type WriteArguments } from './arguments.ts'
import type { Exchange } from './exchange.ts'
import { jobPath } from './links.ts'
import { recordPath } from '../../model/paths.ts'
import { inScope } from './svm-scope.ts'

export async function createOne(exchange: Exchange, body: unknown): Promise<RestReply> {
  const { cluster, behaviour, match, resource, asked } = exchange
  const args = writeArguments(resource, asked.query, asked.dialect, behaviour.create?.args ?? {})
  await insistOnParents(cluster, behaviour, match.pathValues)
  const draft = newDraft(exchange, body)
  return written(exchange, await exchange.perform('create', { draft, args: args.args }), args, 'create')
}

export async function changeOne(exchange: Exchange, verb: 'modify' | 'remove', body: unknown): Promise<RestReply> {
  const { cluster, behaviour, match, resource, asked } = exchange
  const args = changeArguments(resource, asked.query, asked.dialect, cluster.release, behaviour[verb]?.args ?? {})
  const row = await findInstance(cluster, behaviour, match.pathValues, match.instance)
  if (row === undefined) throw failure('recordNotFound', { noun: resource.noun }, { target: resource.key[0] })
  await exchange.insistOn(row, args.filters)
  const draft = verb === 'modify' ? await changesOf(exchange, body, row) : {}
  // Tools send what they found different, which may be nothing that is here: there is nothing to do, and no job to run.
  if (verb === 'modify' && changesNothing(draft, args.args)) {
    return { status: 200, headers: exchange.headers(), body: {} }
  }
  return written(exchange, await exchange.perform(verb, { draft, row, args: args.args }), args, verb)
}

/** A new record as a body asks for it. */
export function newDraft(exchange: Exchange, body: unknown): Row {
  const { resource, cluster, scope, match, asked } = exchange
  const isSizeless = resource.rowsOf === 'protocols/s3/buckets' && isObject(body) && !('size' in body)
  const given = isSizeless ? { ...body, size: asked.dialect.bucketSizeBytes } : body
  return inScope(resource, scope, flatten(resource, given, 'create', cluster.release), match.pathValues)
}

/** What a body asks to be changed of records that a query chooses, or a list names. */
export function changes({ resource, cluster }: Exchange, body: unknown): Row {
  return flatten(resource, body, 'modify', cluster.release)
}

export function changesNothing(draft: Row, args: Readonly<Record<string, string>>): boolean {
  return Object.keys(draft).length === 0 && Object.keys(args).length === 0
}

/** What a body asks to be changed of one record. It may repeat the record's keys: some tools name what the path names. */
async function changesOf({ cluster, resource }: Exchange, body: unknown, row: Row): Promise<Row> {
  const keys = new Set(
    [...resource.pathKeys, ...resource.key].flatMap((key) => {
      const { reference } = resource.fields.get(key) ?? {}
      return reference?.part === 'uuid' ? [key, `${reference.base}.name`] : [key]
    }),
  )
  const draft: Record<string, Value> = flatten(resource, body, 'modify', cluster.release, keys)
  for (const key of keys) {
    const field = resource.fields.get(key)
    const given = draft[key]
    if (field === undefined || given === undefined || field.set === 'always' || field.set === 'modify') continue
    if (textOf(given) !== textOf(await keptValue(cluster, field, row)))
      throw failure('fieldNotModifiable', { field: key })
    delete draft[key]
  }
  return draft
}

async function keptValue(cluster: Cluster, { path, reference }: Field, row: Row): Promise<Value> {
  if (reference?.part !== 'name') return row[path] ?? ''
  return (await cluster.find(reference.type, textAt(row, `${reference.base}.uuid`)))?.['name'] ?? ''
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

async function written(
  exchange: Exchange,
  performed: Performed,
  args: WriteArguments,
  verb: VerbName,
): Promise<RestReply> {
  const { cluster, behaviour, match, resource, asked } = exchange
  const { dialect } = asked
  const { job } = performed
  const ended =
    job === undefined
      ? undefined
      : await asked.face.actions.jobs.wait(textAt(job, 'uuid'), args.returnTimeoutSeconds * 1000)
  if (ended?.['state'] === 'failure') throw failureOf(ended)
  const isDone = ended === undefined || !isActive(ended)
  const row =
    verb === 'remove'
      ? undefined
      : behaviour.rows === undefined
        ? await cluster.find(resource.rowsOf, performed.key)
        : await findInstance(cluster, behaviour, match.pathValues, instanceOf(resource, performed.key))
  const body: Record<string, Json> = {}
  const headers = exchange.headers()
  if (job !== undefined) {
    const uuid = textAt(job, 'uuid')
    body['job'] = { uuid, _links: { self: { href: jobPath(uuid) } } }
    if (!isDone) headers['location'] = jobPath(uuid)
  }
  // What is not made yet has its key already, and what was asked for.
  const isPromised = verb === 'create' && job !== undefined
  const shown = row ?? (isPromised ? { ...performed.draft, ...keyOf(resource, performed.key) } : undefined)
  // What is shown once is shown in any case: the answer is the only place that has it.
  const isShown = verb === 'create' && (args.returnRecords || resource.createMethod === 'PUT')
  if (shown !== undefined && (isShown || Object.keys(performed.reveal).length > 0)) {
    const fields = selectFields(resource, ['*'], cluster.release)
    for (const revealed of Object.keys(performed.reveal)) fields.add(revealed)
    const [derived = shown] = row === undefined ? [] : await derive(cluster, behaviour, [row], fields)
    const record = exchange.printer(fields)({ ...derived, ...performed.reveal })
    Object.assign(body, resource.createMethod === 'PUT' ? record : { num_records: 1, records: [record] })
  }
  // What leaves no record behind has its answer alone.
  const revealed = new Set(Object.keys(performed.reveal))
  if (shown === undefined && revealed.size > 0) {
    Object.assign(body, { num_records: 1, records: [nester(resource, revealed)(performed.reveal)] })
  }
  if (shown !== undefined && verb === 'create' && (isDone || dialect.location === 'resource')) {
    headers['location'] = recordPath(resource, exchange.collection, shown)
  }
  const created = verb === 'create' && !performed.wasDone ? 201 : 200
  return { status: isDone && !(job !== undefined && args.returnTimeoutSeconds === 0) ? created : 202, headers, body }
}

/** The words of a path that lead to a record, by its key. */
function instanceOf(resource: Resource, key: string): string[] {
  return resource.key.length === 1 ? [key] : key.split('/')
}

/** The fields of the key of a record. */
export function keyOf(resource: Resource, key: string): Row {
  const { recordKey } = resource
  if (recordKey.length === 1) return { [recordKey[0] ?? 'uuid']: key }
  const parts = key.split('/')
  return Object.fromEntries(recordKey.map((path, at) => [path, parts[at] ?? '']))
}
