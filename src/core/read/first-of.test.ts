import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../../test/support/seed.ts'
import { FirstOf, type Bound } from './first-of.ts'

function bound(count: number): Bound<unknown> {
  return { count, weightless: 0, weightMax: 1, weight: () => 0 }
}

test('the first of any number of items are those that sorting all of them gives, equal ones as they came', (context) => {
  const items = fc.array(fc.array(fc.nat(30), { maxLength: 40 }), { maxLength: 20 })
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 300 }), (parts, wanted) => {
      let order = 0
      const numbered = parts.map((part) => part.map((value) => ({ value, order: order++ })))
      const first = new FirstOf<{ value: number; order: number }>(bound(wanted), (a, b) => a.value - b.value)
      for (const part of numbered) first.add(part)
      const sorted = numbered.flat().toSorted((a, b) => a.value - b.value)
      assert.deepEqual(first.items(), sorted.slice(0, wanted))
    }),
    { seed: seedOf(context), numRuns: 500 },
  )
})

test('heavy ones are kept as far as the bound of their weight, with one more, whatever their number', (context) => {
  const items = fc.array(fc.array(fc.nat(30), { maxLength: 40 }), { maxLength: 20 })
  fc.assert(
    fc.property(items, fc.nat(20), fc.integer({ min: 1, max: 200 }), (parts, weightless, weightMax) => {
      const first = new FirstOf<number>(
        { count: Infinity, weightless, weightMax, weight: (item) => item },
        (a, b) => a - b,
      )
      for (const part of parts) first.add(part)
      const sorted = parts.flat().toSorted((a, b) => a - b)
      let weight = 0
      const wanted = sorted.findIndex((_, at) => {
        if (at > weightless) weight += sorted[at - 1] ?? 0
        return weight >= weightMax
      })
      assert.deepEqual(first.items(), wanted < 0 ? sorted : sorted.slice(0, wanted + 1))
      assert.equal(first.isCut, wanted >= 0)
    }),
    { seed: seedOf(context), numRuns: 500 },
  )
})

test('to find the first few of very many takes hardly more than to compare each with the last of them', () => {
  let compared = 0
  const first = new FirstOf<number>(bound(20), (a, b) => {
    compared++
    return a - b
  })
  const all = Array.from({ length: 10_000 }, (_, n) => (n * 7919) % 10_007)
  for (let at = 0; at < all.length; at += 50) first.add(all.slice(at, at + 50))
  assert.deepEqual(first.items(), all.toSorted((a, b) => a - b).slice(0, 20))
  assert.ok(compared < 2 * all.length, `${compared} comparisons`)
})
