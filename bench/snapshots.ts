/**
 * Snapshots of a volume with a thousand objects and of one with a million, and pages and deletes of objects that snapshots
 * see: in both they take as long, or the design is broken. The million is written through the catalog's port, since through HTTP it would take longer than all the rest; they are
 * objects of 0 bytes, so no row lacks its blob.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import type { Change } from '../src/ports/catalog.ts'
import type { Bench } from './bench.ts'
import type { Load, Order } from './order.ts'

const SAMPLES = 20
const FEW = 1000
/** In each round; of the few, enough stay for a page. */
const DELETES = 100
const PAGES = 100
const ROWS_A_COMMIT = 500
const COMMITS_AT_ONCE = 8

export async function measureSnapshots(bench: Bench): Promise<void> {
  const { snapshotObjects, rounds } = bench.settings
  bench.title('Snapshots, over HTTPS, their jobs waited for')
  const sizes = [FEW, snapshotObjects]
  const volumes: string[] = []
  for (const objects of sizes) volumes.push(await makeVolume(bench, nameOf(objects), objects))
  const whats = ['snapshot create', 'page of 500', `DELETE, seen by ${SAMPLES} snapshots`, 'snapshot delete']
  const loads = sizes.map(() => whats.map((): Load[] => []))
  // Turn by turn, so that what else the machine does meets both alike.
  for (let round = 0; round < rounds; round++) {
    for (const [at, objects] of sizes.entries()) {
      const orders = ordersOf(bench, `/api/storage/volumes/${volumes[at]}/snapshots`, bucketOf(nameOf(objects)), round)
      for (const [what, order] of orders.entries()) loads[at]?.[what]?.push(await bench.run(order))
    }
  }
  for (const [what, name] of whats.entries()) {
    for (const [at, objects] of sizes.entries()) {
      bench.add(`${name}, at ${objects} objects`, 1, new Map([['product', loads[at]?.[what] ?? []]]))
    }
  }
}

/** What is measured in one round at one volume, in its order. */
function ordersOf(bench: Bench, snapshots: string, bucket: string, round: number): readonly Order[] {
  const numbers = { pick: 'next', from: 0 } as const
  const ofSnapshots = { ...bench.management, numbers, clients: 1, until: { requests: SAMPLES } }
  const ofObjects = { ...bench.s3, clients: 1 }
  const target = `/${bucket}/folder/{n}`
  return [
    {
      ...ofSnapshots,
      method: 'POST',
      target: `${snapshots}?return_timeout=120`,
      body: { json: '{"name":"s{n}"}' },
    },
    {
      ...ofObjects,
      numbers,
      method: 'GET',
      target: `/${bucket}?list-type=2&max-keys=500`,
      until: { requests: PAGES },
    },
    {
      ...ofObjects,
      numbers: { pick: 'next', from: round * DELETES },
      method: 'DELETE',
      target,
      until: { requests: DELETES },
    },
    { ...ofSnapshots, method: 'DELETE', target: `${snapshots}/s{n}?return_timeout=120` },
  ]
}

const nameOf = (objects: number) => `bench_snapshots_${objects}`

/** A volume with one bucket of so many objects. */
async function makeVolume(bench: Bench, name: string, objects: number): Promise<string> {
  const svm = await bench.uuidOf('/api/svm/svms', 'svm1')
  await bench.call('POST', '/api/storage/volumes?return_timeout=120', {
    name,
    svm: { name: 'svm1' },
    size: '1g',
    guarantee: { type: 'none' },
  })
  const servers = `/api/svm/svms/${svm}/object-store/servers`
  const server = await bench.uuidOf(servers, 's3')
  const { data_volumes: before } = await bench.call('GET', `${servers}/${server}?fields=data_volumes`)
  const volumes = before as { readonly name: string }[]
  await bench.call('PATCH', `${servers}/${server}`, {
    data_volumes: [...volumes.map((volume) => ({ name: volume.name })), { name }],
  })
  const bucket = bucketOf(name)
  await bench.call('POST', `${servers}/${server}/buckets`, { name: bucket, volume: { name }, size: 2 ** 30 })
  await fill(bench, await bench.uuidOf(`${servers}/${server}/buckets`, bucket), objects)
  return bench.uuidOf('/api/storage/volumes', name)
}

const bucketOf = (volume: string) => volume.replaceAll('_', '-')

async function fill(bench: Bench, bucket: string, objects: number): Promise<void> {
  const startMs = performance.now()
  const { folder } = bench.parts.product
  const [socket = ''] = readdirSync(join(folder, 'run'))
  const catalog = openSqliteCatalog({
    file: join(folder, 'catalog', 'catalog.db'),
    commit: { socket: join(folder, 'run', socket) },
  })
  try {
    let next = 0
    const commits = async () => {
      while (next < objects) {
        const from = next
        next = Math.min(objects, from + ROWS_A_COMMIT)
        await catalog.commit(Array.from({ length: next - from }, (_, at) => emptyObject(bucket, from + at)))
      }
    }
    await Promise.all(Array.from({ length: COMMITS_AT_ONCE }, commits))
  } finally {
    await catalog.close()
  }
  const seconds = (performance.now() - startMs) / 1000
  const load: Load = { seconds, milliseconds: new Float64Array(), bytes: 0, failures: {}, firstFailure: '', next: 0 }
  if (objects >= 1000) bench.say(`(${objects} rows written through the catalog port in ${load.seconds.toFixed(1)} s)`)
}

function emptyObject(bucket: string, n: number): Change {
  return {
    do: 'put-object',
    bucket,
    key: Buffer.from(`folder/${String(n).padStart(8, '0')}`),
    object: {
      version: 'null',
      sizeBytes: 0,
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
      modifiedMs: Date.now(),
      checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
      blobs: [],
      parts: null,
      details: {},
    },
  }
}
