/** The steps of which the random sequences of the catalog's model test are made. */
import * as fc from 'fast-check'

export const BUCKETS = 2
const KEYS = ['a', 'a/', 'a/a', 'b', '\xff']
export const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

export const key = fc.constantFrom(...KEYS)
export const bucket = fc.nat(BUCKETS - 1)
export const nowMs = fc.integer({ min: 0, max: 30 })
export const lock = fc.record({
  mode: fc.constantFrom('governance' as const, 'compliance' as const),
  untilMs: fc.constantFrom(10, 20),
})
export const held = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ lock, legalHold: fc.boolean() }, { requiredKeys: [] }) },
)
export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      bucket,
      key,
      nowMs,
      held,
      size: fc.integer({ min: 1, max: 9 }),
      storedBytes: fc.integer({ min: 1, max: 9 }),
      twin: fc.option(fc.nat(9)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('store' as const),
      which: fc.nat(9),
      most: fc.integer({ min: 1, max: 4 }),
      storedBytes: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('delete' as const), bucket, key, nowMs, bypassGovernance: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('delete version' as const),
      bucket,
      key,
      which: fc.nat(4),
      nowMs,
      bypassGovernance: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('version' as const),
      bucket,
      state: fc.constantFrom('enabled' as const, 'enabled' as const, 'suspended' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('amend' as const),
      bucket,
      key,
      which: fc.nat(2),
      nowMs,
      bypassGovernance: fc.boolean(),
      amends: fc.record({ lock: fc.option(lock), legalHold: fc.boolean(), tag: fc.boolean() }, { requiredKeys: [] }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('copy' as const), bucket, key, to: bucket, toKey: key }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('part' as const), bucket, number: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('complete' as const), bucket, key, last: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), bucket }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('snapshot' as const), of: fc.option(bucket, { freq: 1 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('restore' as const), bucket, key, which: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const), which: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('go back' as const),
      which: fc.nat(3),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('clone' as const),
      which: fc.nat(3),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('delete in clone' as const), which: fc.nat(1), bucket, key }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close clone' as const), which: fc.nat(1) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('go back in range' as const),
      bucket,
      which: fc.nat(3),
      range: fc.oneof(fc.record({ key }), fc.record({ prefix: fc.constantFrom('', 'a', 'a/', '\xff') })),
      other: key,
      nowMs,
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reclaim' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
)
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
