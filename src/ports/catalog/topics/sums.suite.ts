/** What the catalog adds up: the sums of aggregates, the numbers of snapshots, which volumes changed and are untidy. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { AggregateCounters, Catalog, Change } from '../../catalog.ts'
import { bytes, draft, put, refused } from '../fixtures.suite.ts'
import { CommitRefused } from '../../catalog.ts'
import { SEED } from '../model/steps.suite.ts'

const NOTHING: AggregateCounters = { volumes: 0, sizeBytes: 0, usedBytes: 0, promisedBytes: 0 }

/** What happens to one of three volumes. */
const step = fc.record({
  volume: fc.nat(2),
  does: fc.constantFrom('open', 'place', 'place', 'resize', 'put', 'put', 'delete', 'take', 'drop', 'restore', 'close'),
  aggregate: fc.nat(1),
  isGuaranteed: fc.boolean(),
  size: fc.integer({ min: 1, max: 300 }),
  /** The commit is refused by its last change, after all others were applied. */
  isRefused: fc.boolean(),
})
type Step = (typeof step extends fc.Arbitrary<infer One> ? One : never) & object

let runs = 0

const TIB = 2 ** 40
const MAX = Number.MAX_SAFE_INTEGER

export function proveSums(catalog: () => Catalog, reopen: () => Promise<Catalog>, numRuns: number): void {
  void describe(`sums (SEED=${SEED})`, () => {
    void it('sums of aggregates and numbers of snapshots are what adding up gives, after any changes', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
          const run = new Run(catalog(), `sums-${++runs}`)
          for (const one of steps) {
            await run.take(one)
            await run.check()
          }
        }),
        { seed: SEED, numRuns },
      )
    })

    void it('a volume that was placed nowhere, or is gone, is in no sum', async () => {
      await catalog().commit([{ do: 'open-volume', volume: 'sum1', sizeBytes: 100 }])
      assert.deepEqual(await catalog().aggregate('sum1-a'), NOTHING)
      const place = { do: 'place-volume', volume: 'sum1', aggregate: 'sum1-a', isGuaranteed: true } as const
      await catalog().commit([place])
      await catalog().commit([place])
      assert.deepEqual(await catalog().aggregate('sum1-a'), {
        ...NOTHING,
        volumes: 1,
        sizeBytes: 100,
        promisedBytes: 100,
      })
      await catalog().commit([{ do: 'close-volume', volume: 'sum1' }])
      assert.deepEqual(await catalog().aggregate('sum1-a'), NOTHING)
      await refused('missing', catalog().commit([place]), { scope: 'volume' })
    })

    void it('sums of aggregates beyond 2^53 are shown as the largest exact number, and exactly when they shrink', async () => {
      const volumes = Array.from({ length: 200 }, (_, n) => `sum5-${n}`)
      const sizeBytes = 100 * TIB + 1
      const guaranteed = { isGuaranteed: true, aggregate: 'sum5' }
      await catalog().commit(
        volumes.flatMap((volume): Change[] => [
          { do: 'open-volume', volume, sizeBytes },
          { do: 'place-volume', volume, ...guaranteed },
        ]),
      )
      const saturated = { volumes: 200, sizeBytes: MAX, usedBytes: 0, promisedBytes: MAX }
      assert.deepEqual(await catalog().aggregate('sum5'), saturated)
      await reopen()
      assert.deepEqual(await catalog().aggregate('sum5'), saturated)
      await catalog().commit([
        { do: 'open-bucket', bucket: 'sum5-b', volume: 'sum5-0', limitBytes: TIB },
        put('sum5-b', 'k', draft('sum5-blob', 7)),
      ])
      await catalog().commit([{ do: 'place-volume', volume: 'sum5-199', aggregate: 'sum5-other', isGuaranteed: false }])
      await catalog().commit(volumes.slice(3).map((volume): Change => ({ do: 'close-volume', volume })))
      assert.deepEqual(await catalog().aggregate('sum5'), {
        volumes: 3,
        sizeBytes: 3 * sizeBytes,
        usedBytes: 7,
        promisedBytes: 3 * sizeBytes - 7,
      })
    })

    void it('an aggregate whose sizes would pass 64 bits takes no more, and loses nothing', async () => {
      const added = (volume: string): Change[] => [
        { do: 'open-volume', volume, sizeBytes: MAX },
        { do: 'place-volume', volume, aggregate: 'sum6', isGuaranteed: false },
      ]
      const add = (volume: string) => catalog().commit(added(volume))
      const last = 513
      await catalog().commit(Array.from({ length: last }, (_, n) => added(`sum6-${n}`)).flat())
      await refused('full', add(`sum6-${last}`), { scope: 'aggregate' })
      await catalog().commit([{ do: 'resize-volume', volume: 'sum6-0', sizeBytes: 1 }])
      await add(`sum6-${last}`)
      await refused('full', catalog().commit([{ do: 'resize-volume', volume: 'sum6-0', sizeBytes: MAX }]), {
        scope: 'aggregate',
      })
      assert.equal((await catalog().aggregate('sum6')).volumes, last + 1)
      const volumes = Array.from({ length: last }, (_, n) => `sum6-${n + 1}`)
      await catalog().commit(volumes.map((volume): Change => ({ do: 'close-volume', volume })))
      assert.deepEqual(await catalog().aggregate('sum6'), { ...NOTHING, volumes: 1, sizeBytes: 1 })
    })

    void it('a volume never holds more than a number says exactly, however little of it is stored', async () => {
      await catalog().commit([
        { do: 'open-volume', volume: 'sum7', sizeBytes: TIB },
        { do: 'open-bucket', bucket: 'sum7-a', volume: 'sum7', limitBytes: MAX },
        { do: 'open-bucket', bucket: 'sum7-b', volume: 'sum7', limitBytes: MAX },
      ])
      const squeezed = (key: string, sizeBytes: number): Change =>
        put(`sum7-${key}`, 'k', {
          ...draft(key, sizeBytes),
          blobs: [{ blob: `sum7-${key}`, sizeBytes, storedBytes: 1 }],
        })
      await catalog().commit([squeezed('a', 2 ** 52)])
      await refused('full', catalog().commit([squeezed('b', 2 ** 52)]), { scope: 'volume' })
      await catalog().commit([squeezed('b', 2 ** 52 - 1)])
      await reopen()
      const { usedBytes, savedByCompressionBytes } = (await catalog().volume('sum7')) ?? {}
      assert.deepEqual([usedBytes, savedByCompressionBytes], [2, MAX - 2])
    })

    void it('volumes that changed come once, in the order of their last change', async () => {
      const open = (volume: string): Change => ({ do: 'open-volume', volume, sizeBytes: 100 })
      await catalog().commit([open('sum2-a'), open('sum2-b'), open('sum2-c')])
      const changedSince = async (after: number) =>
        (await catalog().changedVolumes(after, 1000)).filter(({ volume }) => volume.startsWith('sum2-'))
      const all = await changedSince(0)
      assert.deepEqual(
        all.map(({ volume }) => volume),
        ['sum2-a', 'sum2-b', 'sum2-c'],
      )
      const last = all.at(-1)?.change ?? 0
      await catalog().commit([{ do: 'resize-volume', volume: 'sum2-b', sizeBytes: 7 }])
      await catalog().commit([{ do: 'resize-volume', volume: 'sum2-a', sizeBytes: 8 }])
      await catalog().commit([{ do: 'resize-volume', volume: 'sum2-b', sizeBytes: 9 }])
      const changed = await changedSince(last)
      assert.deepEqual(
        changed.map(({ volume, sizeBytes }) => [volume, sizeBytes]),
        [
          ['sum2-a', 8],
          ['sum2-b', 9],
        ],
      )
      assert.deepEqual(await changedSince(changed[1]?.change ?? 0), [])
      assert.equal((await catalog().changedVolumes(0, 2)).length, 2)
    })

    void it('a volume is untidy while rows of dropped snapshots or unneeded blobs are left in it', async () => {
      const untidy = async () => (await catalog().untidyVolumes()).filter(({ volume }) => volume.startsWith('sum3-'))
      const commit = (...changes: Change[]) => catalog().commit(changes)
      for (const volume of ['sum3-a', 'sum3-b', 'sum3-c']) {
        await commit(
          { do: 'open-volume', volume, sizeBytes: 100 },
          { do: 'open-bucket', bucket: volume, volume, limitBytes: 100 },
          put(volume, 'k', draft(`${volume}-blob`)),
          { do: 'take-snapshot', volume, snapshot: `${volume}-s`, nowMs: 1 },
          { do: 'delete-object', bucket: volume, key: bytes('k') },
        )
      }
      assert.deepEqual(await untidy(), [])
      for (const volume of ['sum3-a', 'sum3-c']) {
        await commit({ do: 'drop-snapshot', volume, snapshot: `${volume}-s` })
      }
      assert.deepEqual(
        new Set(await untidy()),
        new Set([
          { volume: 'sum3-a', mayReclaim: true },
          { volume: 'sum3-c', mayReclaim: true },
        ]),
      )
      await commit({ do: 'reclaim', volume: 'sum3-a', limit: 10 })
      await commit({ do: 'reclaim', volume: 'sum3-c', limit: 10 })
      await commit({ do: 'drop-blobs', volume: 'sum3-c', blobs: ['sum3-c-blob'] })
      assert.deepEqual(await untidy(), [{ volume: 'sum3-a', mayReclaim: false }])
      await commit({ do: 'drop-blobs', volume: 'sum3-a', blobs: ['sum3-a-blob'] })
      assert.deepEqual(await untidy(), [])
    })

    void it('counters are of the buckets that are named', async () => {
      for (const name of ['sum4-a', 'sum4-b']) {
        await catalog().commit([
          { do: 'open-volume', volume: name, sizeBytes: 100 },
          { do: 'open-bucket', bucket: name, volume: name, limitBytes: 50 },
        ])
      }
      assert.deepEqual([...(await catalog().buckets(['nowhere', 'sum4-a'])).keys()], ['sum4-a'])
      assert.deepEqual(await catalog().buckets([]), new Map())
      const all = await catalog().buckets()
      assert.deepEqual(all.get('sum4-b'), await catalog().bucket('sum4-b'))
    })
  })
}

class Run {
  readonly #catalog: Catalog
  readonly #name: string
  /** Where each volume that is open lies. */
  readonly #placed = new Map<string, { aggregate: string; isGuaranteed: boolean }>()
  readonly #snapshots = new Map<string, string[]>()
  #made = 0

  constructor(catalog: Catalog, name: string) {
    this.#catalog = catalog
    this.#name = name
  }

  async take(one: Step): Promise<void> {
    const volume = `${this.#name}-v${one.volume}`
    const changes = this.#changes(one, volume)
    const last: Change = { do: 'check-record', type: 'none', key: 'none', expect: 7 }
    try {
      await this.#catalog.commit(one.isRefused ? [...changes, last] : changes)
    } catch (failure) {
      if (failure instanceof CommitRefused) return
      throw failure
    }
    const { aggregate, isGuaranteed } = { aggregate: this.#aggregate(one.aggregate), isGuaranteed: one.isGuaranteed }
    const taken = this.#snapshots.get(volume) ?? []
    if (one.does === 'place') this.#placed.set(volume, { aggregate, isGuaranteed })
    if (one.does === 'take') this.#snapshots.set(volume, [...taken, `s${this.#made}`])
    if (one.does === 'drop') this.#snapshots.set(volume, taken.slice(1))
    if (one.does === 'restore') this.#snapshots.set(volume, taken.slice(0, 1))
    if (one.does === 'close') {
      this.#placed.delete(volume)
      this.#snapshots.delete(volume)
    }
  }

  #aggregate = (n: number) => `${this.#name}-a${n}`

  #changes({ does, aggregate, isGuaranteed, size }: Step, volume: string): Change[] {
    const bucket = `${volume}-b`
    const oldest = this.#snapshots.get(volume)?.[0] ?? 'none'
    switch (does) {
      case 'open':
        return [
          { do: 'open-volume', volume, sizeBytes: size },
          { do: 'open-bucket', bucket, volume, limitBytes: 1e6 },
        ]
      case 'place':
        return [{ do: 'place-volume', volume, aggregate: this.#aggregate(aggregate), isGuaranteed }]
      case 'resize':
        return [{ do: 'resize-volume', volume, sizeBytes: size }]
      case 'put':
        return [put(bucket, 'k', draft(`${this.#name}:${++this.#made}`, Math.ceil(size / 4)))]
      case 'delete':
        return [{ do: 'delete-object', bucket, key: bytes('k') }]
      case 'take':
        return [{ do: 'take-snapshot', volume, snapshot: `s${++this.#made}`, nowMs: 1 }]
      case 'drop':
        return [
          { do: 'drop-snapshot', volume, snapshot: oldest },
          { do: 'reclaim', volume, limit: 100 },
        ]
      case 'restore':
        return [
          { do: 'begin-restore', volume, snapshot: oldest },
          { do: 'restore-rows', volume, limit: 100 },
          { do: 'restore-rows', volume, after: 'dead', limit: 100 },
          { do: 'finish-restore', volume },
        ]
      case 'close':
        return [
          { do: 'close-bucket', bucket },
          { do: 'close-volume', volume },
        ]
    }
  }

  async check(): Promise<void> {
    const counters = await this.#catalog.volumes()
    for (const n of [0, 1]) {
      const sums = { volumes: 0, sizeBytes: 0, usedBytes: 0, promisedBytes: 0 }
      for (const [volume, { aggregate, isGuaranteed }] of this.#placed) {
        const of = counters.get(volume)
        if (aggregate !== this.#aggregate(n) || of === undefined) continue
        sums.volumes++
        sums.sizeBytes += of.sizeBytes
        sums.usedBytes += of.usedBytes
        if (isGuaranteed) sums.promisedBytes += Math.max(0, of.sizeBytes - of.usedBytes)
      }
      assert.deepEqual(await this.#catalog.aggregate(this.#aggregate(n)), sums)
    }
    for (const [volume, taken] of this.#snapshots) {
      assert.equal(counters.get(volume)?.snapshots, taken.length)
      assert.equal((await this.#catalog.snapshots(volume)).length, taken.length)
    }
  }
}
