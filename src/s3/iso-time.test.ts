import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { httpTime, isoTime } from './iso-time.ts'

const DAYS_MAX = 100_000_000
const DAY_MS = 86_400_000

test('a time is written as Date.toISOString has it, far ahead and before 1970 too', () => {
  const edges = [0, 1, -1, 999, 59_999, 60_000, DAY_MS - 1, DAY_MS, -DAY_MS, 1_709_164_799_999, 253_402_300_800_000]
  for (const ms of [...edges, DAYS_MAX * DAY_MS, -DAYS_MAX * DAY_MS]) {
    assert.equal(isoTime(ms), new Date(ms).toISOString())
  }
  const near = fc.integer({ min: 0, max: 4_102_444_800_000 })
  const any = fc.integer({ min: -DAYS_MAX * DAY_MS, max: DAYS_MAX * DAY_MS })
  fc.assert(fc.property(fc.oneof(near, any), (ms) => isoTime(ms) === new Date(ms).toISOString()))
})

test('a fraction of a millisecond is cut off, and what is no time is refused', () => {
  assert.equal(isoTime(1.5), '1970-01-01T00:00:00.001Z')
  assert.throws(() => isoTime(Number.NaN), RangeError)
  assert.throws(() => isoTime(DAYS_MAX * DAY_MS * 2), RangeError)
})

test('a time in a header is written as Date.toUTCString has it', () => {
  for (const ms of [0, 999, 59_999, DAY_MS - 1, DAY_MS, -1, 1_709_164_799_999]) {
    assert.equal(httpTime(ms), new Date(ms).toUTCString())
  }
  const any = fc.integer({ min: 0, max: 253_402_300_799_999 })
  fc.assert(fc.property(any, (ms) => httpTime(ms) === new Date(ms).toUTCString()))
})
