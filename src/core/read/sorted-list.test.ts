import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../../test/support/seed.ts'
import { firstWhere, SortedList } from './sorted-list.ts'

interface Item {
  readonly at: number
}

const byAt = (a: Item, b: Item) => a.at - b.at

test('items that come and go are in order, those that are equal as they came', (context) => {
  const item = fc.nat(20).map((at): Item => ({ at }))
  const act = fc.record({ item, isRemoved: fc.boolean(), pick: fc.nat() })
  fc.assert(
    fc.property(fc.array(item), fc.array(act), (first, acts) => {
      const list = new SortedList(first, byAt)
      let plain = [...first]
      for (const { item, isRemoved, pick } of acts) {
        const gone = isRemoved ? plain[pick % plain.length] : undefined
        if (gone === undefined) {
          list.add(item)
          plain.push(item)
        } else {
          list.remove(gone)
          plain = plain.filter((one) => one !== gone)
        }
        const expected = plain.toSorted(byAt)
        assert.ok(list.all().every((one, at) => one === expected[at]))
        assert.equal(list.all().length, expected.length)
      }
    }),
    { seed: seedOf(context) },
  )
})

test('all of a list is the same list until it changes', () => {
  const list = new SortedList<Item>([{ at: 2 }, { at: 1 }], byAt)
  const all = list.all()
  list.remove({ at: 1 })
  assert.equal(list.all(), all)
  list.add({ at: 0 })
  assert.notEqual(list.all(), all)
  assert.deepEqual(all, [{ at: 1 }, { at: 2 }])
})

test('where something becomes true is found, also at the ends', () => {
  for (const length of [0, 1, 2, 7]) {
    const items = Array.from({ length }, (_, at) => at)
    for (let from = 0; from <= length; from++)
      assert.equal(
        firstWhere(items, (item) => item >= from),
        from,
      )
  }
})
