/** POST of a command: makes a record, or a part of one that is there without it. */
import { failure } from '../../model/failure.ts'
import { createRecord } from '../requests/writes.ts'
import type { RestReply } from '../rest/answer.ts'
import { Exchange } from '../rest/exchange.ts'
import { writtenReply } from '../rest/write-one.ts'
import { find } from './change.ts'
import { collections, parentOf } from './collections.ts'
import { givenOf, setting } from './given.ts'
import { type CommandQuery, filtersOf, literal, type Said } from './query.ts'
import { type Reach, WAIT_SECONDS } from './reach.ts'
import type { Part } from './spelling.ts'

export async function create(reach: Reach, query: CommandQuery): Promise<RestReply> {
  const { command } = query
  const given = givenOf(command, reach.request)
  const parent = parentOf(command, reach)
  const [collection, ...others] = await collections(reach, query, literally(given))
  if (collection === undefined || others.length > 0) {
    const base = parent?.base ?? 'name'
    if (given[`${base}.name`] === undefined) throw failure('fieldRequired', { field: base })
    throw base === 'svm' ? failure('svmNotFound') : failure('recordNotFound', { noun: base }, { target: base })
  }
  // The path says these.
  const inPath = parent === undefined ? [] : [`${parent.base}.name`, 'svm.name']
  const fields = Object.fromEntries(Object.entries(given).filter(([path]) => !inPath.includes(path)))
  const { letIn, request } = reach
  const { bucketSizeBytes, createShowsRecords } = letIn.dialect
  return reach.admitting('POST', command.resource, collection, async (admission) => {
    const manner = { args: {}, waitSeconds: WAIT_SECONDS, bucketSizeBytes }
    const written = await createRecord(admission, fields, manner)
    // What was made is answered in the words of the REST interface.
    const asked = { ...letIn, request, path: admission.collection, query: new URLSearchParams() }
    const args = { returnRecords: createShowsRecords, returnTimeoutSeconds: WAIT_SECONDS }
    return writtenReply(new Exchange(asked, admission), written, args, 'create')
  })
}

/** The body says which record the part is of. */
export async function createPart(reach: Reach, query: CommandQuery, { set }: Part): Promise<RestReply> {
  const { command } = query
  const given = givenOf(command, reach.request)
  const isKey = new Set(command.names.keys.map(([, meaning]) => meaning))
  const plain = literally(given).filter(({ path }) => isKey.has(path))
  const [whole] = await find(reach, query, { plain, conditions: [] })
  if (whole === undefined) throw failure('recordNotFound', { noun: command.resource.noun })
  const { conditions } = filtersOf(command, [])
  if ((await find(reach, query, { plain, conditions })).length > 0) {
    throw failure('partNameTaken', { part: command.words.at(-1) ?? 'part' })
  }
  const fields = Object.fromEntries(Object.entries(given).filter(([path]) => !isKey.has(path)))
  await reach.change('PATCH', command.resource, whole, setting(command, set, fields))
  return { status: 201, headers: {}, body: { num_records: 1 } }
}

/** Filters that mean just what is given. */
function literally(given: Readonly<Record<string, unknown>>): Said[] {
  return Object.entries(given).map(([path, value]) => ({ name: path, path, expression: literal(value) }))
}
