import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedClock } from '../../engines/simulated/clock.ts'
import { Pace } from './pace.ts'

test('so many a second are let through, and what was not used is not made up for', async () => {
  const clock = new SimulatedClock()
  const pace = new Pace(clock, 10)
  const times: number[] = []
  const go = async () => {
    await pace.turn()
    times.push(clock.elapsed())
  }
  await clock.until(Promise.all([go(), go(), go()]))
  assert.deepEqual(times, [0, 100, 200])
  await clock.advance(60_000)
  const begun = clock.elapsed()
  await clock.until(Promise.all([go(), go()]))
  assert.deepEqual(times.slice(3), [begun, begun + 100])
})

test('who stops does not wait for a turn', async () => {
  const clock = new SimulatedClock()
  const pace = new Pace(clock, 0.001)
  const stop = new AbortController()
  await clock.until(pace.turn(stop.signal))
  const second = pace.turn(stop.signal)
  stop.abort()
  await second
  assert.equal(clock.elapsed(), 0)
})
