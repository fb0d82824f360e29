/** POST, PUT, PATCH and DELETE of one record. */
import type { VerbName } from '../../core/behaviour.ts'
import { derive } from '../../core/read/derive.ts'
import { findInstance } from '../../core/read/read.ts'
import { selectFields } from '../../model/fields.ts'
import { recordPath } from '../../model/paths.ts'
import type { Resource } from '../../model/resource.ts'
import { nester } from '../../model/shape.ts'
import type { Json, Row } from '../../model/value.ts'
import { changeRecord, createRecord, type Written } from '../requests/writes.ts'
import type { RestReply } from './answer.ts'
import { changeArguments, writeArguments, type WriteArguments } from './arguments.ts'
import type { Exchange } from './exchange.ts'
import { jobPath } from './links.ts'

export async function createOne(exchange: Exchange, body: unknown): Promise<RestReply> {
  const { behaviour, resource, asked } = exchange
  const args = writeArguments(resource, asked.query, asked.dialect, behaviour.create?.args)
  const { bucketSizeBytes } = asked.dialect
  return writtenReply(
    exchange,
    await createRecord(exchange, body, { ...mannerOf(args), bucketSizeBytes }),
    args,
    'create',
  )
}

export async function changeOne(exchange: Exchange, verb: 'modify' | 'remove', body: unknown): Promise<RestReply> {
  const { cluster, behaviour, resource, asked } = exchange
  const args = changeArguments(resource, asked.query, asked.dialect, cluster.release, behaviour[verb]?.args)
  const written = await changeRecord(exchange, verb, body, { ...mannerOf(args), filters: args.filters })
  if (written === undefined) return { status: 200, headers: exchange.headers(), body: {} }
  return writtenReply(exchange, written, args, verb)
}

const mannerOf = ({ args, returnTimeoutSeconds }: WriteArguments) => ({ args, waitSeconds: returnTimeoutSeconds })

/** What a verb that was called says to its client. */
export async function writtenReply(
  exchange: Exchange,
  { performed, isDone }: Written,
  args: Pick<WriteArguments, 'returnRecords' | 'returnTimeoutSeconds'>,
  verb: VerbName,
): Promise<RestReply> {
  const { cluster, behaviour, match, resource, asked } = exchange
  const { dialect } = asked
  const { job } = performed
  const row =
    verb === 'remove'
      ? undefined
      : behaviour.rows === undefined
        ? await cluster.find(resource.rowsOf, performed.key)
        : await findInstance(cluster, behaviour, match.pathValues, instanceOf(resource, performed.key))
  const body: Record<string, Json> = {}
  const headers = exchange.headers()
  if (job !== undefined) {
    const uuid = job['uuid']
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
