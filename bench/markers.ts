/**
 * What a listing costs behind delete markers, and what writes cost that keep it cheap: processor time at the port of the
 * catalog, in process and in memory. A bucket without versions is the measure that the others are a ratio to.
 *
 *     node bench/markers.ts
 */
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import type { Catalog, Change } from '../src/ports/catalog.ts'

const MARKERS = [0, 15_000, 150_000]
const LISTINGS = 200
const WRITES = 20_000
const WRITES_A_COMMIT = 20
const WRITES_A_TURN = 1000
const ROUNDS = 5

const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
try {
  for (const markers of MARKERS) {
    console.log(await listing(markers))
    for (const line of await listingsAtSnapshot(markers)) console.log(line)
  }
  for (const line of await writes()) console.log(line)
} finally {
  await catalog.close()
}

async function listing(markers: number): Promise<string> {
  const bucket = `listed-${markers}`
  await open(bucket, 'enabled')
  const keys = Array.from({ length: markers }, (_, n) => `a${String(n).padStart(7, '0')}`)
  await write(keys.map((key) => put(bucket, key, 'v1')))
  await write(keys.map((key) => mark(bucket, key, 'v2')))
  await write(Array.from({ length: 10 }, (_, n) => put(bucket, `b${n}`, 'v1')))
  const took = await cpu(async () => {
    for (let n = 0; n < LISTINGS; n++) await listAll(catalog, bucket)
  })
  return `list 10 keys behind ${markers} markers: ${((took / LISTINGS) * 1000).toFixed(3)} ms of processor time`
}

/** Of the bucket that `listing` made. */
async function listingsAtSnapshot(markers: number): Promise<string[]> {
  const bucket = `listed-${markers}`
  const [outcome] = await catalog.commit([{ do: 'take-snapshot', volume: bucket, snapshot: 's', nowMs: 1 }])
  const epoch = outcome?.epoch ?? 0
  await write(Array.from({ length: markers }, (_, n) => put(bucket, `c${n}`, 'v1')))
  const first = await cpu(() => listAll(catalog, bucket, epoch).then(() => undefined))
  const took = await cpu(async () => {
    for (let n = 0; n < LISTINGS; n++) await listAll(catalog, bucket, epoch)
  })
  const what = `list 10 keys at a snapshot behind ${markers} markers and before as many newer keys`
  return [
    `${what}, for the first time: ${(first * 1000).toFixed(3)} ms of processor time`,
    `${what}, again: ${((took / LISTINGS) * 1000).toFixed(3)} ms of processor time`,
  ]
}

/** Buckets take turns, so that both are slowed alike by what else the machine does. The median of the rounds counts. */
async function writes(): Promise<string[]> {
  const took = new Map<string, number[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const versioning of ['off', 'enabled'] as const) await open(`${versioning}-${round}`, versioning)
    const keys = Array.from({ length: WRITES }, (_, n) => `${(n * 7919) % WRITES}-key`)
    const steps: readonly [string, (bucket: string, key: string) => Change][] = [
      ['put', (bucket, key) => put(bucket, key, 'v1')],
      ['overwrite', (bucket, key) => put(bucket, key, 'v2')],
      ['delete', (bucket, key) => mark(bucket, key, 'v3')],
      ['put again', (bucket, key) => put(bucket, key, 'v4')],
    ]
    for (const [what, change] of steps) {
      for (let from = 0; from < WRITES; from += WRITES_A_TURN) {
        for (const versioning of ['off', 'enabled'] as const) {
          const changes = keys.slice(from, from + WRITES_A_TURN).map((key) => change(`${versioning}-${round}`, key))
          const name = `${what} ${versioning}`
          took.set(name, [...(took.get(name) ?? []), (await cpu(() => write(changes))) / changes.length])
        }
      }
    }
  }
  return ['put', 'overwrite', 'delete', 'put again'].map((what) => {
    const [off = 0, enabled = 0] = ['off', 'enabled'].map((one) => median(took.get(`${what} ${one}`) ?? []) * 1e6)
    return `${what}: ${enabled.toFixed(1)} µs of processor time with versions, ${off.toFixed(1)} without, ${(enabled / off).toFixed(2)} times`
  })
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >>> 1] ?? 0
}

async function open(bucket: string, versioning: 'off' | 'enabled'): Promise<void> {
  await catalog.commit([
    { do: 'open-volume', volume: bucket, sizeBytes: 1e12 },
    { do: 'open-bucket', bucket, volume: bucket, limitBytes: 1e12 },
    ...(versioning === 'off' ? [] : [{ do: 'version-bucket', bucket, state: versioning } as const]),
  ])
}

async function write(changes: readonly Change[]): Promise<void> {
  for (let from = 0; from < changes.length; from += WRITES_A_COMMIT) {
    await catalog.commit(changes.slice(from, from + WRITES_A_COMMIT))
  }
}

async function listAll(of: Catalog, bucket: string, epoch?: number): Promise<number> {
  const none = new Uint8Array()
  const asked = {
    bucket,
    prefix: none,
    delimiter: none,
    limit: 1000,
    ...(epoch === undefined ? {} : { at: { epoch } }),
  }
  let found = 0
  for (let after: Uint8Array | undefined = none; after !== undefined;) {
    const page = await of.list({ ...asked, after })
    found += page.objects.length
    after = page.next
  }
  return found
}

/** Seconds. */
async function cpu(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function put(bucket: string, key: string, version: string): Change {
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' } as const
  const object = { version, sizeBytes: 0, etag: 'd41d8cd98f00b204e9800998ecf8427e', modifiedMs: 1, checksum }
  return { do: 'put-object', bucket, key: Buffer.from(key), object: { ...object, blobs: [], parts: null, details: {} } }
}

function mark(bucket: string, key: string, version: string): Change {
  return { do: 'delete-object', bucket, key: Buffer.from(key), marker: { version, modifiedMs: 1, details: {} } }
}
