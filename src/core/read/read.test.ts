import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { asNumber, asText, type Body, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { seedOf } from '../../../test/support/seed.ts'
import { count, name, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { type Row, textAt, textOf } from '../../model/value.ts'
import { define } from '../behaviour.ts'

const THINGS = '/api/test/things'
const TYPE = 'test/things'

interface Things {
  readonly cluster: TestCluster
  /** Called whenever fields of some rows are derived. */
  meanwhile: () => Promise<void>
  /** How many rows something was derived of. */
  derived: number
}

/** A collection whose weight is derived: twice the size. */
async function things(): Promise<Things> {
  const open: { meanwhile: () => Promise<void>; derived: number } = {
    meanwhile: () => Promise.resolve(),
    derived: 0,
  }
  const fields = {
    uuid: { doc: 'x', kind: uuid() },
    name: { doc: 'x', kind: name() },
    size: { doc: 'x', kind: count() },
    weight: { doc: 'x', kind: count() },
  }
  const extra = define(
    resource({ path: '/test/things', noun: 'thing', doc: 'A thing.', key: ['uuid'], nameWithin: false, fields }),
    {
      derive: [
        {
          gives: ['weight'],
          async from(_cluster, rows) {
            open.derived += rows.length
            await open.meanwhile()
            return rows.map((row): Row => ({ weight: Number(row['size']) * 2 }))
          },
        },
      ],
    },
  )
  const cluster = await startTestCluster({ isBare: true, extra: [extra] })
  return Object.assign(open, { cluster })
}

function thing(n: number): Row {
  return { uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, name: `t${(n * 7) % 100}`, size: n % 13 }
}

const numberOf = (record: Body) => Number(asText(record['uuid']).slice(-12))

test('over a collection that is read in pieces, pages show a record once that stays, while others come and go', async (context) => {
  const open = await things()
  const { cluster } = open.cluster
  const put = (n: number) => cluster.put(TYPE, thing(n))
  const remove = (n: number) => ({ do: 'remove-record', type: TYPE, key: textAt(thing(n), 'uuid') }) as const
  const walks = fc.record({
    order: fc.constantFrom('', 'weight', 'weight desc,name', 'name desc', 'size'),
    filter: fc.constantFrom('', 'weight=>6', 'size=<9', 'size=>2&weight=<20', 'name=t1*'),
    limit: fc.integer({ min: 1, max: 400 }),
    come: fc.array(fc.integer({ min: 400, max: 800 }), { maxLength: 10 }),
    go: fc.array(fc.nat(399), { maxLength: 10 }),
  })
  let made = 0
  await fc.assert(
    fc.asyncProperty(walks, async ({ order, filter, limit, come, go }) => {
      open.meanwhile = () => Promise.resolve()
      const all = Array.from({ length: 400 }, (_, n) => n)
      await cluster.commit([...all.map(put), ...Array.from({ length: 401 }, (_, n) => remove(400 + n))])
      const gone = new Set(go)
      const changes = [...come.map((n) => put(n)), ...go.map((n) => remove(n))]
      open.meanwhile = async () => {
        const change = changes.pop()
        if (change !== undefined) await cluster.commit([change])
        made++
      }
      const seen: number[] = []
      let target = `${THINGS}?fields=*&max_records=${limit}&order_by=${encodeURIComponent(order)}&${filter}`
      for (;;) {
        const { status, body } = await open.cluster.call('GET', target)
        assert.equal(status, 200, JSON.stringify(body))
        const records = recordsOf(body)
        for (const record of records) assert.equal(asNumber(record['weight']), asNumber(record['size']) * 2)
        seen.push(...records.map(numberOf))
        const next = body['_links']?.['next']?.['href']
        if (next === undefined) break
        assert.equal(records.length, limit)
        target = asText(next)
      }
      assert.equal(new Set(seen).size, seen.length, 'None is shown twice.')
      const passes = (n: number) => {
        const { name, size } = thing(n)
        if (filter.includes('weight=>6') && Number(size) * 2 <= 6) return false
        if (filter.includes('size=<9') && Number(size) >= 9) return false
        if (filter.includes('size=>2') && (Number(size) <= 2 || Number(size) * 2 >= 20)) return false
        return !filter.includes('name') || textOf(name).startsWith('t1')
      }
      const shown = new Set(seen)
      const stayed = all.filter((n) => !gone.has(n))
      assert.deepEqual(
        stayed.filter((n) => shown.has(n)),
        stayed.filter(passes),
      )
      assert.ok(seen.every((n) => passes(n)))
    }),
    { seed: seedOf(context), numRuns: 30 },
  )
  assert.ok(made > 100, 'Records came and went amid readings.')
  await open.cluster.close()
})

test('any page is what sorting all of them gives', async (context) => {
  const open = await things()
  const { cluster } = open.cluster
  const all = Array.from({ length: 300 }, (_, n) => n)
  await cluster.commit(all.map((n) => cluster.put(TYPE, thing(n))))
  const sorted = all.toSorted((a, b) => {
    const [left, right] = [thing(a), thing(b)]
    if (left['size'] !== right['size']) return Number(right['size']) - Number(left['size'])
    if (left['name'] !== right['name']) return textAt(left, 'name') < textAt(right, 'name') ? -1 : 1
    return a - b
  })
  await fc.assert(
    fc.asyncProperty(fc.nat(320), fc.integer({ min: 1, max: 320 }), async (offset, limit) => {
      const target = `${THINGS}?order_by=weight desc&offset=${offset}&max_records=${limit}`
      const { body } = await open.cluster.call('GET', target)
      assert.deepEqual(recordsOf(body).map(numberOf), sorted.slice(offset, offset + limit))
      const isMore = offset + limit < 300 && offset < 300
      assert.equal(body['_links']?.['next'] !== undefined, isMore)
    }),
    { seed: seedOf(context), numRuns: 50 },
  )
  await open.cluster.close()
})

test('what is derived is derived of the page alone, unless rows are chosen or sorted by it', async () => {
  const open = await things()
  const { cluster } = open.cluster
  await cluster.commit(Array.from({ length: 300 }, (_, n) => cluster.put(TYPE, thing(n))))
  const derivedFor = async (query: string) => {
    open.derived = 0
    const { status } = await open.cluster.call('GET', `${THINGS}?max_records=10&${query}`)
    assert.equal(status, 200)
    return open.derived
  }
  assert.equal(await derivedFor('fields=name,size'), 0)
  assert.equal(await derivedFor('fields=weight'), 10)
  assert.equal(await derivedFor('fields=weight&offset=250&order_by=size desc'), 10)
  assert.equal(await derivedFor('fields=weight&size=3'), 10)
  assert.equal(await derivedFor('fields=name&size=3&weight=>1&order_by=size'), 23, 'Those that pass the other filters.')
  assert.ok((await derivedFor('fields=name&size=3&weight=>1')) < 23, 'In their own order, until the page is full.')
  assert.equal(await derivedFor('fields=name&order_by=weight'), 300)
  await open.cluster.close()
})
