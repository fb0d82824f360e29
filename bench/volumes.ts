/**
 * Whether ten thousand volumes in 65 SVMs, with ten snapshots each, are answered for like a hundred: the same requests
 * at both sizes, beside volumes and snapshots that are made and deleted meanwhile. What counts is the ratio of the two
 * sizes, and how long a request holds the event loop.
 *
 * Most are written through the catalog's port, as copies of one that was made by request: they have no folders.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { descendants } from '../test/clients/processes.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import type { Catalog, Change, StoredRecord } from '../src/ports/catalog.ts'
import { aggregateOf } from '../src/storage/aggregate-of.ts'
import type { Bench } from './bench.ts'
import { startGenerator } from './helpers.ts'
import type { Load, Order } from './order.ts'

const SVMS = 65
const SNAPSHOTS_EACH = 10
const FEW = 100
const VOLUMES_A_COMMIT = 20
const COMMITS_AT_ONCE = 8
const CREATES = 40
const READERS = 4
const IDLE_SECONDS = 10
/** Of a second of the kernel's accounts of processes. */
const TICKS = 100

const VOLUMES = '/api/storage/volumes'
const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'

export async function measureVolumes(bench: Bench): Promise<void> {
  const { manyVolumes } = bench.settings
  bench.title(`Management of ${FEW} and of ${manyVolumes} volumes in ${SVMS} SVMs, ${SNAPSHOTS_EACH} snapshots each`)
  const svms = await makeSvms(bench)
  const fill = await templates(bench)
  const few = new Map<string, Load>()
  let there = 0
  for (const volumes of [FEW, manyVolumes]) {
    await fill(svms, there, volumes)
    there = volumes
    await bench.call('GET', `${VOLUMES}?max_records=1`)
    const measured = await measureAt(bench, volumes)
    for (const [what, { load, held, coreSeconds }] of measured) {
      const before = few.get(what)
      few.set(what, load)
      const notes = [
        ...(before === undefined ? [] : [`${(middle(load) / middle(before)).toFixed(2)} of ${FEW} volumes`]),
        ...(coreSeconds === undefined
          ? []
          : [`${Math.round(load.milliseconds.length / coreSeconds)} in a second of a core`]),
      ]
      const note = notes.length === 0 ? undefined : notes.join('; ')
      bench.add(`${volumes}: ${what}`, clientsOf(what), new Map([['product', [load]]]), { note, held })
    }
    if (!bench.settings.isQuick) bench.say(`(idle, most of it the probe of the event loop: ${await idleShare(bench)})`)
  }
}

const CREATE = 'volume create, guaranteed'
const clientsOf = (what: string) => (what === CREATE ? 1 : READERS)

interface Case {
  readonly load: Load
  readonly held: Awaited<ReturnType<Bench['watched']>>['held']
  /** Processor time of the main process meanwhile, where nothing else was asked. */
  readonly coreSeconds?: number
}

type Measured = Map<string, Case>

/** Those that are also measured without volumes that are made beside them. */
const ALONE: ReadonlySet<string> = new Set(['GET one', 'GET by state and SVM', 'GET 100 from nine tenths on'])

async function measureAt(bench: Bench, volumes: number): Promise<Measured> {
  const measured: Measured = new Map()
  const watched = async (what: string, act: () => Promise<Load>) => {
    const { result, held } = await bench.watched(act)
    measured.set(what, { load: result, held })
  }
  await watched(CREATE, () => bench.prepare(create(bench, `alone_${volumes}`, 1, { requests: CREATES })))

  const one = await bench.uuidOf(VOLUMES, 'many_00000007')
  const late = Math.floor(volumes * 0.9)
  const gets: readonly (readonly [string, string])[] = [
    ['GET one', `${VOLUMES}/${one}`],
    ['GET by name', `${VOLUMES}?name=many_00000042&fields=*`],
    ['GET by state and SVM', `${VOLUMES}?svm.name=bench7&state=online&fields=name,size,space&max_records=100`],
    ['GET the fullest 20', `${VOLUMES}?order_by=space.used%20desc&fields=name,space&max_records=20`],
    ['GET by space', `${VOLUMES}?space.percent_used=%3E90&fields=name,space.used`],
    ['GET first 100 of all', `${VOLUMES}?fields=*&max_records=100`],
    [`GET 100 from nine tenths on`, `${VOLUMES}?fields=*&max_records=100&offset=${late - 50}`],
    ['GET names of all', `${VOLUMES}?fields=name,uuid&max_records=10000`],
    ['GET everything of all', `${VOLUMES}?fields=**&max_records=10000`],
  ]
  const writer = startGenerator()
  try {
    for (const [what, target] of gets) {
      const of = { ...bench.management, method: 'GET', target, numbers: { pick: 'client' } } as const
      await bench.prepare({ ...of, clients: 1, until: { requests: 2 } })
      const until = { seconds: bench.settings.seconds + 0.5 }
      const writes = writer.run(create(bench, `w${volumes}_${measured.size}`, 2, until))
      await watched(what, () => bench.prepare({ ...of, clients: READERS, until: { seconds: bench.settings.seconds } }))
      await writes
    }
  } finally {
    writer.end()
  }
  for (const [what, target] of gets.filter(([each]) => ALONE.has(each))) {
    const of = { ...bench.management, method: 'GET', target, numbers: { pick: 'client' }, clients: READERS } as const
    const from = mainSeconds(bench)
    const { result, held } = await bench.watched(() =>
      bench.prepare({ ...of, until: { seconds: bench.settings.seconds } }),
    )
    measured.set(`${what}, alone`, { load: result, held, coreSeconds: mainSeconds(bench) - from })
  }
  return measured
}

function create(bench: Bench, name: string, clients: number, until: Order['until']): Order {
  const body = `{"name":"${name}_{n}","svm":{"name":"bench1"},"size":"1m","snapshot_policy":{"name":"none"}}`
  return {
    ...bench.management,
    method: 'POST',
    target: `${VOLUMES}?return_timeout=120&return_records=false`,
    body: { json: body },
    numbers: { pick: 'next', from: 0 },
    clients,
    until,
  }
}

async function makeSvms(bench: Bench): Promise<string[]> {
  const uuids: string[] = []
  for (let n = 0; n < SVMS; n++) {
    await bench.call('POST', '/api/svm/svms?return_timeout=120', { name: `bench${n}` })
    uuids.push(await bench.uuidOf('/api/svm/svms', `bench${n}`))
  }
  return uuids
}

type Fill = (svms: readonly string[], from: number, to: number) => Promise<void>

/** Makes a volume and a snapshot by request, and the function that writes copies of them. */
async function templates(bench: Bench): Promise<Fill> {
  const made = { name: 'template', svm: { name: 'bench0' }, size: '1m', snapshot_policy: { name: 'none' } }
  await bench.call('POST', `${VOLUMES}?return_timeout=120`, made)
  const volume = await bench.uuidOf(VOLUMES, 'template')
  await bench.call('POST', `${VOLUMES}/${volume}/snapshots?return_timeout=120`, { name: 'template' })
  const snapshot = await bench.uuidOf(`${VOLUMES}/${volume}/snapshots`, 'template')
  return async (svms, from, to) => {
    const catalog = openProduct(bench)
    try {
      const like = await catalog.record('storage/volumes', volume)
      const shot = await catalog.record(SNAPSHOTS, snapshot)
      if (like === undefined || shot === undefined) throw new Error('The template is not there.')
      let next = from
      const commits = async () => {
        while (next < to) {
          const first = next
          next = Math.min(to, first + VOLUMES_A_COMMIT)
          const many = Array.from({ length: next - first }, (_, at) => first + at)
          await catalog.commit(many.flatMap((n) => copies(like, shot, n, svms[n % svms.length] ?? '')))
        }
      }
      await Promise.all(Array.from({ length: COMMITS_AT_ONCE }, commits))
    } finally {
      await catalog.close()
    }
  }
}

function copies(like: StoredRecord, shot: StoredRecord, n: number, svm: string): Change[] {
  const key = randomUUID()
  const name = `many_${String(n).padStart(8, '0')}`
  const body = { ...like.body, uuid: key, name, 'svm.uuid': svm, 'guarantee.type': n % 2 === 0 ? 'volume' : 'none' }
  const sizeBytes = Number(like.body['size'])
  const unique = { 'storage/volumes:name': `${svm}/${name}` }
  const shots = Array.from({ length: SNAPSHOTS_EACH }, (_, at): Change[] => {
    const uuid = randomUUID()
    const of = { ...shot.body, uuid, name: `s${at}`, 'volume.uuid': key, 'svm.uuid': svm }
    return [
      { do: 'take-snapshot', volume: key, snapshot: uuid, nowMs: at },
      {
        do: 'put-record',
        type: SNAPSHOTS,
        key: uuid,
        parent: key,
        body: of,
        unique: { [`${SNAPSHOTS}:name`]: `${key}/s${at}` },
      },
    ]
  })
  return [
    { do: 'put-record', type: 'storage/volumes', key, parent: svm, body, unique },
    { do: 'open-volume', volume: key, sizeBytes },
    { do: 'place-volume', volume: key, aggregate: aggregateOf(like.body), isGuaranteed: n % 2 === 0 },
    ...shots.flat(),
  ]
}

function openProduct(bench: Bench): Catalog {
  const { folder } = bench.parts.product
  const [socket = ''] = readdirSync(join(folder, 'run'))
  const file = join(folder, 'catalog', 'catalog.db')
  return openSqliteCatalog({ file, commit: { socket: join(folder, 'run', socket) } })
}

/** Processor time of the product's processes while nobody asks anything, in percent of a core. */
async function idleShare(bench: Bench): Promise<string> {
  // What the last requests left to do is done by then.
  await wait(3000)
  const before = new Map(usedBy(bench))
  await wait(IDLE_SECONDS * 1000)
  return usedBy(bench)
    .map(([part, seconds]) => `${part} ${(((seconds - (before.get(part) ?? 0)) / IDLE_SECONDS) * 100).toFixed(2)} %`)
    .join(', ')
}

function usedBy(bench: Bench): [part: string, seconds: number][] {
  const { pid } = bench.parts.product
  const used = new Map<string, number>()
  for (const { pid: each, part } of [{ pid, part: 'main' }, ...descendants(pid)]) {
    const text = readFileSync(`/proc/${each}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    used.set(part, (used.get(part) ?? 0) + (Number(fields[11]) + Number(fields[12])) / TICKS)
  }
  return [...used]
}

function mainSeconds(bench: Bench): number {
  return new Map(usedBy(bench)).get('main') ?? 0
}

function middle({ milliseconds }: Load): number {
  return milliseconds.toSorted()[Math.floor(milliseconds.length / 2)] ?? Number.NaN
}
