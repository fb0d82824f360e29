/**
 * Random sequences of changes against a model that is written straight and slow: whole copies of the live index for
 * every snapshot, sums by adding up. Listings are checked against sorting all keys and folding them one by one.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Catalog, Change } from './catalog.ts'
import { CommitRefused } from './catalog.ts'
import { bytes, draft, listed, openBucket, page, part, put, reclaimAll, text } from './catalog-fixtures.suite.ts'

interface ModelObject {
  readonly etag: string
  readonly size: number
  readonly blobs: readonly string[]
}
type Index = ReadonlyMap<string, ModelObject>

const BUCKETS = 2
const KEYS = ['a', 'a/', 'a/a', 'b', '\xff']
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

const key = fc.constantFrom(...KEYS)
const bucket = fc.nat(BUCKETS - 1)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('put' as const), bucket, key, size: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), bucket, key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('copy' as const), bucket, key, to: bucket, toKey: key }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('part' as const), bucket, number: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('complete' as const), bucket, key, last: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), bucket }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('restore' as const), bucket, key, which: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const), which: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reclaim' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

let runs = 0

export function proveAgainstModel(catalog: () => Catalog, numRuns: number): void {
  void describe(`against a model (SEED=${SEED})`, () => {
    void it('any sequence of changes shows what the model shows, now and at every snapshot', async () => {
      const property = fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const run = new Run(catalog(), `model-${++runs}`)
        await run.open()
        for (const one of steps) await run.take(one)
        await run.checkBlobs()
      })
      await fc.assert(property, { seed: SEED, numRuns })
    })

    void it('any page of any keys is what sorting and folding all of them gives', async () => {
      const letters = fc.constantFrom('a', 'b', '/', '\x00', '\xfe', '\xff')
      const string = (max: number) => fc.array(letters, { maxLength: max }).map((all) => all.join(''))
      const keys = fc.uniqueArray(
        string(5).filter((k) => k !== ''),
        { maxLength: 40 },
      )
      const query = fc.record({
        prefix: string(2),
        delimiter: string(2),
        after: string(3),
        limit: fc.integer({ min: 1, max: 7 }),
      })
      const property = fc.asyncProperty(
        keys,
        keys,
        fc.array(query, { minLength: 5, maxLength: 5 }),
        async (kept, gone, queries) => {
          const name = `listing-${++runs}`
          await openBucket(catalog(), name)
          const changes = [...new Set([...kept, ...gone])].map((k) => put(name, k, draft(`old ${k}`)))
          await catalog().commit([...changes, { do: 'take-snapshot', volume: `${name}-v`, snapshot: 's', nowMs: 1 }])
          const [snapshot] = await catalog().snapshots(`${name}-v`)
          const epoch = snapshot?.epoch ?? 0
          const deletes = gone.map((k) => ({ do: 'delete-object', bucket: name, key: bytes(k) }) as const)
          await catalog().commit([...deletes, ...kept.map((k) => put(name, k, draft(`new ${k}`)))])
          const live = new Map(kept.map((k) => [k, `new ${k}`]))
          const old = new Map([...kept, ...gone].map((k) => [k, `old ${k}`]))
          for (const q of queries) {
            assert.deepEqual(await pageText(catalog(), name, q), plainPage(live, q))
            assert.deepEqual(await pageText(catalog(), name, { ...q, epoch }), plainPage(old, q))
          }
        },
      )
      await fc.assert(property, { seed: SEED, numRuns })
    })
  })
}

interface PageQuery {
  readonly prefix: string
  readonly delimiter: string
  readonly after: string
  readonly limit: number
  readonly epoch?: number
}

async function pageText(catalog: Catalog, name: string, query: PageQuery) {
  const { objects, prefixes, next } = await page(catalog, name, query)
  return {
    objects: objects.map((o) => `${text(o.key)}=${o.etag}`),
    prefixes: prefixes.map(text),
    next: next === undefined ? undefined : text(next),
  }
}

/** Latin-1 strings compare as their bytes do. */
function plainPage(index: ReadonlyMap<string, string>, { prefix, delimiter, after, limit }: PageQuery) {
  const items = new Map<string, string | undefined>()
  for (const k of [...index.keys()].toSorted(byBytes)) {
    if (!k.startsWith(prefix)) continue
    const at = delimiter === '' ? -1 : k.indexOf(delimiter, prefix.length)
    const item = at < 0 ? k : k.slice(0, at + delimiter.length)
    if (k > after && item > after) items.set(item, at < 0 ? `${k}=${index.get(k)}` : undefined)
  }
  const taken = [...items].slice(0, limit)
  return {
    objects: taken.flatMap(([, object]) => object ?? []),
    prefixes: taken.flatMap(([item, object]) => (object === undefined ? [item] : [])),
    next: items.size > limit ? taken.at(-1)?.[0] : undefined,
  }
}

const byBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

class Run {
  readonly #catalog: Catalog
  readonly #name: string
  #live: Index[] = Array.from({ length: BUCKETS }, () => new Map())
  readonly #parts = Array.from({ length: BUCKETS }, () => new Map<number, ModelObject>())
  readonly #snapshots: { uuid: string; epoch: number; index: Index[] }[] = []
  readonly #sizes = new Map<string, number>()
  #made = 0

  constructor(catalog: Catalog, name: string) {
    this.#catalog = catalog
    this.#name = name
  }

  #bucket = (n: number) => `${this.#name}-${n}`
  #newObject(size: number): ModelObject {
    const etag = `${this.#name}:${++this.#made}`
    this.#sizes.set(etag, size)
    return { etag, size, blobs: [etag] }
  }
  #openUpload = (n: number): Change => ({
    do: 'open-upload',
    bucket: this.#bucket(n),
    upload: { upload: 'u', key: bytes('a/a'), startedMs: 1, details: {} },
  })

  async open(): Promise<void> {
    await this.#catalog.commit([{ do: 'open-volume', volume: this.#name, sizeBytes: 1e9 }])
    for (let n = 0; n < BUCKETS; n++) {
      await this.#catalog.commit([
        { do: 'open-bucket', bucket: this.#bucket(n), volume: this.#name, limitBytes: 1e9 },
        this.#openUpload(n),
      ])
    }
  }

  async take(step: Step): Promise<void> {
    const commit = (...changes: Change[]) => this.#catalog.commit(changes)
    switch (step.do) {
      case 'put': {
        const object = this.#newObject(step.size)
        await commit(put(this.#bucket(step.bucket), step.key, draft(object.etag, step.size)))
        this.#set(step.bucket, step.key, object)
        break
      }
      case 'delete':
        await commit({ do: 'delete-object', bucket: this.#bucket(step.bucket), key: bytes(step.key) })
        this.#set(step.bucket, step.key, undefined)
        break
      case 'copy': {
        const source = await this.#catalog.object(this.#bucket(step.bucket), bytes(step.key))
        const model = this.#live[step.bucket]?.get(step.key)
        if (source === undefined || model === undefined) break
        await commit(put(this.#bucket(step.to), step.toKey, source, { shares: true }))
        this.#set(step.to, step.toKey, model)
        break
      }
      case 'part': {
        const { etag } = this.#newObject(4)
        const change = { do: 'put-part', bucket: this.#bucket(step.bucket), upload: 'u', maxTotalBytes: 100 } as const
        await commit({ ...change, part: part(step.number, etag, 4) })
        this.#parts[step.bucket]?.set(step.number, { etag, size: 4, blobs: [etag] })
        break
      }
      case 'complete':
        await this.#complete(step.bucket, step.last)
        break
      case 'abort':
        await commit(
          { do: 'abort-upload', bucket: this.#bucket(step.bucket), upload: 'u' },
          this.#openUpload(step.bucket),
        )
        this.#parts[step.bucket]?.clear()
        break
      case 'snapshot': {
        const uuid = `${this.#name}:s${++this.#made}`
        const [outcome] = await commit({ do: 'take-snapshot', volume: this.#name, snapshot: uuid, nowMs: 1 })
        this.#snapshots.push({ uuid, epoch: outcome?.epoch ?? 0, index: [...this.#live] })
        break
      }
      case 'restore': {
        const snapshot = this.#snapshots[step.which]
        const model = snapshot?.index[step.bucket]?.get(step.key)
        if (snapshot === undefined || model === undefined) break
        const row = await this.#catalog.object(this.#bucket(step.bucket), bytes(step.key), { epoch: snapshot.epoch })
        assert.ok(row)
        await commit(put(this.#bucket(step.bucket), step.key, row, { shares: true }))
        this.#set(step.bucket, step.key, model)
        break
      }
      case 'drop': {
        const [snapshot] = this.#snapshots.splice(step.which, 1)
        if (snapshot) await commit({ do: 'drop-snapshot', volume: this.#name, snapshot: snapshot.uuid })
        break
      }
      case 'reclaim':
        await commit({ do: 'reclaim', volume: this.#name, limit: step.limit })
        break
    }
    await this.#check()
  }

  async #complete(n: number, last: number): Promise<void> {
    const chosen = [...(this.#parts[n] ?? [])].filter(([number]) => number <= last).toSorted(([a], [b]) => a - b)
    const parts = chosen.map(([number, { etag }]) => ({ number, etag }))
    const bucket = this.#bucket(n)
    const wrong = { do: 'complete-upload', bucket, upload: 'u', parts: [...parts, { number: 9, etag: 'x' }] } as const
    await assert.rejects(this.#catalog.commit([{ ...wrong, object: draft('x', 0) }]), CommitRefused)
    const etag = `${this.#name}:${++this.#made}`
    const change = { do: 'complete-upload', bucket, upload: 'u', parts, object: draft(etag, 0) } as const
    await this.#catalog.commit([change, this.#openUpload(n)])
    const size = chosen.reduce((sum, [, p]) => sum + p.size, 0)
    this.#set(n, 'a/a', { etag, size, blobs: chosen.flatMap(([, p]) => p.blobs) })
    this.#parts[n]?.clear()
  }

  #set(n: number, k: string, object: ModelObject | undefined): void {
    this.#live = this.#live.map((index, i) => {
      if (i !== n) return index
      const next = new Map(index)
      if (object === undefined) next.delete(k)
      else next.set(k, object)
      return next
    })
  }

  #liveBlobs(): Set<string> {
    return blobsOf<string | number>([...this.#live, ...this.#parts])
  }

  #sum(blobs: Iterable<string>): number {
    let sum = 0
    for (const blob of blobs) sum += this.#sizes.get(blob) ?? 0
    return sum
  }

  async #check(): Promise<void> {
    for (const [n, index] of this.#live.entries()) {
      assert.deepEqual(await listed(this.#catalog, this.#bucket(n), { limit: 2 }), plain(index))
      for (const snapshot of this.#snapshots) {
        const { epoch } = snapshot
        const expected = snapshot.index[n] ?? new Map()
        assert.deepEqual(await listed(this.#catalog, this.#bucket(n), { limit: 2, epoch }), plain(expected))
        const one = await this.#catalog.object(this.#bucket(n), bytes('a'), { epoch })
        assert.equal(one?.etag, expected.get('a')?.etag)
      }
      const objects = [...index.values(), ...(this.#parts[n]?.values() ?? [])]
      const counters = await this.#catalog.bucket(this.#bucket(n))
      assert.equal(
        counters?.usedBytes,
        objects.reduce((sum, { size }) => sum + size, 0),
      )
      assert.equal(counters.objects, index.size)
    }
    await this.#checkVolume()
  }

  /** What reclaim has not come to yet still counts as used, by snapshots. */
  async #checkVolume(): Promise<void> {
    const live = this.#liveBlobs()
    const counters = await this.#catalog.volume(this.#name)
    assert.ok(counters)
    assert.equal(counters.usedBytes - counters.snapshotBytes, this.#sum(live))
    const held = new Map<string, Set<string>>()
    const seen = new Set(live)
    for (const { uuid, index } of this.#snapshots.toReversed()) {
      const only = blobsOf(index).difference(seen)
      held.set(uuid, only)
      for (const blob of only) seen.add(blob)
    }
    const expected = [...held].map(([uuid, only]) => [uuid, this.#sum(only)])
    assert.deepEqual(Object.fromEntries(await this.#catalog.snapshotBytes(this.#name)), Object.fromEntries(expected))
    assert.ok(counters.snapshotBytes >= this.#sum(seen.difference(live)))
  }

  /** After everything was reclaimed, the blobs that are needed are exactly those that something shows. */
  async checkBlobs(): Promise<void> {
    await reclaimAll(this.#catalog, this.#name, 2)
    const needed = this.#liveBlobs()
    for (const { index } of this.#snapshots) {
      for (const blob of blobsOf(index)) needed.add(blob)
    }
    const counters = await this.#catalog.volume(this.#name)
    assert.equal(counters?.usedBytes, this.#sum(needed))
    assert.equal(counters.snapshotBytes, this.#sum(needed.difference(this.#liveBlobs())))
    const unneeded = new Set(await this.#catalog.unneededBlobs(this.#name, 1000))
    assert.deepEqual(unneeded, new Set(this.#sizes.keys()).difference(needed))
  }
}

function blobsOf<Key>(indexes: readonly ReadonlyMap<Key, ModelObject>[]): Set<string> {
  const blobs = new Set<string>()
  for (const index of indexes) for (const object of index.values()) for (const blob of object.blobs) blobs.add(blob)
  return blobs
}

function plain(index: Index): string[] {
  return [...index].toSorted(([a], [b]) => byBytes(a, b)).map(([k, { etag }]) => `${k}=${etag}`)
}
