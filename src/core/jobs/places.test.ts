import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedClock } from '../../engines/simulated/clock.ts'
import { PLACE_MS, PLACES, Places } from './places.ts'
import { Interrupted } from '../verb.ts'

const never = new AbortController().signal

test('as many as there are places come in, others when one of them leaves', async () => {
  const places = new Places(new SimulatedClock())
  const leaves = await Promise.all(Array.from({ length: PLACES }, () => places.take(never)))
  let isIn = false
  const next = places.take(never).then((leave) => {
    isIn = true
    return leave
  })
  await Promise.resolve()
  assert.equal(isIn, false)
  leaves[0]?.()
  const leave = await next
  // Twice is once.
  leaves[0]?.()
  let inside = 0
  void places.take(never).then(() => inside++)
  await new Promise(setImmediate)
  assert.equal(inside, 0)
  leave()
  await new Promise(setImmediate)
  assert.equal(inside, 1)
})

test('who takes long gives the place to the next', async () => {
  const clock = new SimulatedClock()
  const places = new Places(clock)
  await Promise.all(Array.from({ length: PLACES }, () => places.take(never)))
  let inside = 0
  for (let n = 0; n < 3; n++) void places.take(never).then(() => inside++)
  await clock.advance(PLACE_MS - 1)
  assert.equal(inside, 0)
  await clock.advance(1)
  assert.equal(inside, 3)
})

test('a wait for a place ends when the cluster stops', async () => {
  const places = new Places(new SimulatedClock())
  await Promise.all(Array.from({ length: PLACES }, () => places.take(never)))
  const stop = new AbortController()
  const waiting = places.take(stop.signal)
  stop.abort()
  await assert.rejects(waiting, Interrupted)
})

test('a place that was taken is given up when the cluster stops, and nothing sleeps for it', async () => {
  const clock = new SimulatedClock()
  const places = new Places(clock)
  const stop = new AbortController()
  await Promise.all(Array.from({ length: PLACES }, () => places.take(stop.signal)))
  assert.equal(clock.sleeping, PLACES)
  stop.abort()
  assert.equal(clock.sleeping, 0)
  const leave = await places.take(stop.signal)
  assert.equal(clock.sleeping, 0)
  leave()
})
