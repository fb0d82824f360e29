import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Failure } from '../../model/failure.ts'
import { Locks } from './locks.ts'
import { Interrupted } from '../verb.ts'

test('a lock is handed over in the order of asking', async () => {
  const locks = new Locks()
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      locks.with(['a'], async () => {
        order.push(at)
        await turn()
      }),
    ),
  )
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, at) => at),
  )
  assert.equal(locks.isHeld('a'), false)
})

test('a lock is held by one at a time, and let go of after a failure', async () => {
  const locks = new Locks()
  let inside = 0
  let most = 0
  const act = async (at: number) => {
    most = Math.max(most, ++inside)
    await turn()
    inside--
    if (at % 2 === 0) throw new Error('on purpose')
  }
  await Promise.allSettled(Array.from({ length: 10 }, (_, at) => locks.with(['a', 'b'], () => act(at))))
  assert.equal(most, 1)
  assert.equal(locks.isHeld('a') || locks.isHeld('b'), false)
})

test('several locks are taken in one order, so that none waits in a ring', async () => {
  const locks = new Locks()
  await Promise.all([
    locks.with(['a', 'b'], turn),
    locks.with(['b', 'a'], turn),
    locks.with(['b', 'c', 'a'], turn),
    locks.with(['c', 'a'], turn),
  ])
  assert.equal(
    ['a', 'b', 'c'].some((name) => locks.isHeld(name)),
    false,
  )
})

test('a name given twice is one lock', async () => {
  const locks = new Locks()
  await locks.with(['a', 'a'], turn)
  assert.equal(locks.isHeld('a'), false)
})

test('too many waiters are turned away where the caller says so, and let go of what they held', async () => {
  const locks = new Locks()
  const release = await locks.acquire(['b'])
  const waiting = Array.from({ length: 3 }, () => locks.with(['b'], turn))
  await assert.rejects(
    locks.acquire(['a', 'b'], { waitersMax: 3 }),
    (failure) => failure instanceof Failure && failure.kind === 'limited' && failure.retryAfterSeconds === 5,
  )
  assert.equal(locks.isHeld('a'), false)
  const more = Array.from({ length: 1000 }, () => locks.with(['b'], turn))
  release()
  await Promise.all([...waiting, ...more])
  assert.equal(locks.isHeld('b'), false)
})

test('a wait for a lock ends when its signal aborts, and the lock goes on to the next', async () => {
  const locks = new Locks()
  const release = await locks.acquire(['b'])
  const stop = new AbortController()
  const given = locks.acquire(['a', 'b'], { signal: stop.signal })
  const next = locks.with(['b'], turn)
  await turn()
  stop.abort()
  await assert.rejects(given, Interrupted)
  assert.equal(locks.isHeld('a'), false)
  release()
  await next
  assert.equal(locks.isHeld('b'), false)
})
