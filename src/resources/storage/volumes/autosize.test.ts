import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Volume, VolumeDraft } from '../../../records/rows.ts'
import { wantedSize, withAutosize } from './autosize.ts'
import { chargedTo } from './reserve.ts'

const GB = 2 ** 30

function volume(more: VolumeDraft): Volume {
  const known = { uuid: 'v', name: 'v', 'svm.uuid': 's', size: GB, 'autosize.mode': 'grow_shrink' } as const
  return withAutosize({ ...known, ...more }, more, 300 * 2 ** 40)
}

test('a volume begins to grow by itself up to 120 % of its size, and not below it, unless other limits are named', () => {
  assert.equal(volume({})['autosize.maximum'], Math.ceil(GB * 1.2))
  assert.equal(volume({})['autosize.minimum'], GB)
  const named = volume({ 'autosize.maximum': 5 * GB, 'autosize.minimum': 1000 })
  assert.deepEqual([named['autosize.maximum'], named['autosize.minimum']], [5 * GB, 1000])
})

test('what does not fit together is refused', () => {
  for (const more of [
    { 'autosize.maximum': GB - 1 },
    { 'autosize.minimum': GB + 1 },
    { 'autosize.grow_threshold': 59, 'autosize.shrink_threshold': 50 },
    { 'space.nearly_full_threshold_percent': 99, 'space.full_threshold_percent': 98 },
  ]) {
    assert.throws(() => volume(more), { name: 'Failure', kind: 'invalid' })
  }
})

test('a size that is set by hand moves the limit that it goes beyond', () => {
  const before = volume({ 'autosize.maximum': 2 * GB })
  const grown = withAutosize({ ...before, size: 10 * GB }, { size: 10 * GB }, 11 * GB)
  assert.deepEqual([grown['autosize.maximum'], grown['autosize.minimum']], [11 * GB, GB])
  const shrunk = withAutosize({ ...before, size: 1000 }, { size: 1000 }, 11 * GB)
  assert.deepEqual([shrunk['autosize.maximum'], shrunk['autosize.minimum']], [2 * GB, 1000])
})

test('whatever a volume holds, it has a size within its limits that holds it where that can be, and then rests', () => {
  const limits = fc.record({
    size: fc.integer({ min: 2 ** 20, max: 2 ** 48 }),
    above: fc.integer({ min: 0, max: 2 ** 48 }),
    below: fc.double({ min: 0, max: 1, noNaN: true }),
    shrink: fc.integer({ min: 1, max: 90 }),
    gap: fc.integer({ min: 10, max: 99 }),
    held: fc.double({ min: 0, max: 1.5, noNaN: true }),
    mode: fc.constantFrom('off', 'grow', 'grow_shrink'),
    snapshots: fc.double({ min: 0, max: 1, noNaN: true }),
    reserve: fc.constantFrom(0, 0, 5, 50, 90),
  })
  fc.assert(
    fc.property(limits, ({ size, above, below, shrink, gap, held, mode, snapshots, reserve }) => {
      const maximum = size + above
      const minimum = Math.floor(size * below)
      const row = volume({
        size,
        'autosize.mode': mode,
        'autosize.maximum': maximum,
        'autosize.minimum': minimum,
        'autosize.shrink_threshold': shrink,
        'autosize.grow_threshold': Math.min(100, shrink + gap),
        'space.snapshot.reserve_percent': reserve,
      })
      const usedBytes = Math.floor(maximum * held)
      const holds = { usedBytes, snapshotBytes: Math.floor(usedBytes * snapshots) }
      const wanted = wantedSize(row, holds)
      assert.equal(wantedSize({ ...row, size: wanted }, holds), wanted, 'It rests.')
      if (mode === 'off') assert.equal(wanted, size)
      else assert.ok(wanted <= maximum && wanted >= minimum)
      if (mode === 'grow') assert.ok(wanted >= size)
      const fits = (bytes: number) => chargedTo({ ...row, size: bytes }, holds) <= bytes
      if (mode !== 'off' && fits(maximum)) assert.ok(fits(wanted))
    }),
  )
})
