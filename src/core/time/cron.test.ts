import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seedOf } from '../../../test/support/seed.ts'
import { SimulatedRandom } from '../../engines/simulated/random.ts'
import { lastTime, nextTime, type Cron } from './cron.ts'

const MINUTE_MS = 60_000
const at = (text: string) => Date.parse(`${text}Z`)
const text = (ms: number | undefined) =>
  ms === undefined ? 'never' : new Date(ms).toISOString().replace(':00.000Z', '').replace('T', ' ')

/** The definition, minute by minute: what the search must agree with. */
function isTime(cron: Cron, ms: number): boolean {
  const time = new Date(ms)
  const every = (list: readonly number[] | undefined) => list === undefined || list.length === 0
  const has = (list: readonly number[] | undefined, value: number) => every(list) || list?.includes(value) === true
  const isDayOfMonth = has(cron.days, time.getUTCDate())
  const isWeekday = has(cron.weekdays, time.getUTCDay())
  return (
    has(cron.minutes, time.getUTCMinutes()) &&
    has(cron.hours, time.getUTCHours()) &&
    has(cron.months, time.getUTCMonth() + 1) &&
    (every(cron.days) || every(cron.weekdays) ? isDayOfMonth && isWeekday : isDayOfMonth || isWeekday)
  )
}

test('the schedules that every cluster has are due when their manual says', () => {
  const now = at('2026-11-21T18:10') // a Saturday
  const cases: readonly [string, Cron, string, string][] = [
    ['hourly', { minutes: [5] }, '2026-11-21 18:05', '2026-11-21 19:05'],
    ['daily', { minutes: [10], hours: [0] }, '2026-11-21 00:10', '2026-11-22 00:10'],
    ['weekly', { minutes: [15], hours: [0], weekdays: [0] }, '2026-11-15 00:15', '2026-11-22 00:15'],
    ['monthly', { minutes: [20], hours: [0], days: [1] }, '2026-11-01 00:20', '2026-12-01 00:20'],
    ['8hour', { minutes: [15], hours: [2, 10, 18] }, '2026-11-21 10:15', '2026-11-21 18:15'],
  ]
  for (const [name, cron, last, next] of cases) {
    assert.deepEqual([text(lastTime(cron, now)), text(nextTime(cron, now))], [last, next], name)
  }
})

test('a time is the last one of itself, and not the next one after itself', () => {
  const cron = { minutes: [5] }
  const due = at('2026-11-21T18:05')
  assert.equal(lastTime(cron, due), due)
  assert.equal(lastTime(cron, due - 1), due - 60 * MINUTE_MS)
  assert.equal(nextTime(cron, due), due + 60 * MINUTE_MS)
  assert.equal(nextTime(cron, due - 1), due)
})

test('days of the month and of the week are independent: the 13th, and every Friday', () => {
  const cron = { minutes: [0], hours: [0], days: [13], weekdays: [5] }
  const times: string[] = []
  for (let time = nextTime(cron, at('2026-11-01T00:00')); times.length < 6; time = nextTime(cron, time ?? 0)) {
    times.push(text(time).slice(0, 10))
  }
  assert.deepEqual(times, ['2026-11-06', '2026-11-13', '2026-11-20', '2026-11-27', '2026-12-04', '2026-12-11'])
})

test('months without the day are passed over, and 29 February is found across a century that has none', () => {
  const end = { minutes: [0], hours: [0], days: [31] }
  assert.equal(text(nextTime(end, at('2026-01-31T00:00'))), '2026-03-31 00:00')
  const leap = { minutes: [0], hours: [0], days: [29], months: [2] }
  assert.equal(text(nextTime(leap, at('2026-03-01T00:00'))), '2028-02-29 00:00')
  assert.equal(text(nextTime(leap, at('2096-02-29T00:00'))), '2104-02-29 00:00')
  assert.equal(text(lastTime(leap, at('2104-02-28T00:00'))), '2096-02-29 00:00')
})

test('a schedule for a day that does not exist is never due', () => {
  const never = { minutes: [0], days: [30, 31], months: [2] }
  assert.equal(nextTime(never, at('2026-01-01T00:00')), undefined)
  assert.equal(lastTime(never, at('2026-01-01T00:00')), undefined)
})

test('a schedule is due as often on the days on which clocks are changed as on any other', () => {
  for (const day of ['2026-03-29', '2026-10-25', '2026-11-21']) {
    let times = 0
    for (let time = nextTime({ minutes: [30] }, at(`${day}T00:00`)); time !== undefined;) {
      if (!text(time).startsWith(day)) break
      times++
      time = nextTime({ minutes: [30] }, time)
    }
    assert.equal(times, 24, day)
  }
})

test('next and last time agree with the definition, minute by minute, for any schedule', (context) => {
  const random = new SimulatedRandom(seedOf(context))
  const pick = (from: number, to: number, most: number) =>
    Array.from({ length: random.below(most + 1) }, () => from + random.below(to - from + 1))
  for (let round = 0; round < 20; round++) {
    const cron = {
      minutes: [random.below(60), ...pick(0, 59, 3)],
      hours: pick(0, 23, 3),
      days: pick(1, 31, 3),
      months: pick(1, 12, 8),
      weekdays: pick(0, 6, 2),
    }
    const from = at('2023-01-01T00:00') + random.below(3 * 365 * 1440) * MINUTE_MS + random.below(MINUTE_MS)
    const first = Math.floor(from / MINUTE_MS) * MINUTE_MS
    let next: number | undefined
    for (let ms = first + MINUTE_MS; ms < first + 60 * 1440 * MINUTE_MS; ms += MINUTE_MS) {
      if (isTime(cron, ms)) {
        next = ms
        break
      }
    }
    let last: number | undefined
    for (let ms = first; ms > first - 60 * 1440 * MINUTE_MS; ms -= MINUTE_MS) {
      if (isTime(cron, ms)) {
        last = ms
        break
      }
    }
    const found = [nextTime(cron, from), lastTime(cron, from)]
    if (next !== undefined) assert.equal(text(found[0]), text(next), JSON.stringify({ cron, from }))
    else assert.ok(found[0] === undefined || found[0] >= first + 60 * 1440 * MINUTE_MS)
    if (last !== undefined) assert.equal(text(found[1]), text(last), JSON.stringify({ cron, from }))
    else assert.ok(found[1] === undefined || found[1] <= first - 60 * 1440 * MINUTE_MS)
    for (const time of found) if (time !== undefined) assert.ok(isTime(cron, time))
  }
})
