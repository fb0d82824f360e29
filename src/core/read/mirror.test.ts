import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../../test/support/seed.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { realSystem } from '../../engines/system.ts'
import type { Catalog, Change } from '../../ports/catalog.ts'
import { rowOrder } from '../../model/query.ts'
import { Mirror, type Keeping } from './mirror.ts'

const RECORDS = 500

const keeping: Keeping = { order: rowOrder(['value']), shorten: (row) => row }

function put(n: number, value: number): Change {
  return { do: 'put-record', type: 't', key: `k${n % (2 * RECORDS)}`, parent: `p${value % 3}`, body: { value } }
}

test('rows are what the catalog holds, in their order, also when it changes while they are read for the first time', async (context) => {
  const change = fc.record({ n: fc.nat(2 * RECORDS), value: fc.nat(99), isRemoved: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 80 }), { maxLength: 8 }), async (batches) => {
      const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
      await catalog.commit(Array.from({ length: RECORDS }, (_, n) => put(2 * n, n)))
      const left = [...batches]
      const commitNext = async () => {
        const changes = (left.pop() ?? []).map(({ n, value, isRemoved }): Change =>
          isRemoved ? { do: 'remove-record', type: 't', key: `k${n}` } : put(n, value),
        )
        if (changes.length > 0) await catalog.commit(changes)
      }
      const mirror = new Mirror(changedAmid(catalog, commitNext), realSystem, () => keeping)
      const check = async () => {
        const rows = await mirror.rows('t')
        const records = await catalog.records('t')
        assert.deepEqual(new Set(rows), new Set(records.map(({ body }) => body)))
        assert.deepEqual(
          rows.map(({ value }) => value),
          records.map(({ body }) => Number(body['value'])).toSorted((a, b) => a - b),
        )
        const ofParent = await catalog.records('t', { parent: 'p1' })
        assert.equal((await mirror.rows('t', 'p1')).length, ofParent.length)
      }
      await check()
      while (left.length > 0) {
        await commitNext()
        await check()
      }
      await catalog.close()
    }),
    { seed: seedOf(context), numRuns: 20 },
  )
})

test('a row that is looked for is what the catalog holds, whether its type is kept or not', async (context) => {
  const change = fc.record({ n: fc.nat(20), value: fc.nat(99), isRemoved: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 8 }),
      fc.boolean(),
      async (batches, isKept) => {
        const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
        const left = [...batches]
        const commitNext = async () => {
          const changes = (left.pop() ?? []).map(({ n, value, isRemoved }): Change =>
            isRemoved ? { do: 'remove-record', type: 't', key: `k${n}` } : put(n, value),
          )
          if (changes.length > 0) await catalog.commit(changes)
        }
        const mirror = new Mirror(changedAmid(catalog, commitNext), realSystem, () => keeping)
        if (isKept) await mirror.rows('t')
        const check = async () => {
          // Several at a time: some read what others see change.
          await Promise.all(Array.from({ length: 20 }, (_, n) => mirror.find('t', `k${n}`)))
          for (let n = 0; n < 20; n++) {
            assert.deepEqual(await mirror.find('t', `k${n}`), (await catalog.record('t', `k${n}`))?.body)
          }
        }
        await commitNext()
        await check()
        while (left.length > 0) {
          await commitNext()
          await check()
        }
        await catalog.close()
      },
    ),
    { seed: seedOf(context), numRuns: 20 },
  )
})

test('rows are what the catalog holds, also after more changes than its feed reaches back', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  await catalog.commit([put(1, 1), put(2, 2)])
  const mirror = new Mirror(catalog, realSystem, () => keeping)
  assert.equal((await mirror.rows('t')).length, 2)
  await catalog.commit([{ do: 'remove-record', type: 't', key: 'k1' }])
  for (let n = 0; n < 20; n++) await catalog.commit(Array.from({ length: 600 }, (_, at) => put(2 * at, n)))
  assert.equal(await catalog.changes(1, 10), undefined)
  const records = await catalog.records('t')
  assert.deepEqual(new Set(await mirror.rows('t')), new Set(records.map(({ body }) => body)))
  await catalog.close()
})

test('a catalog that fails is told by a promise, also of what is in memory', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  await catalog.commit([put(1, 1)])
  const mirror = new Mirror(catalog, realSystem, () => keeping)
  assert.equal((await mirror.rows('t')).length, 1)
  catalog.revision = () => {
    throw new Error('The catalog is closed.')
  }
  await assert.rejects(mirror.find('t', 'k1'), /closed/)
  await assert.rejects(mirror.rows('t'), /closed/)
  assert.equal(mirror.rowsNow('t'), undefined)
  await catalog.close()
})

/** The same catalog, in which something happens before each page of records is read. */
function changedAmid(catalog: Catalog, happen: () => Promise<void>): Catalog {
  return new Proxy(catalog, {
    get(target, name) {
      if (name === 'records') {
        return async (...args: Parameters<Catalog['records']>) => {
          await happen()
          return target.records(...args)
        }
      }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
