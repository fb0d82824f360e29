/** The OpenAPI 3.1 document, derived from the declarations: nothing in it is written by hand twice. */
import type { Behaviour } from '../../core/behaviour.ts'
import { BULK_RECORDS_MAX } from '../../core/bulk.ts'
import type { Cluster } from '../../core/cluster.ts'
import type { Verb } from '../../core/verb.ts'
import { isServed, printRelease, type Release } from '../../model/release.ts'
import type { Field, Resource } from '../../model/resource.ts'
import { place } from '../../model/shape.ts'
import type { Json } from '../../model/value.ts'

type Document = Record<string, Json>

export function openApi(cluster: Cluster): Document {
  const { release } = cluster
  const served = [...cluster.behaviours.values()].filter(({ resource }) => isServed(resource.since, release))
  const paths: Record<string, Document> = {}
  const schemas: Record<string, Json> = { error: ERROR, job_link: JOB_LINK }
  for (const behaviour of served) {
    const { resource } = behaviour
    schemas[schemaName(resource)] = recordSchema(resource, release, () => true)
    if (behaviour.create !== undefined)
      schemas[`${schemaName(resource)}_create`] = draftSchema(resource, release, 'create')
    if (behaviour.modify !== undefined)
      schemas[`${schemaName(resource)}_modify`] = draftSchema(resource, release, 'modify')
    for (const path of [resource.path, ...resource.aliases]) Object.assign(paths, pathsOf(behaviour, path))
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast management interface',
      version: printRelease(release),
      description:
        'Derived from the declarations of the resources. Any field of a record is a query argument too, as a filter: `size=>1g`, `name=vol*|db*`, `state=!online`, `comment=null`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api' }],
    security: [{ basic: [] }, { key: [] }],
    tags: [...new Set(served.map(({ resource }) => tagOf(resource)))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' }, key: { type: 'http', scheme: 'bearer' } },
      schemas,
      responses: {
        error: {
          description: 'Why it failed.',
          content: { 'application/hal+json': { schema: { $ref: '#/components/schemas/error' } } },
        },
      },
    },
  }
}

function pathsOf(behaviour: Behaviour, path: string): Record<string, Document> {
  const { resource } = behaviour
  const name = schemaName(resource)
  const record: Document = { $ref: `#/components/schemas/${name}` }
  const common = { tags: [tagOf(resource)] }
  const parents = parameters(resource.pathKeys)
  const idOf = (verb: string) => `${verb}_${path.slice(1).replaceAll(/[^A-Za-z0-9]+/g, '_')}`
  const read = (of: Document, doc: string, id: string, query: readonly Json[]): Document => ({
    ...common,
    operationId: idOf(id),
    summary: doc,
    parameters: query,
    responses: { 200: answer(doc, of), default: FAILED },
  })
  const write = (verb: Verb, method: 'create' | 'modify' | 'remove'): Document => ({
    ...common,
    operationId: idOf(method),
    summary: `${method === 'create' ? 'Make' : method === 'modify' ? 'Change' : 'Delete'} a ${resource.noun}`,
    parameters: [...WRITE_QUERY, ...ownQuery(verb.args)],
    ...(method === 'remove'
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: { $ref: `#/components/schemas/${name}_${method}` },
                ...(verb.example === undefined ? {} : { example: verb.example as Json }),
              },
            },
          },
        }),
    responses: {
      [method === 'create' ? 201 : 200]: answer('Done.', method === 'create' ? page(record) : { type: 'object' }),
      ...(verb.isJob !== false
        ? { 202: answer('Accepted: poll the job.', { $ref: '#/components/schemas/job_link' }) }
        : {}),
      default: FAILED,
    },
  })

  const changeMany = (verb: Verb, method: 'modify' | 'remove'): Document => ({
    ...common,
    operationId: idOf(`${method}_many`),
    summary: `${method === 'modify' ? 'Change' : 'Delete'} those that the query chooses, or that the body lists`,
    parameters: [...WRITE_QUERY, ...MANY_QUERY, ...ownQuery(verb.args)],
    requestBody: {
      required: method === 'modify',
      content: {
        'application/json': { schema: manyBody(method === 'modify' ? `${name}_modify` : undefined) },
      },
    },
    responses: {
      200: answer('Done.', changed(record)),
      202: answer('Accepted: poll the jobs.', changed(record)),
      default: FAILED,
    },
  })

  if (resource.isSingleton) {
    return {
      [path]: {
        parameters: parents,
        get: read(record, resource.doc, 'get', [FIELDS, LENIENT]),
        ...(behaviour.modify === undefined ? {} : { patch: write(behaviour.modify, 'modify') }),
      },
    }
  }
  return {
    [path]: {
      parameters: parents,
      get: read(page(record), resource.doc, 'list', [FIELDS, LENIENT, ...PAGE_QUERY, ...ownQuery(behaviour.readArgs)]),
      ...(behaviour.create === undefined
        ? {}
        : { [resource.createMethod.toLowerCase()]: write(behaviour.create, 'create') }),
      ...(behaviour.modify === undefined ? {} : { patch: changeMany(behaviour.modify, 'modify') }),
      ...(behaviour.remove === undefined ? {} : { delete: changeMany(behaviour.remove, 'remove') }),
    },
    [`${path}/${resource.key.map((key) => `{${key}}`).join('/')}`]: {
      parameters: parameters([...resource.pathKeys, ...resource.key]),
      get: read(record, `One ${resource.noun}.`, 'get', [FIELDS, LENIENT]),
      ...(behaviour.modify === undefined ? {} : { patch: write(behaviour.modify, 'modify') }),
      ...(behaviour.remove === undefined ? {} : { delete: write(behaviour.remove, 'remove') }),
    },
  }
}

function recordSchema(
  resource: Resource,
  release: Release,
  wanted: (field: Field) => boolean,
  purpose?: 'create' | 'modify',
): Document {
  const root: Record<string, Json> = {}
  const required: string[] = []
  for (const field of resource.fields.values()) {
    if (!isServed(field.since, release) || !wanted(field)) continue
    const path = field.path.split('.').join('.properties.')
    const description = field.since === undefined ? field.doc : `${field.doc} Since ${field.since}.`
    place(root, path, {
      ...field.kind.schema,
      description,
      ...(field.set === 'never' ? { readOnly: true } : {}),
      ...(field.default === undefined ? {} : { default: field.kind.print(field.default) }),
    })
    if (field.isRequired && purpose === 'create') required.push(field.path.split('.')[0] ?? field.path)
  }
  return {
    type: 'object',
    description: resource.doc,
    ...(required.length === 0 ? {} : { required }),
    properties: typed(root),
  }
}

function draftSchema(resource: Resource, release: Release, purpose: 'create' | 'modify'): Document {
  return recordSchema(resource, release, (field) => field.set === 'always' || field.set === purpose, purpose)
}

/** Objects that only hold properties are said to be objects. */
function typed(properties: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const inner = (schema as Document)['properties']
      const isGroup = inner !== undefined && (schema as Document)['type'] === undefined
      return [name, isGroup ? { type: 'object', properties: typed(inner as Record<string, Json>) } : schema]
    }),
  )
}

function schemaName(resource: Resource): string {
  return resource.type.replaceAll(/\{[^}]*\}/g, '').replaceAll(/[^A-Za-z0-9]+/g, '_')
}

function tagOf(resource: Resource): string {
  return resource.type.split('/')[0] ?? resource.type
}

function parameters(keys: readonly string[]): Json[] {
  return [...new Set(keys)].map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
}

function ownQuery(args: Readonly<Record<string, string>> = {}): Json[] {
  return Object.entries(args).map(([argument, doc]) => queryArgument(argument, doc))
}

function queryArgument(name: string, description: string, schema: Json = { type: 'string' }): Json {
  return { name, in: 'query', description, schema }
}

function answer(description: string, schema: Json): Json {
  return { description, content: { 'application/hal+json': { schema } } }
}

function page(record: Json): Document {
  return {
    type: 'object',
    properties: {
      records: { type: 'array', items: record },
      num_records: { type: 'integer' },
      _links: { type: 'object', properties: { next: { type: 'object', properties: { href: { type: 'string' } } } } },
    },
  }
}

/** What is said of those that a query chooses; or records, each with its key. */
function manyBody(modify: string | undefined): Document {
  const listed: Document = {
    type: 'object',
    properties: { records: { type: 'array', maxItems: BULK_RECORDS_MAX, items: { type: 'object' } } },
  }
  return modify === undefined ? listed : { anyOf: [{ $ref: `#/components/schemas/${modify}` }, listed] }
}

function changed(record: Json): Document {
  return {
    type: 'object',
    properties: {
      num_records: { type: 'integer' },
      jobs: { type: 'array', items: { type: 'object', properties: { uuid: { type: 'string', format: 'uuid' } } } },
      records: { type: 'array', items: record },
      job: { type: 'object', properties: { uuid: { type: 'string', format: 'uuid' } } },
    },
  }
}

const FAILED: Json = { $ref: '#/components/responses/error' }

const ERROR: Json = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      required: ['message', 'code'],
      properties: {
        message: { type: 'string', description: 'What went wrong, for people.' },
        code: { type: ['integer', 'string'], description: 'A stable number; as text for clients that need it so.' },
        target: { type: 'string', description: 'The field or object concerned.' },
        arguments: {
          type: 'array',
          description: 'What stands in the message from case to case, where X-Dot-Error-Arguments is true.',
          items: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } },
        },
      },
    },
  },
}

const JOB_LINK: Json = {
  type: 'object',
  properties: { job: { type: 'object', properties: { uuid: { type: 'string', format: 'uuid' } } } },
}

const FIELDS = queryArgument(
  'fields',
  'The fields to show, with dots, separated by commas; `*` for all that are cheap, `**` for all.',
)

const LENIENT = queryArgument('ignore_unknown_fields', 'true: names in `fields` that nothing has are passed over.', {
  type: 'boolean',
})

const PAGE_QUERY: readonly Json[] = [
  queryArgument('max_records', 'Records of a page.', { type: 'integer', minimum: 1, maximum: 10_000 }),
  queryArgument('limit', 'The same as max_records.', { type: 'integer', minimum: 1, maximum: 10_000 }),
  queryArgument('offset', 'Records to pass over.', { type: 'integer', minimum: 0 }),
  queryArgument('order_by', 'Fields to sort by, each with ` desc` where wanted.'),
  queryArgument('return_records', 'false: only count.', { type: 'boolean' }),
  queryArgument(
    'query',
    'Words to look for in the fields of `query_fields`: a blank is "and", `|` is "or", `*` any text.',
  ),
  queryArgument('query_fields', 'The fields that `query` looks into, or `*`.'),
  queryArgument('job_results_uuid', 'The job of a write of many records: shows what became of each.'),
]

const MANY_QUERY: readonly Json[] = [
  queryArgument('continue_on_failure', 'true: goes on with the others when one fails.', { type: 'boolean' }),
  queryArgument('serial_records', 'true: each is done before the next is begun.', { type: 'boolean' }),
  queryArgument('max_records', 'Records to change at once.', { type: 'integer', minimum: 1, maximum: 10_000 }),
  queryArgument('order_by', 'The order in which they are changed.'),
]

const WRITE_QUERY: readonly Json[] = [
  queryArgument('return_timeout', 'Seconds to wait for the job, 0 to 120.', {
    type: 'integer',
    minimum: 0,
    maximum: 120,
  }),
  queryArgument('return_records', 'Whether to show what was made.', { type: 'boolean' }),
]
