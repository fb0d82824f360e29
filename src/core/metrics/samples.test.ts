import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FIGURES, NO_GROWTH } from './figures.ts'
import { decodeSamples, encodeSamples } from './samples.ts'

const number = fc.oneof(fc.constant(0), fc.nat(200), fc.maxSafeNat())

test('samples are read as they were written', () => {
  const growth = fc.array(number, { minLength: FIGURES.length, maxLength: FIGURES.length })
  const sample = fc.record({ slot: fc.nat(30), coveredMs: number, growth }, { noNullPrototype: true })
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 20 }), (samples) => {
      assert.deepEqual(decodeSamples(encodeSamples(samples)), samples)
    }),
    { seed: 16, numRuns: 500 },
  )
})

test('an idle sample takes four bytes, one of reads and writes less than thirty', () => {
  const size = (coveredMs: number, growth: readonly number[]) =>
    encodeSamples([{ slot: 19, coveredMs, growth }]).length - encodeSamples([]).length
  assert.equal(size(15_000, NO_GROWTH), 4)
  assert.ok(size(0, [1500, 300, 40, 3_000_000, 900_000, 60_000, 98_304_000, 19_660_800]) < 30)
})

test('bytes that are cut off, of another format or nothing are no reason to fail', () => {
  assert.deepEqual(decodeSamples(undefined), [])
  assert.deepEqual(decodeSamples(Uint8Array.of(2, 1, 1, 1)), [])
  const whole = encodeSamples([{ slot: 1, coveredMs: 15_000, growth: FIGURES.map(() => 2 ** 40) }])
  for (let length = 0; length < whole.length; length++) decodeSamples(whole.subarray(0, length))
})
