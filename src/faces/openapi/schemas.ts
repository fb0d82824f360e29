/** Schemas of the OpenAPI document: records and drafts from the declarations, and the envelopes that answers come in. */
import { dangerOf } from '../../core/action.ts'
import type { Behaviour } from '../../core/behaviour.ts'
import { BULK_RECORDS_MAX } from '../../core/jobs/bulk.ts'
import type { Danger } from '../../model/facts.ts'
import { isServed, type Release } from '../../model/release.ts'
import { type Field, fieldAt, type Resource } from '../../model/resource.ts'
import { place } from '../../model/shape.ts'
import { docWithWords, type JsonSchema } from '../../model/kinds/kind.ts'
import { isRecord, type Json } from '../../model/value.ts'

export type Document = Record<string, Json>

export function schemaName(resource: Resource): string {
  return resource.type.replaceAll(/\{[^}]*\}/g, '').replaceAll(/[^A-Za-z0-9]+/g, '_')
}

export function schemaOf(name: string): Document {
  return { $ref: `#/components/schemas/${name}` }
}

export function recordSchema(behaviour: Behaviour, release: Release): Document {
  const { resource } = behaviour
  const dangerAt = (field: Field) => dangerOf(behaviour, field)
  return { ...schemaWith(resource, release, () => true, dangerAt), ...listed(resource, release) }
}

/** What faces need to list records and to ask for new ones. */
function listed(resource: Resource, release: Release): Document {
  const { columns, form, labels } = resource
  const served = (paths: readonly string[]) =>
    paths.filter((path) => isServed(fieldAt(resource, path)?.field.since, release))
  const parts = Object.entries(form).map(([title, fields]): Json => ({ title, fields: served(fields) }))
  return {
    'x-label': labels.one,
    'x-label-many': labels.many,
    ...(resource.isSingleton ? {} : { 'x-columns': served(columns) }),
    ...(parts.length === 0 ? {} : { 'x-form': parts }),
  }
}

/** What faces need to show one field. */
function facts({ label, when }: Field, danger: Danger | undefined): Document {
  return {
    'x-label': label,
    ...(when === undefined ? {} : { 'x-when': { ...when } }),
    ...(danger === undefined ? {} : { 'x-danger': danger }),
  }
}

export function draftSchema(resource: Resource, release: Release, purpose: 'create' | 'modify'): Document {
  return schemaWith(resource, release, (field) => field.set === 'always' || field.set === purpose, purpose)
}

function schemaWith(
  resource: Resource,
  release: Release,
  isWanted: (field: Field) => boolean,
  purpose: 'create' | 'modify' | ((field: Field) => Danger | undefined),
): Document {
  const root: Record<string, Json> = {}
  const required = new Set<string>()
  for (const field of resource.fields.values()) {
    if (!isServed(field.since, release) || !isWanted(field)) continue
    const path = field.path.split('.').join('.properties.')
    const doc = docWithWords(field.doc, field.kind)
    const description = field.since === undefined ? doc : `${doc} Since ${field.since}.`
    place(root, path, {
      ...(typeof purpose === 'string' ? field.kind.schema : shown(field.kind.schema)),
      description,
      ...(typeof purpose === 'string' ? {} : facts(field, purpose(field))),
      ...(field.set === 'never' ? { readOnly: true } : {}),
      ...(field.default === undefined ? {} : { default: field.kind.print(field.default) }),
    })
    if (field.isRequired && purpose === 'create') required.add(field.path.split('.')[0] ?? field.path)
  }
  return {
    type: 'object',
    description: resource.doc,
    ...(required.size === 0 ? {} : { required: [...required] }),
    properties: typed(root, resource.groups),
  }
}

/** A schema without what only binds those who set a value: what the cluster made itself may be empty, or spelled otherwise. */
function shown(schema: JsonSchema): JsonSchema {
  const { pattern: _pattern, minLength: _minLength, items, properties, ...rest } = schema
  const members = Object.entries(isRecord(properties) ? properties : {})
  return {
    ...rest,
    ...(isRecord(items) ? { items: shown(items) } : {}),
    ...(isRecord(properties)
      ? { properties: Object.fromEntries(members.map(([name, member]) => [name, shown(member as JsonSchema)])) }
      : {}),
  }
}

/** Objects that only hold properties are said to be objects, and what their properties are together. */
function typed(properties: Record<string, Json>, groups: ReadonlyMap<string, string>, base = ''): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const inner = (schema as Document)['properties']
      const isGroup = inner !== undefined && (schema as Document)['type'] === undefined
      if (!isGroup) return [name, schema]
      const path = base === '' ? name : `${base}.${name}`
      const description = groups.get(path)
      return [
        name,
        {
          type: 'object',
          ...(description === undefined ? {} : { description }),
          properties: typed(inner as Record<string, Json>, groups, path),
        },
      ]
    }),
  )
}

const RECORD_COUNT: Json = { type: 'integer', minimum: 0, description: 'Number of records in this answer.' }

/** One page of a collection. */
export function page(record: Json): Document {
  return {
    type: 'object',
    properties: {
      records: { type: 'array', description: 'The records of this page.', items: record },
      num_records: RECORD_COUNT,
      _links: schemaOf('page_links'),
    },
  }
}

/** The answer of a write of many records. */
export function written(record: Json): Document {
  return {
    type: 'object',
    properties: {
      num_records: RECORD_COUNT,
      jobs: { type: 'array', description: 'A job for each record that takes long.', items: schemaOf('job_reference') },
      records: { type: 'array', description: 'The records written, with `return_records=true`.', items: record },
      job: schemaOf('job_reference'),
    },
  }
}

/** The body of a write of many records: `change` for all that the query matches, or a list of records with their keys. */
export function manyBody(change: string | undefined): Document {
  const listed: Document = {
    type: 'object',
    properties: {
      records: {
        type: 'array',
        description: 'The records to write, each with its key.',
        maxItems: BULK_RECORDS_MAX,
        items: { type: 'object' },
      },
    },
  }
  return change === undefined ? listed : { anyOf: [schemaOf(change), listed] }
}

/** Schemas that answers of all resources share. */
export const SHARED_SCHEMAS: Readonly<Record<string, Json>> = {
  error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        description: 'Why the request failed.',
        required: ['message', 'code'],
        properties: {
          message: { type: 'string', description: 'What went wrong, as a sentence.' },
          code: {
            type: ['integer', 'string'],
            description: 'Stable number of the error; a string for clients that need one.',
          },
          target: { type: 'string', description: 'The field or object concerned.' },
          arguments: {
            type: 'array',
            description: 'Variable parts of the message, when the header X-Dot-Error-Arguments is true.',
            items: {
              type: 'object',
              properties: {
                code: { type: 'string', description: 'Position of the argument in the message.' },
                message: { type: 'string', description: 'Value of the argument.' },
              },
            },
          },
        },
      },
    },
  },
  job_reference: {
    type: 'object',
    description: 'A job: poll it at /cluster/jobs/{uuid}.',
    properties: { uuid: { type: 'string', format: 'uuid', description: 'UUID of the job.' } },
  },
  job_link: {
    type: 'object',
    properties: { job: schemaOf('job_reference') },
  },
  page_links: {
    type: 'object',
    description: 'Links of the collection.',
    properties: {
      next: {
        type: 'object',
        description: 'The next page. Absent on the last one.',
        properties: { href: { type: 'string', description: 'Path and query of the next page.' } },
      },
    },
  },
}
