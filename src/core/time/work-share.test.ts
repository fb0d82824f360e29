import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realSystem } from '../../engines/system.ts'
import { WorkShare } from './work-share.ts'

test('work rests so that it takes its share of the time, and a little of it does not rest', async () => {
  let nowMs = 0
  const rests: number[] = []
  const sleep = (ms: number) => {
    rests.push(ms)
    nowMs += ms
    return Promise.resolve()
  }
  const clock = { ...realSystem.clock, elapsed: () => nowMs, sleep }
  const share = new WorkShare({ ...realSystem, clock }, 0.25)
  let workedMs = 0
  for (const ms of [1, 1, 3, 1, 20, 4, 4]) {
    nowMs += ms
    workedMs += ms
    await share.rest()
  }
  assert.deepEqual(rests, [15, 63, 24])
  assert.equal(workedMs / nowMs, 0.25)
})
