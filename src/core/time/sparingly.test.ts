import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sparingly } from './sparingly.ts'

test('so many are told of in each period, and the next one says how many were passed over', () => {
  let nowMs = 5
  const told: number[] = []
  const clock = { now: () => nowMs, elapsed: () => nowMs, sleep: () => Promise.resolve() }
  const sparingly = new Sparingly(clock, { everyMs: 1000, atOnce: 2 })
  const happen = (times: number) => {
    for (let n = 0; n < times; n++) sparingly.happened((passedOver) => told.push(passedOver))
  }
  happen(10)
  assert.deepEqual(told.splice(0), [0, 0])
  nowMs += 999
  happen(1)
  assert.deepEqual(told, [])
  nowMs += 1
  happen(3)
  assert.deepEqual(told, [9, 0])
})
