/** PUT and GET of objects of three sizes, by one client and by sixteen. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import type { Order } from './order.ts'

const KIB = 2 ** 10
const MIB = 2 ** 20

interface Size {
  readonly name: string
  readonly bytes: number
  /** How many different objects are read. */
  readonly count: number
  /** Whether each PUT makes a new object; else each client replaces its own, so that the disk does not fill. */
  readonly fresh: boolean
}

const sizes: readonly Size[] = [
  { name: '4 KiB', bytes: 4 * KIB, count: 256, fresh: true },
  { name: '1 MiB', bytes: MIB, count: 64, fresh: true },
  { name: '64 MiB', bytes: 64 * MIB, count: 4, fresh: false },
]
const clientCounts = [1, 16] as const

export async function measureObjects(bench: Bench): Promise<void> {
  const { settings, parts } = bench
  const until = { seconds: settings.seconds }
  await bench.prepare({
    ...bench.s3,
    method: 'PUT',
    target: '/bench',
    numbers: { pick: 'client' },
    clients: 1,
    until: { requests: 1 },
  })
  for (const { bytes, count } of sizes) {
    const load: Order = {
      ...bench.s3,
      method: 'PUT',
      target: `/bench/${bytes}/{n}`,
      numbers: { pick: 'next', from: 0 },
      body: { bytes },
      clients: 4,
      until: { requests: count },
    }
    await bench.prepare(load)
    // The bare server is made warm too.
    await bench.run({ ...load, base: parts.bare.plain })
    await bench.run({ ...load, base: parts.bare.plain, method: 'GET' })
    writeFiles(parts.nginx?.root, bytes, count)
  }

  bench.title('Objects')
  let next = 1_000_000
  for (const { name, bytes, fresh } of sizes) {
    for (const clients of clientCounts) {
      const put = (base: Pick<Order, 'base' | 'credentials'>) => async () => {
        const load = await bench.run({
          ...base,
          method: 'PUT',
          target: `/bench/${bytes}/{n}`,
          numbers: fresh ? { pick: 'next', from: next } : { pick: 'client' },
          body: { bytes },
          clients,
          until,
        })
        next = Math.max(next, load.next)
        return load
      }
      const disk = () => parts.durable.run({ folder: parts.folder, bytes, clients, seconds: settings.seconds })
      await bench.measure(`PUT ${name}`, clients, {
        product: put(bench.s3),
        bare: put({ base: parts.bare.plain }),
        disk,
      })
    }
  }
  for (const { name, bytes, count } of sizes) {
    for (const clients of clientCounts) {
      const get = (base: Pick<Order, 'base' | 'credentials'>) => () =>
        bench.run({
          ...base,
          method: 'GET',
          target: `/bench/${bytes}/{n}`,
          numbers: { pick: 'random', count },
          clients,
          until,
        })
      const { nginx } = parts
      await bench.measure(`GET ${name}`, clients, {
        product: get(bench.s3),
        bare: get({ base: parts.bare.plain }),
        ...(nginx === undefined ? {} : { nginx: get({ base: nginx.base }) }),
      })
    }
  }
}

function writeFiles(root: string | undefined, bytes: number, count: number): void {
  if (root === undefined) return
  const folder = join(root, 'bench', String(bytes))
  mkdirSync(folder, { recursive: true })
  for (let n = 0; n < count; n++) writeFileSync(join(folder, String(n).padStart(8, '0')), randomBytes(bytes))
}
