import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trimHeap } from './heap.ts'

const GARBAGE = 300_000

test('what nobody holds any more is given back at once', () => {
  let held: { n: number }[] | undefined = Array.from({ length: GARBAGE }, (_, n) => ({ n }))
  trimHeap()
  const withIt = process.memoryUsage().heapUsed
  assert.equal(held.length, GARBAGE)
  held = undefined
  trimHeap()
  const without = process.memoryUsage().heapUsed
  assert.ok(withIt - without > GARBAGE * 8, `${withIt - without} bytes were given back`)
})
