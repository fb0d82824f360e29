/** Clones of the volume of the catalog's model: what they show, and the blobs that they need. */
import assert from 'node:assert/strict'
import { copyRows } from '../topics/clones.suite.ts'
import type { Catalog, Change } from '../../catalog.ts'
import { bytes, listed, versionsListed } from '../fixtures.suite.ts'
import { blobsOf, type Index, isObject, plain, plainListed, shownListed } from './rows.suite.ts'
import { storedBlobsOf } from './storage.suite.ts'

interface Clone {
  readonly name: string
  /** In how many bytes each blob was stored when it was inherited: each counts for itself. */
  readonly storedBytes: ReadonlyMap<string, number>
  index: Index[]
}

export class ModelClones {
  readonly #catalog: Catalog
  readonly #parent: string
  readonly #clones: Clone[] = []
  #made = 0

  constructor(catalog: Catalog, parent: string) {
    this.#catalog = catalog
    this.#parent = parent
  }

  async make(snapshot: string, index: readonly Index[], limit: number): Promise<void> {
    const name = `${this.#parent}:c${++this.#made}`
    const open: Change[] = [{ do: 'open-volume', volume: name, sizeBytes: 1e9, tree: this.#parent }]
    for (const n of index.keys())
      open.push({ do: 'open-bucket', bucket: `${name}-${n}`, volume: name, limitBytes: 1e9 })
    await this.#catalog.commit(open)
    for (const n of index.keys()) await copyRows(this.#catalog, `${this.#parent}-${n}`, `${name}-${n}`, snapshot, limit)
    const stored = await storedBlobsOf(this.#catalog, this.#parent)
    const storedBytes = new Map(stored.map((one) => [one.blob, one.storedBytes]))
    this.#clones.push({ name, storedBytes, index: index.map(unlocked) })
  }

  /** Removes the newest row of a key, as if the bucket had never had versions. */
  async delete(which: number, n: number, key: string): Promise<void> {
    const clone = this.#clones[which]
    const rows = clone?.index[n]?.get(key)
    const [first, ...rest] = rows ?? []
    if (clone === undefined || first === undefined) return
    await this.#catalog.commit([
      { do: 'delete-object', bucket: `${clone.name}-${n}`, key: bytes(key), version: first.version },
    ])
    clone.index = clone.index.map((index, i) => {
      const next = new Map(index)
      if (i !== n) return index
      if (rest.length === 0) next.delete(key)
      else next.set(key, rest)
      return next
    })
  }

  async close(which: number): Promise<void> {
    const [clone] = this.#clones.splice(which, 1)
    if (clone) await this.#catalog.commit([{ do: 'close-volume', volume: clone.name, withBuckets: true }])
  }

  async check(): Promise<void> {
    for (const { name, index, storedBytes } of this.#clones) {
      for (const [n, rows] of index.entries()) {
        const bucket = `${name}-${n}`
        assert.deepEqual(await listed(this.#catalog, bucket, { limit: 2 }), plain(rows))
        assert.deepEqual(await versionsListed(this.#catalog, bucket, { limit: 2 }, shownListed), plainListed(rows))
        const all = [...rows.values()].flat()
        const objects = [...rows.values()].filter(([current]) => isObject(current)).length
        const counters = await this.#catalog.bucket(bucket)
        assert.deepEqual(
          [counters?.usedBytes, counters?.objects, counters?.versions],
          [all.reduce((bytes, { size }) => bytes + size, 0), objects, all.length - objects],
        )
      }
      const counters = await this.#catalog.volume(name)
      const used = [...blobsOf(index)].reduce((sum, blob) => sum + (storedBytes.get(blob) ?? Number.NaN), 0)
      assert.deepEqual([counters?.usedBytes, counters?.inheritedBytes], [used, used])
    }
  }

  /** Blobs that some clone needs. */
  needed(): Set<string> {
    return blobsOf(this.#clones.flatMap(({ index }) => index))
  }

  /** Blobs that nothing needs, as the clones that are there tell. */
  async unneeded(): Promise<string[]> {
    const all: string[] = []
    for (const { name } of this.#clones) all.push(...(await this.#catalog.unneededBlobs(name, 1000)))
    return all
  }
}

function unlocked(index: Index): Index {
  return new Map([...index].map(([key, rows]) => [key, rows.map((row) => ({ ...row, lock: undefined }))]))
}
