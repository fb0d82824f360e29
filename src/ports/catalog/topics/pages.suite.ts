/**
 * Pages of listings against sorting all keys and folding them one by one.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Catalog } from '../../catalog.ts'
import { bytes, draft, openBucket, page, put, text } from '../fixtures.suite.ts'
import { byBytes } from '../model/rows.suite.ts'
import { SEED } from '../model/steps.suite.ts'

let runs = 0

export function provePages(catalog: () => Catalog, numRuns: number): void {
  void describe(`pages against a model (SEED=${SEED})`, () => {
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
