import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { turnstile } from './turnstile.ts'

test('the first passes at once, the others one in each turn of the event loop, in order', async () => {
  const pass = turnstile()
  const passed: number[] = []
  const all = [1, 2, 3, 4].map((n) => pass().then(() => passed.push(n)))
  await Promise.resolve().then(() => undefined)
  assert.deepEqual(passed, [1])
  for (let turn = 0; passed.length < 4; turn++) {
    assert.ok(turn < 20)
    const before = passed.length
    await nextTurn()
    assert.ok(passed.length - before <= 1, 'no two in one turn')
  }
  await Promise.all(all)
  assert.deepEqual(passed, [1, 2, 3, 4])
  await nextTurn()
  await nextTurn()
  await pass().then(() => passed.push(5))
  assert.equal(passed.length, 5)
})
