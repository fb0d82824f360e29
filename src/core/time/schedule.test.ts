import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seedOf } from '../../../test/support/seed.ts'
import { SimulatedRandom } from '../../engines/simulated/random.ts'
import { CORRECTION_MS, doneUntil, isOwed, lastDue, nextDue, type Schedule } from './schedule.ts'

const MINUTE_MS = 60_000
const at = (text: string) => Date.parse(`${text}Z`)

test('an interval is due at its multiples since 1970, whenever the process was started', () => {
  const everyHour: Schedule = { intervalMs: 60 * MINUTE_MS }
  const now = at('2026-11-21T18:10')
  assert.equal(lastDue(everyHour, now), at('2026-11-21T18:00'))
  assert.equal(nextDue(everyHour, now), at('2026-11-21T19:00'))
  assert.equal(lastDue(everyHour, at('2026-11-21T19:00')), at('2026-11-21T19:00'))
  assert.equal(nextDue(everyHour, at('2026-11-21T19:00')), at('2026-11-21T20:00'))
})

test('however much was missed, one is owed: the last', () => {
  const daily: Schedule = { cron: { minutes: [10], hours: [0] } }
  const done = at('2026-11-01T00:10')
  const due = lastDue(daily, at('2026-11-21T18:00'))
  assert.equal(due, at('2026-11-21T00:10'))
  assert.equal(isOwed(due, done), true)
  assert.equal(isOwed(due, due ?? 0), false)
  assert.equal(isOwed(undefined, done), false)
})

test('a small correction of the clock changes no note, a large one makes notes from the future count as made now', () => {
  const now = at('2026-11-21T18:00')
  assert.equal(doneUntil(now + CORRECTION_MS, now), now + CORRECTION_MS)
  assert.equal(doneUntil(now + CORRECTION_MS + 1, now), now)
  assert.equal(doneUntil(now - 1, now), now - 1)
})

test('between what is due last and next lies now, and nothing is due in between, for any schedule', (context) => {
  const random = new SimulatedRandom(seedOf(context))
  for (let round = 0; round < 200; round++) {
    const schedule: Schedule = random.chance(0.5)
      ? { intervalMs: (1 + random.below(5000)) * MINUTE_MS }
      : {
          cron: {
            minutes: [random.below(60), random.below(60)],
            hours: [random.below(24)],
            weekdays: [random.below(7)],
          },
        }
    const now = at('2026-01-01T00:00') + random.below(2 ** 31) * 16
    const last = lastDue(schedule, now) ?? Number.NaN
    const next = nextDue(schedule, now) ?? Number.NaN
    assert.ok(last <= now && now < next)
    assert.equal(nextDue(schedule, last), next)
    assert.equal(lastDue(schedule, next), next)
    assert.equal(lastDue(schedule, next - 1), last)
  }
})
