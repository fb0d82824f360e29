import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitingBytes } from './waiting-bytes.ts'

test('who comes while more waits than may is woken when less does, and nobody else waits', async () => {
  const waiting = new WaitingBytes(100)
  waiting.add(100)
  await waiting.room()
  waiting.add(1)
  let woken = 0
  const sleepers = [waiting.room(), waiting.room()].map((one) => one.then(() => woken++))
  waiting.add(10)
  waiting.remove(10)
  await new Promise(setImmediate)
  assert.equal(woken, 0)
  waiting.remove(1)
  await Promise.all(sleepers)
  assert.equal(woken, 2)
})
