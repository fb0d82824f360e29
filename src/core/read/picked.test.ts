import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Picked } from './picked.ts'

test('items are picked of a list once, and again of another list', () => {
  const asked: number[] = []
  const picked = new Picked<number>((item) => {
    asked.push(item)
    return item % 2 === 0
  })
  assert.deepEqual(picked.of([]), [])
  const list = [1, 2, 3, 4]
  assert.deepEqual(picked.of(list), [2, 4])
  assert.deepEqual(picked.of(list), [2, 4])
  assert.deepEqual(asked, list)
  assert.deepEqual(picked.of([1, 2, 3, 4, 6]), [2, 4, 6])
})
