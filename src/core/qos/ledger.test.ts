import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { QosLedger } from './ledger.ts'
import { burstMs } from './limiters.ts'
import type { Rate } from './limiters.ts'

/** A clock that stands still until it is told otherwise. */
function standing() {
  let timeMs = 0
  const clock = { now: () => timeMs, elapsed: () => timeMs, sleep: () => Promise.resolve() }
  return { ledger: new QosLedger(clock), goOn: (ms: number) => (timeMs += ms), timeMs: () => timeMs }
}

/** Does as many operations as it may in so long, each as soon as it may. Gives their sizes' sum. */
function run(limits: readonly Rate[], bytes: number, forMs: number): number {
  const { ledger, goOn, timeMs } = standing()
  let done = 0
  for (;;) {
    goOn(ledger.charge({ limits, floors: [] }, { operations: 1, bytes }) ?? 0)
    if (timeMs() >= forMs) return done
    done += 1
  }
}

test('over ten seconds a ceiling is met to a few percent, in operations and in bytes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 100_000 }), fc.integer({ min: 1, max: 1_000_000 }), (rate, bytes) => {
      const operations = run([{ key: 'a', operationsPerSecond: rate }], bytes, 10_000)
      assert.ok(Math.abs(operations - rate * 10) <= rate * 0.2 + 1, `${operations} of ${rate * 10}`)
      const perSecond = rate * bytes
      const sent = run([{ key: 'a', bytesPerSecond: perSecond }], bytes, 10_000) * bytes
      assert.ok(Math.abs(sent - perSecond * 10) <= perSecond * 0.2 + bytes, `${sent} of ${perSecond * 10}`)
    }),
    { numRuns: 15 },
  )
})

test('of several ceilings the lowest counts', () => {
  const limits = [
    { key: 'svm', operationsPerSecond: 1000 },
    { key: 'bucket', operationsPerSecond: 50 },
  ]
  assert.ok(Math.abs(run(limits, 0, 10_000) - 500) <= 10)
})

test('who shares a ceiling gets the same part of it, whoever began', () => {
  const { ledger, goOn, timeMs } = standing()
  const limits = [{ key: 'shared', bytesPerSecond: 1_000_000 }]
  const sent = [0, 0, 0]
  const next = [0, 0, 0]
  while (timeMs() < 10_000) {
    for (const client of [0, 1, 2]) {
      if ((next[client] ?? 0) > timeMs()) continue
      const waitMs = ledger.charge({ limits, floors: [] }, { operations: 0, bytes: 10_000 }) ?? 0
      sent[client] = (sent[client] ?? 0) + 10_000
      next[client] = timeMs() + waitMs
    }
    goOn(1)
  }
  const whole = sent.reduce((sum, bytes) => sum + bytes, 0)
  assert.ok(Math.abs(whole - 10_000_000) < 1_000_000, String(whole))
  for (const bytes of sent) assert.ok(Math.abs(bytes - whole / 3) < whole * 0.05, sent.join())
})

test('a pause is made up for by no more than the burst', () => {
  const { ledger, goOn } = standing()
  const limits = [{ key: 'a', operationsPerSecond: 1000 }]
  goOn(60_000)
  let atOnce = 0
  while (ledger.charge({ limits, floors: [] }, { operations: 1, bytes: 0 }, 0) !== undefined) atOnce += 1
  assert.ok(atOnce <= burstMs + 1, String(atOnce))
})

test('what would wait too long is refused and costs nothing', () => {
  const { ledger } = standing()
  const limits = [{ key: 'a', operationsPerSecond: 1 }]
  while (ledger.charge({ limits, floors: [] }, { operations: 1, bytes: 0 }, 3000) !== undefined);
  const before = ledger.charge({ limits, floors: [] }, { operations: 1, bytes: 0 }, 1e9)
  assert.ok(before !== undefined && before > 3000 && before <= 4000, String(before))
})

test('a ceiling of nothing lets nothing through', () => {
  const { ledger } = standing()
  const limits = [{ key: 'a', bytesPerSecond: 0 }]
  ledger.charge({ limits, floors: [] }, { operations: 0, bytes: 1 })
  assert.equal(ledger.charge({ limits, floors: [] }, { operations: 0, bytes: 1 }, 60_000), undefined)
})
