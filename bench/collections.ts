/**
 * What readers of large collections cost: 10,000 records of each type, as long as its limits plausibly allow, and sixteen
 * readers at once that ask for names, a filter, an order, everything, one record and a missing one. In process, over a
 * catalog in a file. For each kind of question: the longest turn of the event loop, in processor time (see
 * `loop-probe.ts`), processor time for each request, and what the heap had more at most.
 *
 * All collections of the declarations are measured. Those that are made of other records are read once, to see which
 * types they look at; then there are so many of each of these, and lists in the records above are as long as they may be.
 *
 *     node --expose-gc bench/collections.ts [--records 10000] [--only protocols/s3/buckets,…] [--computed]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Behaviour } from '../src/core/behaviour.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { printJson } from '../src/faces/rest/print.ts'
import { collectionPath } from '../src/model/paths.ts'
import type { Resource } from '../src/model/resource.ts'
import type { SomeType } from '../src/model/rows.ts'
import { textAt, textOf, type Row, type Value } from '../src/model/value.ts'
import type { Catalog } from '../src/ports/catalog.ts'
import { recordsOf } from '../test/support/body.ts'
import { QuickSecrets, startTestCluster, type TestCluster } from '../test/support/cluster.ts'
import { Examples } from '../test/support/examples.ts'
import { fill, lengthenLists } from './collections-records.ts'

const READERS = 16
/** Of a record that is not there. */
const EMPTY_CHARACTERS = 2
const TIMER_MS = 1
/** There are as many as folders and machines: few. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(['storage/aggregates', 'cluster/nodes'])
/** Kept as entries of a log, not as records. */
const LOGS: ReadonlySet<string> = new Set(['security/audit/messages', 'support/ems/events'])
/** What every request reads, to know who asks. */
const WHO_ASKS = ['security/accounts', 'security/roles', 'cluster']
const NOT_THERE = '4ea7a442-86d1-11e0-ae1c-000099999999'

const { values: given } = parseArgs({
  options: {
    records: { type: 'string', default: '10000' },
    only: { type: 'string' },
    computed: { type: 'boolean', default: false },
  },
})
const RECORDS = Number(given.records)

const folder = mkdtempSync(join(tmpdir(), 'holdfast-collections-'))
try {
  const types = await collections()
  console.log('| collection | characters | question | longest turn | processor time | heap |')
  console.log('|---|---|---|---|---|---|')
  for (const { type, isComputed } of types) {
    const measured = isComputed ? measureComputed(type) : measureType(type)
    await measured.catch((failure: unknown) => {
      console.error(`${type} was not measured:`, failure)
      process.exitCode = 1
    })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

interface Collection {
  readonly type: SomeType
  /** Its rows are not its own records. */
  readonly isComputed: boolean
}

async function collections(): Promise<Collection[]> {
  const cluster = await startTestCluster()
  const all = [...cluster.cluster.behaviours.values()]
    .filter(({ resource }) => !resource.isSingleton)
    .map((behaviour) => ({ type: behaviour.resource.type, isComputed: !isStored(behaviour) }))
    .filter(({ type }) => (given.only === undefined ? !OF_THE_MACHINE.has(type) : given.only.split(',').includes(type)))
    .filter(({ isComputed }) => isComputed || !given.computed)
  await cluster.close()
  return all
}

function isStored({ resource, rows, create }: Behaviour): boolean {
  if (LOGS.has(resource.type)) return true
  const hasRecords = rows === undefined || (resource.recordKey.join() !== 'uuid' && create !== undefined)
  return hasRecords && resource.rowsOf === resource.type
}

async function measureType(type: SomeType): Promise<void> {
  const file = join(folder, `${type.replaceAll(/\W/g, '-')}.db`)
  const catalog = openSqliteCatalog({ file, commit: 'in-process' })
  const cluster = await startTestCluster({ catalog })
  try {
    const filled = await fill(cluster, catalog, type, RECORDS)
    const { resource } = cluster.cluster.behaviour(type)
    const middle = filled.rows[filled.rows.length >>> 1] ?? {}
    const about = { type: resource.type, characters: filled.characters }
    await measure(cluster, resource, collectionPath(resource, filled.path), middle, about)
  } finally {
    await cluster.close()
    rmSync(file, { force: true })
  }
}

/** Fills what the collection is made of, as a reading of it tells, and reads it as another process that begins. */
async function measureComputed(type: string): Promise<void> {
  const file = join(folder, `${type.replaceAll(/\W/g, '-')}.db`)
  const catalog = openSqliteCatalog({ file, commit: 'in-process' })
  const secrets = new QuickSecrets()
  const first = await startTestCluster({ catalog, secrets })
  const call = (method: string, target: string, body?: unknown) => first.call(method, target, body)
  const behaviour = first.cluster.behaviour(type)
  // Records of examples lie in SVMs that have what these need.
  const cifs = first.cluster.behaviour('protocols/cifs/services')
  if (type.startsWith('protocols/cifs/')) await call('POST', `/api${cifs.resource.path}`, cifs.create?.example)
  const path = await new Examples(call).collectionOf(behaviour)
  const looked = await typesLookedAt(catalog, secrets, path)
  const parts = [...looked].map((each) => first.cluster.behaviours.get(each)).filter((each) => each !== undefined)
  // Those on the way to it stay the few that they are, with long lists.
  const above = parts.filter(({ resource }) => behaviour.resource.rowsOf === resource.type || isAbove(resource, path))
  for (const each of above) await lengthenLists(first, catalog, each)
  const below = parts.filter((each) => isStored(each) && !each.resource.isSingleton && !above.includes(each))
  const many = below.filter(({ resource }) => !OF_THE_MACHINE.has(resource.type) && !LOGS.has(resource.type))
  for (const { resource } of many) await fill(first, catalog, resource.type, RECORDS)
  const cluster = await startTestCluster({ catalog, secrets, isUsed: true })
  try {
    const { body } = await cluster.call('GET', `${path}?fields=*&max_records=100`)
    const rows = body['records'] === undefined ? [] : recordsOf(body)
    const middle = rows[rows.length >>> 1] as Row | undefined
    const about = { type, characters: JSON.stringify(middle ?? {}).length }
    await measure(cluster, behaviour.resource, path, middle ?? {}, about)
  } finally {
    first.clock.stop()
    await cluster.close()
    rmSync(file, { force: true })
  }
}

/** Whether a collection lies in records of a resource. */
function isAbove({ path: above }: Resource, path: string): boolean {
  const [some, all] = [`/api${above}`.split('/'), path.split('/')]
  return some.length < all.length && some.every((word, at) => word.startsWith('{') || word === all[at])
}

/** The types whose records are read for a first page and a whole one. */
async function typesLookedAt(catalog: Catalog, secrets: QuickSecrets, path: string): Promise<Set<string>> {
  const seen = new Set<string>()
  const watched = new Proxy(catalog, {
    get(target, name: keyof Catalog) {
      const method = target[name] as (...values: unknown[]) => unknown
      return (...values: unknown[]) => {
        if (name === 'records' || name === 'record') seen.add(String(values[0]))
        return method.apply(target, values)
      }
    },
  })
  // One that has read nothing yet.
  const cluster = await startTestCluster({ catalog: watched, secrets, isUsed: true })
  for (const fields of ['', '?fields=*']) await cluster.call('GET', `${path}${fields}`)
  cluster.clock.stop()
  for (const each of WHO_ASKS) seen.delete(each)
  return seen
}

async function measure(
  cluster: TestCluster,
  resource: Resource,
  path: string,
  middle: Row,
  { type, characters }: { readonly type: string; readonly characters: number },
): Promise<void> {
  const key = resource.key.filter((each) => !resource.pathKeys.includes(each))
  const at = (each: string) =>
    textAt(middle, each) || textOf((each.split('.').reduce<unknown>(member, middle) ?? '') as Value)
  const instance = key.map((each) => encodeURIComponent(at(each))).join('/')
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
    ...(Object.keys(middle).length > 0 && instance !== '' ? [['one', `${path}/${instance}`] as const] : []),
    ['missing', `${path}/${missing}`],
  ] as const) {
    // Where there is nothing, and never will be, one question is enough.
    if (characters <= EMPTY_CHARACTERS && what !== 'first') continue
    const seen = await underWay(() => ask(cluster, target))
    console.log(
      `| ${[type, characters, `${what} (${seen.value})`, ms(seen.longestMs), ms(seen.cpuMs / READERS), `${Math.round(seen.heapBytes / 2 ** 20)} MB`].join(' | ')} |`,
    )
  }
}

function member(at: unknown, word: string): unknown {
  return (at as Readonly<Record<string, unknown>> | undefined)?.[word]
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

async function ask(cluster: TestCluster, target: string): Promise<string> {
  const answers = await Promise.all(
    Array.from({ length: READERS }, async () => {
      const reply = await cluster.reply('GET', target)
      if (
        reply.status !== 200 &&
        !((reply.status === 404 || reply.status === 400) && /(?:99999999|\/[^?]*99999999)$/.test(target))
      ) {
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
