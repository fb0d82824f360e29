/**
 * Reads of the management interface over HTTPS, per processor second of the main process: one volume with default
 * fields and with its name alone, the cluster, and filters over ten thousand volumes. They take turns with those of
 * other checkouts, and with two servers that answer with as many bytes from memory: node:https and Fastify.
 *
 * All but two of the volumes are copies that are written through the catalog's port: they have no folders.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type * as SqliteCatalog from '../src/engines/sqlite/catalog.ts'
import type { Change, StoredRecord } from '../src/ports/catalog.ts'
import { aggregateOf } from '../src/storage/aggregate-of.ts'
import { asText, recordsOf } from '../test/support/body.ts'
import { startProduct, type Product } from '../test/support/product.ts'
import { RestClient } from '../test/support/rest-client.ts'
import { startBare, startGenerator } from './helpers.ts'
import type { Load, Order } from './order.ts'
import { cpuSeconds } from './speed/processes.ts'
import { median, significant } from './speed/results.ts'

const CLIENTS = 4
/** As in bin/launch.mjs: what is compared has as much room for young objects. */
const MAIN_PROCESS_FLAGS = ['--max-semi-space-size=2']
const VOLUMES_A_COMMIT = 100
const VOLUMES = '/api/storage/volumes'

const { values: flags } = parseArgs({
  options: {
    against: { type: 'string', multiple: true, default: [] },
    volumes: { type: 'string', default: '10000' },
    /** Those whose names have this in them. */
    rows: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    'node-options': { type: 'string' },
  },
})
const seconds = Number(flags.seconds)

/** `{full}` and `{thin}` are volumes with a guarantee and without one. */
const ROWS = {
  'one volume': `${VOLUMES}/{full}`,
  'one volume without a guarantee': `${VOLUMES}/{thin}`,
  'the name of one volume': `${VOLUMES}/{full}?fields=name`,
  'the cluster': '/api/cluster',
  'a page of 20 with two filters': `${VOLUMES}?svm.name=reads&state=online&max_records=20`,
  'filter by name, names': `${VOLUMES}?name=vol_77*&fields=name`,
  'filter by size, all fields': `${VOLUMES}?size=%3E1g`,
  'filter by SVM, all fields': `${VOLUMES}?svm.name=other`,
} as const
type RowName = keyof typeof ROWS

/** A server whose requests are counted against the time of its process. */
interface Subject {
  readonly name: string
  readonly pid: number
  /** Where, and as whom, it is asked for what a row asks. */
  asking(target: string, bytes: number): Pick<Order, 'base' | 'credentials' | 'target'>
}

interface Started extends Subject {
  readonly product: Product
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-reads-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
const generator = startGenerator()
const root = resolve(import.meta.dirname, '..')
const started: Started[] = []
for (const [at, checkout] of [root, ...flags.against.map((each) => resolve(each))].entries()) {
  started.push(await start(at === 0 ? 'this' : checkout, checkout, join(folder, String(at))))
}
const bare = await startBare(certificateOf(started[0]), MAIN_PROCESS_FLAGS)
const floors: Subject[] = [
  { name: 'node:https', pid: bare.pid, asking: (_, bytes) => ({ base: bare.tls, target: `/page/${bytes}/{n}` }) },
  { name: 'Fastify', pid: bare.pid, asking: (_, bytes) => ({ base: bare.framework, target: `/page/${bytes}/{n}` }) },
]
const subjects: readonly Subject[] = [...started, ...floors]
for (const [what, target] of Object.entries(ROWS) as [RowName, string][]) {
  if (what.includes(flags.rows)) await measure(what, target)
}
generator.end()
bare.end()
await Promise.all(started.map(({ product }) => product.stop()))
process.exit()

async function measure(what: RowName, target: string): Promise<void> {
  const found = new Map<Subject, { rate: number; load: Load }[]>(subjects.map((subject) => [subject, []]))
  let bytes = 0
  for (const subject of subjects) {
    const { load } = await round(subject, target, bytes)
    if (bytes === 0) bytes = Math.round(load.bytes / load.milliseconds.length)
  }
  for (let at = 0; at < Number(flags.rounds); at++) {
    for (const subject of at % 2 === 0 ? subjects : subjects.toReversed()) {
      found.get(subject)?.push(await round(subject, target, bytes))
    }
  }
  const rates = subjects.map((subject) => median((found.get(subject) ?? []).map(({ rate }) => rate)))
  console.log(`${what} (${bytes} bytes)`)
  for (const [at, subject] of subjects.entries()) {
    const each = found.get(subject) ?? []
    const rate = rates[at] ?? Number.NaN
    const ms = median(each.flatMap(({ load }) => [...load.milliseconds]))
    const ratio = at === 0 ? '' : `; ${significant((rates[0] ?? Number.NaN) / rate, 3)} × it`
    const list = each.map((one) => significant(one.rate, 3)).join(' ')
    console.log(
      `  ${subject.name}: ${significant(rate, 3)} a second of a core (${list}${ratio}); ` +
        `${significant(1000 / rate, 3)} ms of it each, p50 ${significant(ms, 3)} ms`,
    )
  }
}

async function round(subject: Subject, target: string, bytes: number): Promise<{ rate: number; load: Load }> {
  const order: Order = {
    ...subject.asking(target, bytes),
    method: 'GET',
    numbers: { pick: 'client' },
    clients: CLIENTS,
    until: { seconds },
  }
  const before = cpuSeconds([subject.pid])
  const load = await generator.run(order)
  const used = cpuSeconds([subject.pid]) - before
  if (Object.keys(load.failures).length > 0) throw new Error(`${target}: ${load.firstFailure}`)
  return { rate: load.milliseconds.length / used, load }
}

function certificateOf(of: Started | undefined): { key: string; cert: string } {
  const read = (name: string) => readFileSync(join(of?.product.folder ?? '', 'certificates', name), 'utf8')
  return { key: read('server.key'), cert: read('server.crt') }
}

async function start(name: string, checkout: string, data: string): Promise<Started> {
  const options = flags['node-options']
  const product = await startProduct({
    folder: data,
    program: join(checkout, 'bin', 'launch.mjs'),
    environment: options === undefined || name !== 'this' ? {} : { NODE_OPTIONS: options },
  })
  const rest = new RestClient(
    product.management,
    `Basic ${Buffer.from(`${product.user}:${product.password}`).toString('base64')}`,
  )
  const call = async (method: string, target: string, body?: unknown) => {
    const reply = await rest.call(method, target, body)
    if (reply.status >= 300) throw new Error(`${method} ${target}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  for (const svm of ['reads', 'other']) await call('POST', '/api/svm/svms?return_timeout=120', { name: svm })
  const uuids: Record<string, string> = {}
  for (const [volume, type] of [
    ['full', 'volume'],
    ['thin', 'none'],
  ] as const) {
    const asked = {
      name: volume,
      svm: { name: 'reads' },
      size: '64m',
      guarantee: { type },
      snapshot_policy: { name: 'none' },
    }
    await call('POST', `${VOLUMES}?return_timeout=120`, asked)
    uuids[volume] = asText(recordsOf(await call('GET', `${VOLUMES}?name=${volume}&fields=uuid`))[0]?.['uuid'])
  }
  await fill(checkout, product, uuids)
  const { management: base, user, password } = product
  return {
    name,
    product,
    pid: product.pid,
    asking: (target) => ({
      base,
      credentials: { user, password },
      target: target.replaceAll(/\{(\w+)\}/g, (_, volume: string) => uuids[volume] ?? ''),
    }),
  }
}

async function fill(
  checkout: string,
  { folder: data }: Product,
  uuids: Readonly<Record<string, string>>,
): Promise<void> {
  const [socket = ''] = readdirSync(join(data, 'run'))
  const file = join(data, 'catalog', 'catalog.db')
  // Of the checkout itself: what is sent to its writer may be spelled in another way there.
  const engine = (await import(join(checkout, 'src/engines/sqlite/catalog.ts'))) as typeof SqliteCatalog
  const catalog = engine.openSqliteCatalog({ file, commit: { socket: join(data, 'run', socket) } })
  const likes = await Promise.all(['full', 'thin'].map((each) => catalog.record('storage/volumes', uuids[each] ?? '')))
  const many = Array.from({ length: Number(flags.volumes) }, (_, n) => n)
  for (let from = 0; from < many.length; from += VOLUMES_A_COMMIT) {
    const some = many.slice(from, from + VOLUMES_A_COMMIT)
    await catalog.commit(some.flatMap((n) => copy(likes[n % 2], n)))
  }
  await catalog.close()
}

function copy(like: StoredRecord | undefined, n: number): Change[] {
  if (like === undefined) throw new Error('The volume to copy is not there.')
  const key = randomUUID()
  const name = `vol_${n}`
  const body = { ...like.body, uuid: key, name }
  const unique = { 'storage/volumes:name': `${like.parent}/${name}` }
  return [
    { do: 'put-record', type: 'storage/volumes', key, parent: like.parent, body, unique },
    { do: 'open-volume', volume: key, sizeBytes: Number(like.body['size']) },
    {
      do: 'place-volume',
      volume: key,
      aggregate: aggregateOf(like.body),
      isGuaranteed: like.body['guarantee.type'] === 'volume',
    },
  ]
}
