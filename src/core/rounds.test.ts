import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedClock } from '../engines/simulated/clock.ts'
import { Rounds } from './rounds.ts'

test('rounds follow one another, also after one that failed, with a rest that knows how long each took', async () => {
  const clock = new SimulatedClock()
  const begun: number[] = []
  const failures: unknown[] = []
  const rounds = new Rounds(clock, {
    async act() {
      begun.push(clock.elapsed())
      if (begun.length === 2) throw new Error('a disk')
      await clock.sleep(10)
    },
    failed: (cause) => failures.push(cause),
    restMs: (tookMs) => 100 + tookMs,
  })
  rounds.start()
  await clock.advance(400)
  assert.deepEqual(begun, [0, 120, 220, 340])
  assert.equal(String(failures), 'Error: a disk')
  await clock.until(rounds.stop())
  await clock.advance(1000)
  assert.equal(begun.length, 4)
  assert.equal(rounds.isStopping, true)
})

test('a stop waits for the round that is on, and for no rest', async () => {
  const clock = new SimulatedClock()
  let ended = 0
  const rounds = new Rounds(clock, {
    async act() {
      await clock.sleep(50)
      ended++
    },
    failed: () => undefined,
    restMs: () => 1e9,
  })
  rounds.start()
  await clock.advance(20)
  await clock.until(rounds.stop())
  assert.equal(ended, 1)
  assert.equal(clock.elapsed(), 50)
})
