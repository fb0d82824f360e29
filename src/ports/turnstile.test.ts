import assert from 'node:assert/strict'
import { readFile } from 'node:fs'
import { test } from 'node:test'
import { turnstile } from './turnstile.ts'

test('one passes in each turn of the event loop, in order, also those that came in one turn', async () => {
  const pass = turnstile()
  const passed: number[] = []
  /** A timer runs once in a turn, before everything else of it. */
  let turn = 0
  const turns: number[] = []
  const clock = setInterval(() => turn++, 1)
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  // From a callback of the file system, which is where requests come from too: the poll phase.
  readFile(import.meta.filename, () => {
    const walkers = [1, 2, 3, 4].map(async (n) => {
      await pass()
      passed.push(n)
      turns.push(turn)
      for (const endMs = performance.now() + 5; performance.now() < endMs;);
    })
    Promise.all(walkers).then(resolve, reject)
    assert.deepEqual(passed, [])
  })
  await promise
  clearInterval(clock)
  assert.deepEqual(passed, [1, 2, 3, 4])
  assert.equal(new Set(turns).size, 4, `turns ${turns.join(' ')}`)
  await pass()
})
