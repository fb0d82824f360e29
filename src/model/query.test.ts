import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../test/support/seed.ts'
import { Failure } from './failure.ts'
import { bytes, secret, text } from './kinds/index.ts'
import { selectFields } from './fields.ts'
import { parseFilter, parseOrder, passes, placeOf, placeOrder, predicate, type Place } from './query.ts'
import { release } from './release.ts'
import { resource } from './resource.ts'
import type { Row } from './value.ts'

const thing = resource({
  path: '/test/things',
  noun: 'thing',
  doc: 'A thing.',
  key: ['uuid'],
  fields: {
    uuid: { doc: 'Its UUID.' },
    name: { doc: 'Its name.' },
    'space.used': { doc: 'Used.', kind: bytes() },
    'space.available': { doc: 'Left.', kind: bytes() },
    'metric.iops.total': { doc: 'Operations.', kind: bytes(), isExpensive: true },
    svm: { doc: 'Its SVM.', ref: 'svm/svms' },
    aggregates: { doc: 'Where it lies.', refs: 'storage/aggregates' },
    password: { doc: 'Secret.', kind: secret() },
    key: { doc: 'Shown once.', kind: text(), shownOnce: true },
    later: { doc: 'New.', since: '9.11.1' },
    'export_policy.name': { doc: 'The export policy.' },
    'read-only': { doc: 'Whether it is built in.' },
  },
})
const served = release('9.16.1')
const select = (...expressions: string[]) => [...selectFields(thing, expressions, served)].toSorted()
const isMalformed = (failure: unknown) => failure instanceof Failure && failure.kind === 'malformed'

test('fields select by name, by the beginning of a dotted path, and by member of a list', () => {
  assert.deepEqual(select('name'), ['name'])
  assert.deepEqual(select('space'), ['space.available', 'space.used'])
  assert.deepEqual(select('space.*'), ['space.available', 'space.used'])
  assert.deepEqual(select('space.{used,available},name'), ['name', 'space.available', 'space.used'])
  assert.deepEqual(select('svm'), ['svm.name', 'svm.uuid'])
  assert.deepEqual(select('aggregates.name'), ['aggregates.name'])
  assert.deepEqual(select('name', 'uuid'), ['name', 'uuid'])
  assert.deepEqual(select('space,!space.used'), ['space.available'])
})

test('a dash in the name of a field reads as an underscore, unless the field has one', () => {
  assert.deepEqual(select('export-policy.name'), ['export_policy.name'])
  assert.deepEqual(select('export-policy,read-only'), ['export_policy.name', 'read-only'])
  assert.equal(parseFilter(thing, 'export-policy.name', 'p*', served).path, 'export_policy.name')
  assert.deepEqual(parseOrder(thing, 'export-policy desc', served), [
    { path: 'export_policy.name', isDescending: true },
  ])
  assert.throws(() => select('read_only'), isMalformed)
})

test('a star selects what is cheap, two stars everything, neither a secret', () => {
  assert.ok(!select('*').includes('metric.iops.total'))
  assert.ok(select('**').includes('metric.iops.total'))
  for (const path of ['password', 'key']) assert.ok(!select('**').includes(path))
})

test('fields that are not there, secret, of a later release or ill-formed are refused', () => {
  for (const expression of [
    'nothing',
    'space.nothing',
    'password',
    'key',
    'spac',
    'a.{b',
    'a}',
    '{'.repeat(40),
    '__proto__',
    'constructor',
    'aggregates.constructor',
  ]) {
    assert.throws(() => select(expression), isMalformed, expression)
  }
  assert.throws(() => selectFields(thing, ['later'], release('9.10.1')), isMalformed)
  assert.deepEqual([...selectFields(thing, ['name,nothing'], served, true)], ['name'])
})

test('a filter on a reference is one on its name, and members of lists can be filtered by', () => {
  const row: Row = { 'svm.name': 'svm1', aggregates: [{ name: 'aggr1' }, { name: 'aggr2' }] }
  const filters = [
    ['svm', 'svm1', true],
    ['svm.name', 'svm2', false],
    ['aggregates.name', 'aggr2', true],
    ['aggregates.name', 'null', false],
  ] as const
  for (const [path, text, isPassing] of filters) {
    const filter = parseFilter(thing, path, text, served)
    assert.equal(passes(row, [filter]), isPassing, path)
    assert.equal(predicate([filter])(row), isPassing, path)
  }
})

test('filters on what is not there, secret or of a later release are refused', () => {
  for (const name of ['nothing', 'password', 'key', '', '__proto__', 'aggregates.toString']) {
    assert.throws(() => parseFilter(thing, name, 'x', served), isMalformed, name)
  }
  assert.throws(() => parseFilter(thing, 'later', 'x', release('9.9.1')), isMalformed)
})

test('an order names fields with asc or desc', () => {
  assert.deepEqual(parseOrder(thing, 'space.used desc,name', served), [
    { path: 'space.used', isDescending: true },
    { path: 'name', isDescending: false },
  ])
  assert.deepEqual(parseOrder(thing, '', served), [])
  for (const expression of ['nothing', 'name down', 'name desc x', 'password', Array(20).fill('name').join(',')]) {
    assert.throws(() => parseOrder(thing, expression, served), isMalformed, expression)
  }
})

test('sizes are ordered as numbers, names as text, and what is not set comes last', () => {
  const rows: Row[] = [{ uuid: 'a', 'space.used': 10 }, { uuid: 'b', 'space.used': 9 }, { uuid: 'c' }]
  const sorted = (expression: string) => {
    const orders = parseOrder(thing, expression, served)
    return rows
      .toSorted((a, b) => placeOrder(thing, orders)(placeOf(a, orders, ['uuid']), placeOf(b, orders, ['uuid'])))
      .map((row) => row['uuid'])
  }
  assert.deepEqual(sorted('space.used'), ['b', 'a', 'c'])
  assert.deepEqual(sorted('space.used desc'), ['a', 'b', 'c'])
})

test('where nothing else is asked for, keys that are numbers are in their order', () => {
  const rows: Row[] = [{ uuid: 10 }, { uuid: 9 }, { uuid: 100 }, { uuid: 1 }]
  const place = (row: Row) => placeOf(row, [], ['uuid'])
  const sorted = rows.toSorted((a, b) => placeOrder(thing, [])(place(a), place(b)))
  assert.deepEqual(
    sorted.map((row) => row['uuid']),
    [1, 9, 10, 100],
  )
})

test('pages after a place neither repeat nor miss a record that stays, while others come and go', (test) => {
  const rowOf = fc.record({ name: fc.constantFrom('a', 'b', 'c'), used: fc.option(fc.nat(3), { nil: null }) })
  fc.assert(
    fc.property(
      fc.array(rowOf, { minLength: 1, maxLength: 20 }),
      fc.array(fc.record({ remove: fc.nat(40), add: rowOf }), { maxLength: 12 }),
      fc.constantFrom('', 'name', 'space.used desc', 'space.used,name desc'),
      fc.integer({ min: 1, max: 4 }),
      (made, changes, expression, limit) => {
        const orders = parseOrder(thing, expression, served)
        const order = placeOrder(thing, orders)
        const place = (row: Row) => placeOf(row, orders, ['uuid'])
        let next = 0
        const rowFrom = ({ name, used }: { name: string; used: number | null }): Row => ({
          uuid: `u${next++}`,
          name,
          'space.used': used,
        })
        let rows = made.map(rowFrom)
        const stayed = new Set(rows.map((row) => row['uuid']))
        const added = new Set<unknown>()
        const seen: unknown[] = []
        let after: Place | undefined
        for (let page = 0; ; page++) {
          const from = after
          const rest = rows
            .toSorted((a, b) => order(place(a), place(b)))
            .filter((row) => from === undefined || order(place(row), from) > 0)
          const shown = rest.slice(0, limit)
          seen.push(...shown.map((row) => row['uuid']))
          const last = shown.at(-1)
          if (last === undefined) break
          after = place(last)
          const change = changes[page]
          if (change !== undefined) {
            const gone = rows[change.remove % rows.length]
            stayed.delete(gone?.['uuid'] ?? '')
            const fresh = rowFrom(change.add)
            added.add(fresh['uuid'])
            rows = [...rows.filter((row) => row !== gone), fresh]
          }
        }
        assert.equal(new Set(seen).size, seen.length, 'a record was shown twice')
        for (const uuid of stayed) assert.ok(seen.includes(uuid), `${JSON.stringify(uuid)} was missed`)
      },
    ),
    { seed: seedOf(test), numRuns: 500 },
  )
})
