/**
 * What readers of large collections cost: 10,000 records of each type that is stored, as long as its limits plausibly
 * allow, and sixteen readers at once that ask for names, a filter, an order, everything, one record and a missing one. In
 * process, over a catalog in a file. For each kind of question: the longest turn of the event loop, in processor time
 * (see `loop-probe.ts`), processor time for each request, and what the heap had more at most.
 *
 *     node --expose-gc bench/collections.ts [--records 10000] [--only protocols/s3/buckets]
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Behaviour } from '../src/core/behaviour.ts'
import { isDerived } from '../src/core/derive.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { asJson } from '../src/faces/openapi/examples.ts'
import { printJson } from '../src/faces/rest/print.ts'
import { collectionPath } from '../src/model/paths.ts'
import { recordKey, type Resource } from '../src/model/resource.ts'
import type { JsonSchema } from '../src/model/kinds/kind.ts'
import { textAt, type Row, type Value } from '../src/model/value.ts'
import type { Catalog, Change } from '../src/ports/catalog.ts'
import { startTestCluster, type TestCluster } from '../test/support/cluster.ts'

const READERS = 16
const RECORDS_A_COMMIT = 100
const TEXT_CHARACTERS = 200
const LIST_ELEMENTS = 4
const TIMER_MS = 1
/** There are as many as folders and machines: few. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(['storage/aggregates', 'cluster/nodes'])
/** What derivations look up as something that is there. */
const REFERRING = /aggregates/
const NOT_THERE = '4ea7a442-86d1-11e0-ae1c-000099999999'

const { values: given } = parseArgs({
  options: { records: { type: 'string', default: '10000' }, only: { type: 'string' } },
})
const RECORDS = Number(given.records)

const folder = mkdtempSync(join(tmpdir(), 'holdfast-collections-'))
try {
  const types = await storedTypes()
  console.log('| collection | characters | question | longest turn | processor time | heap |')
  console.log('|---|---|---|---|---|---|')
  for (const type of types) {
    await measureType(type).catch((failure: unknown) => {
      console.error(`${type} was not measured:`, failure)
      process.exitCode = 1
    })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function storedTypes(): Promise<string[]> {
  const cluster = await startTestCluster()
  const types = [...cluster.cluster.behaviours.values()]
    .filter(({ resource, rows, create }) => {
      const isStored = rows === undefined || resource.recordKey.join() !== 'uuid'
      return isStored && resource.rowsOf === resource.type && !resource.isSingleton && (rows === undefined || create)
    })
    .map(({ resource }) => resource.type)
    .concat('security/audit/messages', 'support/ems/events')
    .filter((type) => (given.only === undefined ? !OF_THE_MACHINE.has(type) : given.only.split(',').includes(type)))
  await cluster.close()
  return types
}

async function measureType(type: string): Promise<void> {
  const file = join(folder, `${type.replaceAll(/\W/g, '-')}.db`)
  const catalog = openSqliteCatalog({ file, commit: 'in-process' })
  const cluster = await startTestCluster({ catalog })
  try {
    const filled = await fill(cluster, catalog, type)
    const { resource } = cluster.cluster.behaviour(type)
    const path = collectionPath(resource, filled.path)
    const middle = filled.rows[filled.rows.length >>> 1] ?? {}
    const key = resource.key.filter((each) => !resource.pathKeys.includes(each))
    const instance = key.map((each) => encodeURIComponent(textAt(middle, each))).join('/')
    const missing = key.map((each) => (each.endsWith('uuid') ? NOT_THERE : '99999999')).join('/')
    const filter = typeof middle['name'] === 'string' ? `name=${middle['name']}` : `${key.at(-1) ?? ''}=${missing}`
    const order = [...resource.fields.keys()].find((each) => each === 'comment') ?? key.at(-1) ?? ''
    for (const [what, target] of [
      ['first', `${path}?max_records=100`],
      ['names', `${path}?max_records=10000&fields=${key.join(',')}`],
      ['100 whole', `${path}?max_records=100&fields=*`],
      ['all whole', `${path}?max_records=10000&fields=*`],
      ['filter', `${path}?${filter}`],
      ['order', `${path}?order_by=${order}%20desc&max_records=100`],
      ['one', `${path}/${instance}`],
      ['missing', `${path}/${missing}`],
    ] as const) {
      const seen = await underWay(() => ask(cluster, target))
      console.log(
        `| ${[type, filled.characters, `${what} (${seen.value})`, ms(seen.longestMs), ms(seen.cpuMs / READERS), `${Math.round(seen.heapBytes / 2 ** 20)} MB`].join(' | ')} |`,
      )
    }
  } finally {
    await cluster.close()
    rmSync(file, { force: true })
  }
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

async function ask(cluster: TestCluster, target: string): Promise<string> {
  const answers = await Promise.all(
    Array.from({ length: READERS }, async () => {
      const reply = await cluster.reply('GET', target)
      if (reply.status !== 200 && !(reply.status === 404 && target.endsWith('99999999'))) {
        const cause = cluster.logged.at(-1)?.details ?? reply.body
        throw new Error(`${target} is answered ${reply.status}: ${JSON.stringify(cause)}`)
      }
      const bytes = (await printJson(cluster.cluster.system, reply.body)).reduce((sum, { length }) => sum + length, 0)
      return `${reply.status}, ${JSON.stringify(reply.body['num_records'] ?? 1)}, ${Math.ceil(bytes / 1024)} KiB`
    }),
  )
  return answers[0] ?? ''
}

interface Seen {
  readonly value: string
  readonly longestMs: number
  readonly cpuMs: number
  readonly heapBytes: number
}

/** Between two runs of a timer of one millisecond lies one turn of the loop. */
async function underWay(work: () => Promise<string>): Promise<Seen> {
  globalThis.gc?.()
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  const begun = used()
  const heap = process.memoryUsage().heapUsed
  let [before, longestMs, most] = [begun, 0, heap]
  const look = () => {
    const now = used()
    longestMs = Math.max(longestMs, now - before)
    most = Math.max(most, process.memoryUsage().heapUsed)
    before = used()
  }
  const timer = setInterval(look, TIMER_MS)
  const value = await work()
  look()
  clearInterval(timer)
  return { value, longestMs, cpuMs: used() - begun, heapBytes: most - heap }
}

/** Puts so many records of a type under one parent. */
async function fill(
  cluster: TestCluster,
  catalog: Catalog,
  type: string,
): Promise<{ readonly path: Record<string, string>; readonly rows: readonly Row[]; readonly characters: number }> {
  const log = type.startsWith('security/audit') ? 'audit' : type.startsWith('support/ems/events') ? 'events' : undefined
  if (log !== undefined) return fillLog(cluster, catalog, log)
  const { resource } = cluster.cluster.behaviour(type)
  const parents = await parentsOf(cluster, resource)
  const real = await realOne(cluster, type, parents)
  const rows = Array.from({ length: RECORDS }, (_, n) => ({
    ...real,
    ...rowOf(cluster.cluster.behaviour(type), n, parents, real),
  }))
  const puts = rows.map((row): Change => {
    const change = cluster.cluster.put(type, row)
    return { ...change, key: recordKey(resource, row) } as Change
  })
  for (let from = 0; from < puts.length; from += RECORDS_A_COMMIT) {
    await catalog.commit(puts.slice(from, from + RECORDS_A_COMMIT))
  }
  return { path: parents, rows: rows.slice(0, 3), characters: JSON.stringify(rows[0]).length }
}

/** One that the cluster has, or that it lets be made as its documentation shows: others have what it has beside its fields. */
async function realOne(cluster: TestCluster, type: string, parents: Readonly<Record<string, string>>): Promise<Row> {
  const [known] = await cluster.cluster.rows(type)
  if (known !== undefined) return known
  const { resource, create } = cluster.cluster.behaviour(type)
  if (create?.example !== undefined) {
    await cluster.call('POST', `${collectionPath(resource, parents)}?return_timeout=15`, asJson(create.example))
  }
  return (await cluster.cluster.rows(type))[0] ?? {}
}

async function fillLog(cluster: TestCluster, catalog: Catalog, log: 'audit' | 'events') {
  const entry = (n: number): Change => {
    if (log === 'events') {
      const { name, ...rest } = { name: 'cluster.blobs.set_aside' as const, blobs: n, volumes: 1, note: text(n, 1024) }
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
  for (let n = 0; n < RECORDS; n += RECORDS_A_COMMIT) {
    await catalog.commit(Array.from({ length: RECORDS_A_COMMIT }, (_, at) => entry(n + at)))
  }
  return { path: {}, rows: [{ index: RECORDS >>> 1 }], characters: JSON.stringify(entry(0)).length }
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
      await cluster.cluster.catalog.commit([cluster.cluster.put(type, made)])
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
