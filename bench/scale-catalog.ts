/**
 * Fills buckets of one catalog and lists pages of them. Every bucket has, whatever its size, the same number of entries
 * on each page that is measured:
 *
 *     f00/0000000000 … f99/…    most keys, in a hundred folders
 *     p/00/0 … p/99/4           500 keys
 *     v/hot                     one key with a hundredth of all rows as its versions
 *     v/next
 *
 * The rows are as long as those of usual objects, but of 0 bytes, so no row lacks its blob.
 */
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import type { Catalog, Change } from '../src/ports/catalog.ts'

export interface ScaleOrder {
  readonly folder: string
  /** Of each bucket; the first is what the others are compared with. */
  readonly keys: readonly number[]
}

export interface ScaleLoad {
  readonly fills: readonly { readonly keys: number; readonly seconds: number }[]
  /** Of each page, the times of each bucket. */
  readonly pages: readonly { readonly what: string; readonly each: readonly (readonly number[])[] }[]
  readonly residentMegabytes: number
  readonly fileMegabytes: number
}

const ROWS_A_COMMIT = 1000
const FOLDERS = 100
const P_KEYS = 500
const WARM_UPS = 30
const SAMPLES = 200

process.on('disconnect', () => process.exit(0))
process.on('message', (order: ScaleOrder) => {
  measure(order).then(
    (load) => process.send?.({ load }),
    (failure: unknown) => process.send?.({ failure: String(failure) }),
  )
})

async function measure({ folder, keys: sizes }: ScaleOrder): Promise<ScaleLoad> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'catalog.db')
  const catalog = openSqliteCatalog({ file, commit: 'in-process' })
  try {
    const fills: { keys: number; seconds: number }[] = []
    for (const keys of sizes) {
      const startMs = performance.now()
      await fill(catalog, bucketOf(keys), keys)
      fills.push({ keys, seconds: (performance.now() - startMs) / 1000 })
    }
    const pages: { what: string; each: number[][] }[] = []
    for (const { what, entries, read } of pagesOf(catalog)) {
      const each = sizes.map((): number[] => [])
      for (let n = 0; n < WARM_UPS + SAMPLES; n++) {
        // Turn by turn, so that what else the machine does meets all alike.
        for (const [at, keys] of sizes.entries()) {
          const startMs = performance.now()
          const found = await read(bucketOf(keys), keys)
          const took = performance.now() - startMs
          if (found !== entries) throw new Error(`${what} of ${keys} keys has ${found} entries, not ${entries}.`)
          if (n >= WARM_UPS) each[at]?.push(took)
        }
      }
      pages.push({ what, each })
    }
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    const megabytes = (bytes: number) => Math.round(bytes / 1e6)
    const fileMegabytes = megabytes(statSync(file).size)
    return { fills, pages, residentMegabytes: megabytes(Number(kilobytes) * 1024), fileMegabytes }
  } finally {
    await catalog.close()
  }
}

const bucketOf = (keys: number) => `bucket-${keys}`
const hotVersions = (keys: number) => Math.floor(keys / 100)
const folderKeys = (keys: number) => keys - P_KEYS

async function fill(catalog: Catalog, bucket: string, keys: number): Promise<void> {
  await catalog.commit([
    { do: 'open-volume', volume: bucket, sizeBytes: 2 ** 40 },
    { do: 'open-bucket', bucket, volume: bucket, limitBytes: 2 ** 40 },
  ])
  await write(catalog, folderKeys(keys), (n) => put(bucket, folderKey(n, keys), 'null'))
  await write(catalog, P_KEYS, (n) => put(bucket, `p/${two(n % FOLDERS)}/${Math.floor(n / FOLDERS)}`, 'null'))
  await catalog.commit([{ do: 'version-bucket', bucket, state: 'enabled' }])
  await write(catalog, hotVersions(keys), (n) => put(bucket, 'v/hot', `v${n}`))
  await catalog.commit([put(bucket, 'v/next', 'v0')])
}

async function write(catalog: Catalog, rows: number, change: (n: number) => Change): Promise<void> {
  for (let from = 0; from < rows; from += ROWS_A_COMMIT) {
    const size = Math.min(ROWS_A_COMMIT, rows - from)
    await catalog.commit(Array.from({ length: size }, (_, at) => change(from + at)))
  }
}

const two = (n: number) => String(n).padStart(2, '0')

function folderKey(n: number, keys: number): string {
  return `f${two(Math.floor((n * FOLDERS) / folderKeys(keys)))}/${String(n).padStart(10, '0')}`
}

function put(bucket: string, key: string, version: string): Change {
  return {
    do: 'put-object',
    bucket,
    key: Buffer.from(key),
    object: {
      version,
      sizeBytes: 0,
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
      modifiedMs: 1_800_000_000_000,
      checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
      blobs: [],
      parts: null,
      details: { 'content-type': 'application/octet-stream', owner: 'b8f2b1a0-0000-4000-8000-5f0c7f8d9e10' },
    },
  }
}

interface Page {
  readonly what: string
  /** Objects, versions and common prefixes that it has in every bucket. */
  readonly entries: number
  readonly read: (bucket: string, keys: number) => Promise<number>
}

function pagesOf(catalog: Catalog): Page[] {
  interface Asked {
    readonly prefix?: string
    readonly delimiter?: string
    readonly after?: string
    readonly limit?: number
  }
  const list = async (bucket: string, { prefix = '', delimiter = '', after = '', limit = 1000 }: Asked) => {
    const range = { bucket, prefix: Buffer.from(prefix), delimiter: Buffer.from(delimiter), limit }
    const { objects, prefixes } = await catalog.list({ ...range, after: Buffer.from(after) })
    return objects.length + prefixes.length
  }
  const versions = async (bucket: string, { prefix = '', delimiter = '', after = '', limit = 1000 }: Asked) => {
    const range = { bucket, prefix: Buffer.from(prefix), delimiter: Buffer.from(delimiter), limit }
    const page = await catalog.versions({ ...range, afterKey: Buffer.from(after) })
    return page.versions.length + page.prefixes.length
  }
  const half = (keys: number) => folderKey(Math.floor(folderKeys(keys) / 2), keys)
  const anywhere = (keys: number) => folderKey(Math.floor(Math.random() * folderKeys(keys)), keys)
  const roots = FOLDERS + 2
  return [
    { what: 'first page of 1000', entries: 1000, read: (bucket) => list(bucket, {}) },
    {
      what: '250 from the middle',
      entries: 250,
      read: (b, keys) => list(b, { after: half(keys), limit: 250 }),
    },
    {
      what: '250 from anywhere',
      entries: 250,
      read: (b, keys) => list(b, { after: anywhere(keys), limit: 250 }),
    },
    { what: 'prefix, 500', entries: P_KEYS, read: (bucket) => list(bucket, { prefix: 'p/' }) },
    { what: 'delimiter, 102 folders', entries: roots, read: (bucket) => list(bucket, { delimiter: '/' }) },
    {
      what: 'prefix and delimiter, 100 folders',
      entries: 100,
      read: (bucket) => list(bucket, { prefix: 'p/', delimiter: '/' }),
    },
    { what: 'over a key of many versions, 2', entries: 2, read: (bucket) => list(bucket, { prefix: 'v/' }) },
    { what: 'versions: first page of 1000', entries: 1000, read: (bucket) => versions(bucket, {}) },
    {
      what: 'versions: 250 from anywhere',
      entries: 250,
      read: (b, keys) => versions(b, { after: anywhere(keys), limit: 250 }),
    },
    {
      what: 'versions: delimiter, 102 folders',
      entries: roots,
      read: (bucket) => versions(bucket, { delimiter: '/' }),
    },
    {
      what: 'versions: of a key of many, 10',
      entries: 10,
      read: (bucket) => versions(bucket, { prefix: 'v/hot', limit: 10 }),
    },
  ]
}
