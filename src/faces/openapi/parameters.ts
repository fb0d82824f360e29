/** Query and path parameters of the OpenAPI document. */
import { argumentsOf } from '../../model/arguments.ts'
import { kindAt } from '../../model/kinds/at-release.ts'
import { docWithWords } from '../../model/kinds/kind.ts'
import { isServed, type Release } from '../../model/release.ts'
import { fieldAt, type Fields, type Resource } from '../../model/resource.ts'
import type { Json, Row } from '../../model/value.ts'
import { sampleOf } from './examples.ts'

export function queryArgument(
  name: string,
  description: string,
  schema: Json = { type: 'string' },
  example?: Json,
): Json {
  return { name, in: 'query', description, schema, ...(example === undefined ? {} : { example }) }
}

/** Arguments that a verb or a read declares. */
export function ownQuery(declared: Fields | undefined, release: Release, examples: Row = {}): Json[] {
  return [...argumentsOf(declared).values()].map((argument) => {
    const { path, doc, default: usual } = argument
    const kind = kindAt(argument.kind, release)
    const schema = { ...kind.schema, ...(usual === undefined ? {} : { default: kind.print(usual) }) }
    const example = examples[path]
    return queryArgument(path, docWithWords(doc, kind), schema, example === undefined ? undefined : kind.print(example))
  })
}

/** The keys in a path: those of what the resource lies in, or its own. */
export function pathParameters(resource: Resource, keys: readonly string[]): Json[] {
  return [...new Set(keys)].map((name) => {
    const own = resource.key.includes(name) ? fieldAt(resource, name) : undefined
    const isUuid = name.split('.').at(-1) === 'uuid'
    return {
      name: name.replaceAll('.', '_'),
      in: 'path',
      required: true,
      description: own?.field.doc ?? `Addresses what the ${resource.noun} belongs to: its ${name}.`,
      schema: isUuid ? { type: 'string', format: 'uuid' } : { type: 'string' },
      example: sampleOf(name),
    }
  })
}

/** `fields`, with some of the resource as the example. */
export function fieldsArgument(resource: Resource, release: Release): Json {
  const shown = [...resource.fields.values()].filter(
    ({ since, kind, shownOnce }) => isServed(since, release) && kind.isSecret !== true && !shownOnce,
  )
  return queryArgument(
    'fields',
    'Fields to return, as dotted paths separated by commas. `*` returns all fields that are cheap to read, `**` all fields.',
    undefined,
    shown
      .slice(0, 3)
      .map(({ path }) => path)
      .join(','),
  )
}

const LENIENT = queryArgument('ignore_unknown_fields', '`true` ignores unknown names in `fields`.', {
  type: 'boolean',
})

const PAGE_SIZE: Json = { type: 'integer', minimum: 1, maximum: 10_000 }

const PAGE: readonly Json[] = [
  queryArgument('max_records', 'Largest number of records in a page.', PAGE_SIZE),
  queryArgument('limit', 'Alias of `max_records`.', PAGE_SIZE),
  queryArgument('offset', 'Number of records to skip.', { type: 'integer', minimum: 0 }),
  queryArgument('order_by', 'Fields to sort by, separated by commas; append ` desc` to a field to reverse it.'),
  queryArgument('return_records', '`false` returns only the number of records.', { type: 'boolean' }),
  queryArgument(
    'query',
    'Words to search for in the fields of `query_fields`: a blank means "and", `|` means "or", `*` matches any text.',
  ),
  queryArgument('query_fields', 'Fields that `query` searches, separated by commas, or `*`.'),
  queryArgument('job_results_uuid', 'UUID of the job of a write of many records: returns the result of each.', {
    type: 'string',
    format: 'uuid',
  }),
]

const MANY: readonly Json[] = [
  queryArgument('continue_on_failure', '`true` continues with the next record when one fails.', { type: 'boolean' }),
  queryArgument('serial_records', '`true` completes each record before the next one starts.', { type: 'boolean' }),
  queryArgument('max_records', 'Largest number of records to write.', PAGE_SIZE),
  queryArgument('order_by', 'Fields that say in which order the records are written.'),
]

const WRITE: readonly Json[] = [
  queryArgument('return_timeout', 'Seconds to wait for the job before the answer is 202.', {
    type: 'integer',
    minimum: 0,
    maximum: 120,
  }),
  queryArgument('return_records', '`true` returns the records that were written.', { type: 'boolean' }),
]

const nameIn = (kind: string, argument: Json) => `${kind}_${(argument as { name: string }).name}`
const refs = (kind: string, shared: readonly Json[]): Json[] =>
  shared.map((argument) => ({ $ref: `#/components/parameters/${nameIn(kind, argument)}` }))

export const READ_QUERY = refs('read', [LENIENT])
export const PAGE_QUERY = refs('page', PAGE)
export const MANY_QUERY = refs('many', MANY)
export const WRITE_QUERY = refs('write', WRITE)

/** Parameters that operations of all resources share. */
export const SHARED_PARAMETERS: Record<string, Json> = Object.fromEntries(
  Object.entries({ read: [LENIENT], page: PAGE, many: MANY, write: WRITE }).flatMap(([kind, shared]) =>
    shared.map((argument) => [nameIn(kind, argument), argument]),
  ),
)
