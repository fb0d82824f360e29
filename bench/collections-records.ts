/** Records of any type, as long as its limits plausibly allow, made from the declarations alone. */
import { randomUUID } from 'node:crypto'
import type { Behaviour } from '../src/core/behaviour.ts'
import { isDerived } from '../src/core/read/derive.ts'
import { asJson } from '../src/faces/openapi/examples.ts'
import type { JsonSchema } from '../src/model/kinds/kind.ts'
import { collectionPath } from '../src/model/paths.ts'
import { recordKey, type Resource, type TypeName } from '../src/model/resource.ts'
import type { SomeType } from '../src/model/rows.ts'
import { textAt, type Row, type Value } from '../src/model/value.ts'
import type { Catalog, Change } from '../src/ports/catalog.ts'
import type { TestCluster } from '../test/support/cluster.ts'

const RECORDS_A_COMMIT = 100
const TEXT_CHARACTERS = 200
const LIST_ELEMENTS = 4
/** Of lists that are collections themselves, where no limit is declared. */
const LONG_LIST_ELEMENTS = 1024
/** What derivations look up as something that is there. */
const REFERRING = /aggregates/

/** Puts so many records of a type under one parent. */
export async function fill(
  cluster: TestCluster,
  catalog: Catalog,
  type: SomeType,
  count: number,
): Promise<{ readonly path: Record<string, string>; readonly rows: readonly Row[]; readonly characters: number }> {
  const log = type.startsWith('security/audit') ? 'audit' : type.startsWith('support/ems/events') ? 'events' : undefined
  if (log !== undefined) return fillLog(cluster, catalog, log, count)
  const { resource } = cluster.cluster.behaviour(type)
  const parents = await parentsOf(cluster, resource)
  const real = await realOne(cluster, type, parents)
  const rows = Array.from({ length: count }, (_, n) => ({
    ...real,
    ...rowOf(cluster.cluster.behaviour(type), n, parents, real),
  }))
  const puts = rows.map((row): Change => {
    return { ...putAnyway(cluster, type, row), key: recordKey(resource, row) } as Change
  })
  for (let from = 0; from < puts.length; from += RECORDS_A_COMMIT) {
    await catalog.commit(puts.slice(from, from + RECORDS_A_COMMIT))
  }
  return { path: parents, rows: rows.slice(0, 3), characters: JSON.stringify(rows[0]).length }
}

/** Puts a record that may name what is not there: what it is made up of is long, not true. */
function putAnyway({ cluster }: TestCluster, type: SomeType, row: Row): Change {
  const change = cluster.put(type as TypeName, row)
  return change.do === 'put-record' ? { ...change, names: [] } : change
}

/** One that the cluster has, or that it lets be made as its documentation shows: others have what it has beside its fields. */
async function realOne(cluster: TestCluster, type: SomeType, parents: Readonly<Record<string, string>>): Promise<Row> {
  const [known] = await cluster.cluster.rows(type)
  if (known !== undefined) return known
  const { resource, create } = cluster.cluster.behaviour(type)
  if (create?.example !== undefined) {
    await cluster.call('POST', `${collectionPath(resource, parents)}?return_timeout=15`, asJson(create.example))
  }
  return (await cluster.cluster.rows(type))[0] ?? {}
}

async function fillLog(cluster: TestCluster, catalog: Catalog, log: 'audit' | 'events', count: number) {
  const entry = (n: number): Change => {
    if (log === 'events') {
      const { name, ...rest } = { name: 'cluster.job.failed' as const, job: text(n, 36), message: text(n, 1024) }
      return cluster.cluster.event(name, rest)
    }
    const body = {
      user: text(n, 64),
      location: '192.0.2.1',
      input: text(n, 1024),
      state: 'error',
      message: text(n, 1024),
    }
    return { do: 'append-log', log, timeMs: Date.now(), body, keep: 100_000 }
  }
  for (let n = 0; n < count; n += RECORDS_A_COMMIT) {
    await catalog.commit(Array.from({ length: RECORDS_A_COMMIT }, (_, at) => entry(n + at)))
  }
  return { path: {}, rows: [{ index: count >>> 1 }], characters: JSON.stringify(entry(0)).length }
}

/** For each reference of a type, a record that may be referred to: one that is there, or a new one. */
async function parentsOf(cluster: TestCluster, resource: Resource): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const path of new Set([...resource.pathKeys, ...(resource.parent === undefined ? [] : [resource.parent])])) {
    const type = resource.parent === path ? resource.parentType : resource.fields.get(path)?.reference?.type
    if (type === undefined) continue
    const [known] = await cluster.cluster.rows(type)
    const parent = cluster.cluster.behaviour(type)
    if (known !== undefined) found[path] = recordKey(parent.resource, known)
    else {
      const made = rowOf(parent, 0, await parentsOf(cluster, parent.resource))
      await cluster.cluster.catalog.commit([putAnyway(cluster, type, made)])
      found[path] = recordKey(parent.resource, made)
    }
  }
  const [svm] = await cluster.cluster.rows('svm/svms')
  if (resource.fields.has('svm.uuid')) found['svm.uuid'] ??= textAt(svm, 'uuid')
  return found
}

function rowOf(behaviour: Behaviour, n: number, parents: Readonly<Record<string, string>>, real: Row = {}): Row {
  const { resource } = behaviour
  const row: Record<string, Value> = {}
  for (const field of resource.fields.values()) {
    const { path, kind, reference } = field
    // What refers to others, and what states decide, is to be as it is.
    if (/^\$|uuid|name$|aggregates|state|type|address|netmask/.test(path) && path in real) continue
    if (
      REFERRING.test(path) ||
      reference !== undefined ||
      isDerived(behaviour, path) ||
      kind.isSecret === true ||
      field.shownOnce
    )
      continue
    const value = sample(kind.schema, n, path)
    if (value !== undefined) row[path] = value
  }
  for (const key of new Set([...resource.recordKey, ...resource.key])) row[key] = keyOf(resource, key, n)
  return { ...row, ...(resource.fields.has('name') ? { name: `name-${String(n).padStart(5, '0')}` } : {}), ...parents }
}

function keyOf(resource: Resource, key: string, n: number): Value {
  if (key.endsWith('uuid')) return randomUUID()
  const type = resource.fields.get(key)?.kind.schema['type']
  if (resource.fields.get(key)?.kind.schema['enum'] !== undefined) return 'krb_unix'
  return type === 'integer' ? n + 1000 : `name-${String(n).padStart(5, '0')}`
}

function text(n: number, characters: number): string {
  return `${String(n % 97)} ${'text '.repeat(characters / 5)}`.slice(0, characters)
}

/** As a record keeps it. */
function sample(schema: JsonSchema, n: number, path: string): Value | undefined {
  const words = schema['enum']
  if (Array.isArray(words)) return words[0] as Value
  switch (JSON.stringify(schema['type'])) {
    case '"boolean"':
      return n % 2 === 0
    case '"integer"':
    case '"number"':
      return Number(schema['minimum'] ?? 1) + (n % 7)
    case '"array"': {
      const one = sample((schema['items'] ?? {}) as JsonSchema, n, `${path}[]`)
      // A list within another has one element, or records would be longer than they are anywhere.
      const elements = path.includes('[]') ? 1 : LIST_ELEMENTS
      return one === undefined ? undefined : Array.from({ length: elements }, () => one)
    }
    case '"object"': {
      const members = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).map(
        ([word, member]): [string, Value | undefined] => [word, sample(member, n, `${path}.${word}`)],
      )
      return Object.fromEntries(members.filter((each): each is [string, Value] => each[1] !== undefined))
    }
    case '"string"':
      if (schema['format'] === 'date-time') return Date.now()
      if (schema['format'] === 'uuid') return randomUUID()
      if (schema['format'] === 'password') return undefined
      return text(n, Math.min(Number(schema['maxLength'] ?? TEXT_CHARACTERS), TEXT_CHARACTERS))
    default:
      return undefined
  }
}

/** Makes the lists that a record has as long as they may be: they may be collections of their own. */
export async function lengthenLists(cluster: TestCluster, catalog: Catalog, { resource }: Behaviour): Promise<void> {
  for (const { key, body } of await catalog.records(resource.type, { after: '', limit: 10 })) {
    const long = Object.entries(body as Row).map(([path, value]): [string, Value] => {
      const schema: JsonSchema = resource.fields.get(path)?.kind.schema ?? {}
      // What is declared: how long the others may be is not known.
      const isList = schema['type'] === 'array'
      return [path, isList ? longList(value, schema) : value]
    })
    const change = { ...putAnyway(cluster, resource.type, Object.fromEntries(long)), key } as Change
    await catalog.commit([change])
  }
}

function longList(value: Value, schema: JsonSchema): Value {
  const one = Array.isArray(value) ? (value[0] as Value | undefined) : undefined
  const items = (schema['items'] ?? {}) as JsonSchema
  const most = Math.min(Number(schema['maxItems'] ?? LONG_LIST_ELEMENTS), 10_000)
  const made = Array.from({ length: most }, (_, n): Value | undefined => {
    const element = one ?? sample(items, n, '[]')
    if (typeof element !== 'object' || element === null || Array.isArray(element)) return element
    const numbered = Object.entries(element).map(([name, each]): [string, Value] => {
      if (typeof each === 'number') return [name, n + 1]
      return [name, /name|member|path|uuid|user/.test(name) && typeof each === 'string' ? `${each}${n}` : each]
    })
    return Object.fromEntries(numbered)
  })
  return made.filter((each) => each !== undefined)
}
