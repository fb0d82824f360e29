/**
 * How fast the embedded engines are here: `node bench/engines.ts [--objects=1000000] [--seconds=1]`.
 * Writes into a folder below the working directory, because a temporary file system may not be a disk.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { DirectoryVolumes } from '../src/engines/directory/volumes.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { startWriter } from '../src/engines/sqlite/start-writer.ts'
import type { Catalog, Change } from '../src/ports/catalog.ts'

const { values } = parseArgs({
  options: { objects: { type: 'string', default: '1000000' }, seconds: { type: 'string', default: '1' } },
})
const OBJECTS = Number(values.objects)
const SECONDS = Number(values.seconds)
const BATCH = 1000

const folder = relative('.', mkdtempSync(join(process.cwd(), '.bench-')))
const writer = await startWriter({ file: join(folder, 'catalog.db'), socket: join(folder, 's') })
const catalog = openSqliteCatalog({ file: join(folder, 'catalog.db'), commit: { socket: join(folder, 's') } })
try {
  await benchCommits()
  await benchBucket('small', 1000)
  await benchBucket('large', OBJECTS)
  await benchBlobs()
} finally {
  await catalog.close()
  await writer.stop()
  rmSync(folder, { recursive: true })
}

function tell(what: string, figure: number, unit: string): void {
  console.log(`${what.padEnd(52)} ${figure >= 100 ? Math.round(figure) : figure.toPrecision(3)} ${unit}`)
}

/** Repeats an action in as many lanes at once; actions per second. */
async function rate(lanes: number, act: (n: number) => Promise<unknown>): Promise<number> {
  const start = performance.now()
  const until = start + SECONDS * 1000
  let done = 0
  const lane = async () => {
    while (performance.now() < until) await act(done++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return (done / (performance.now() - start)) * 1000
}

/** Milliseconds, the middle of several runs. */
async function middle(act: () => Promise<unknown>, runs = 15): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    await act()
    times.push(performance.now() - start)
  }
  return times.toSorted((a, b) => a - b)[runs >> 1] ?? 0
}

function put(bucket: string, key: string): Change {
  const blob = randomBytes(16).toString('hex')
  return {
    do: 'put-object',
    bucket,
    key: Buffer.from(key),
    object: {
      version: 'null',
      sizeBytes: 4096,
      etag: blob,
      modifiedMs: 1_700_000_000_000,
      checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
      blobs: [{ blob, sizeBytes: 4096 }],
      parts: null,
      details: { 'content-type': 'application/octet-stream', owner: 'user' },
    },
  }
}

async function openBucket(name: string): Promise<void> {
  await catalog.commit([
    { do: 'open-volume', volume: `${name}-volume`, sizeBytes: 1e15 },
    { do: 'open-bucket', bucket: name, volume: `${name}-volume`, limitBytes: 1e15 },
  ])
}

async function benchCommits(): Promise<void> {
  await openBucket('commits')
  for (const lanes of [1, 16, 32, 128]) {
    const figure = await rate(lanes, (n) => catalog.commit([put('commits', `${lanes}/${n}`)]))
    tell(`durable put-object commits, ${lanes} in flight`, figure, '/s')
  }
}

async function benchBucket(name: string, objects: number): Promise<void> {
  const called = `${objects} objects`
  await openBucket(name)
  const start = performance.now()
  const keyOf = (n: number) => `dir${String(n % 100).padStart(2, '0')}/sub${String(n % 1000).padStart(3, '0')}/file${n}`
  for (let from = 0; from < objects; from += BATCH * 4) {
    const batches = [0, 1, 2, 3].map((i) => from + i * BATCH).filter((first) => first < objects)
    const batch = (first: number) =>
      Array.from({ length: Math.min(BATCH, objects - first) }, (_, i) => put(name, keyOf(first + i)))
    await Promise.all(batches.map((first) => catalog.commit(batch(first))))
  }
  tell(`${called}: loaded, ${BATCH} changes a commit`, (objects / (performance.now() - start)) * 1000, '/s')
  const random = () => keyOf(Math.floor(Math.random() * objects))
  tell(`${called}: point reads`, await rate(1, () => catalog.object(name, Buffer.from(random()))), '/s')
  await benchLists(catalog, name, called, random)

  const volume = `${name}-volume`
  const change = (snapshot: string, what: 'take-snapshot' | 'drop-snapshot') =>
    catalog.commit([{ do: what, volume, snapshot, nowMs: 1 }])
  let n = 0
  tell(`${called}: take a snapshot`, await middle(() => change(`s${n++}`, 'take-snapshot')), 'ms')
  tell(`${called}: drop a snapshot`, await middle(() => change(`s${--n}`, 'drop-snapshot')), 'ms')

  const [taken] = await change('kept', 'take-snapshot')
  const changed = Math.min(objects, 20_000)
  for (let from = 0; from < changed; from += BATCH) {
    await catalog.commit(Array.from({ length: Math.min(BATCH, changed - from) }, (_, i) => put(name, keyOf(from + i))))
  }
  const at = { at: { epoch: taken?.epoch ?? 0 } }
  tell(
    `${called}: point reads at a snapshot`,
    await rate(1, () => catalog.object(name, Buffer.from(random()), at.at)),
    '/s',
  )
  await benchLists(catalog, name, `${called}, snapshot with ${changed} changed`, random, at)
  tell(`${called}: sizes of snapshots, ${changed} changed`, await middle(() => catalog.snapshotBytes(volume), 3), 'ms')
  await change('kept', 'drop-snapshot')
  const reclaimStart = performance.now()
  for (let left = true; left;) {
    const [outcome] = await catalog.commit([{ do: 'reclaim', volume, limit: BATCH }])
    left = outcome?.next !== undefined
  }
  tell(`${called}: reclaim`, (changed / (performance.now() - reclaimStart)) * 1000, 'rows/s')
}

async function benchLists(
  from: Catalog,
  bucket: string,
  called: string,
  random: () => string,
  at: { at?: { epoch: number } } = {},
): Promise<void> {
  const none = Buffer.alloc(0)
  const list = (prefix: string, delimiter: string, after: Buffer) =>
    from.list({ bucket, prefix: Buffer.from(prefix), delimiter: Buffer.from(delimiter), after, limit: 1000, ...at })
  tell(`${called}: list 1000 after a random key`, await middle(() => list('', '', Buffer.from(random()))), 'ms')
  tell(`${called}: list with delimiter, 100 prefixes`, await middle(() => list('', '/', none)), 'ms')
  tell(`${called}: list one folder with delimiter`, await middle(() => list('dir07/', '/', none)), 'ms')
}

async function benchBlobs(): Promise<void> {
  const volumes = new DirectoryVolumes(join(folder, 'aggregate'))
  await volumes.create('bench')
  const bytes = randomBytes(4096)
  const label = randomBytes(200)
  const written: string[] = []
  for (const lanes of [1, 16]) {
    const figure = await rate(lanes, async () => {
      const blob = randomBytes(16).toString('hex')
      const one = await volumes.write('bench', blob)
      await one.write(bytes)
      await one.commit(label)
      written.push(blob)
    })
    tell(`durable blobs of 4 KiB, ${lanes} writers`, figure, '/s')
  }
  for (const lanes of [1, 16]) {
    const figure = await rate(lanes, async (n) => {
      const reader = await volumes.open('bench', written[n % written.length] ?? '')
      await reader.read(0, 4096)
      await reader.close()
    })
    tell(`open, read and close 4 KiB, ${lanes} readers`, figure, '/s')
  }
}
