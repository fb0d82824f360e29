/**
 * Volumes that choose their size themselves, between a minimum and a maximum. What they hold is to be between two parts
 * of the size; beyond one of these the size is set so that what they hold is MARGIN inside of it:
 *
 *     used in percent of the size      shrink_threshold      grow_threshold
 *     0 ───────────────────────────────────┤──┬─────────────────┬──├─── 100
 *                          shrinks to here ───┘                 └─── grows to here
 *
 * So a volume that has just grown does not shrink at once, nor the other way round.
 */
import type { Fields } from '../../../model/resource.ts'
import { failure } from '../../../model/failure.ts'
import { bytes, oneOf, percent } from '../../../model/kinds/index.ts'
import type { Held } from '../../../ports/charged.ts'
import { chargedTo, reservePercent } from './reserve.ts'
import type { Volume, VolumeDraft } from '../../../records/rows.ts'

export const GROW_THRESHOLD = 85
export const SHRINK_THRESHOLD = 50
export const NEARLY_FULL_PERCENT = 95
export const FULL_PERCENT = 98
/** In points of a percent. */
const MARGIN = 5
/** The maximum that a volume gets with which none is named, in percent of its size. */
const MAXIMUM_PERCENT = 120

/** The limits of a volume of this size for which none are set. */
export function usualLimits(
  size: number,
  sizeBytesMax: number,
): { readonly maximum: number; readonly minimum: number } {
  return { maximum: Math.min(sizeBytesMax, Math.ceil((size / 100) * MAXIMUM_PERCENT)), minimum: size }
}

export function autosizeFields(limits: { readonly min: number; readonly max: number }) {
  return {
    autosize: { doc: 'Automatic growing and shrinking of the volume.', isGroup: true },
    'autosize.mode': {
      doc: 'Whether the volume changes its size automatically.',
      kind: oneOf({
        off: 'The size stays as it is.',
        grow: 'The volume grows before it is full.',
        grow_shrink: 'The volume grows before it is full, and shrinks when it holds little.',
      }),
      set: 'always',
      default: 'off',
    },
    'autosize.maximum': {
      when: { field: 'autosize.mode', is: ['grow', 'grow_shrink'] },
      doc: 'The size up to which the volume grows automatically. Default: 120 % of the size at the time autosize is turned on.',
      kind: bytes(limits),
      set: 'always',
    },
    'autosize.minimum': {
      when: { field: 'autosize.mode', is: ['grow_shrink'] },
      doc: 'The size down to which the volume shrinks automatically. Default: the size at the time autosize is turned on.',
      kind: bytes(limits),
      set: 'always',
    },
    'autosize.grow_threshold': {
      when: { field: 'autosize.mode', is: ['grow', 'grow_shrink'] },
      doc: 'The used space, in percent of the size, above which the volume grows.',
      kind: percent({ min: 11, max: 100 }),
      set: 'always',
      default: GROW_THRESHOLD,
    },
    'autosize.shrink_threshold': {
      when: { field: 'autosize.mode', is: ['grow_shrink'] },
      doc: 'The used space, in percent of the size, below which the volume shrinks.',
      kind: percent({ min: 1, max: 90 }),
      set: 'always',
      default: SHRINK_THRESHOLD,
    },
    'space.nearly_full_threshold_percent': {
      doc: 'The used space, in percent of the size, at which an event warns that the volume is nearly full.',
      kind: percent({ min: 1, max: 100 }),
      set: 'always',
      default: NEARLY_FULL_PERCENT,
      since: '9.9.1',
    },
    'space.full_threshold_percent': {
      doc: 'The used space, in percent of the size, at which an event reports that the volume is full.',
      kind: percent({ min: 1, max: 100 }),
      set: 'always',
      default: FULL_PERCENT,
      since: '9.9.1',
    },
  } as const satisfies Fields
}

export function isAutosizing(volume: Volume): boolean {
  return volume['autosize.mode'] === 'grow' || volume['autosize.mode'] === 'grow_shrink'
}

/**
 * Completes a volume that is about to be written, of which `given` was named by the caller, or refuses what does not fit
 * together. A size that is set by hand moves a limit that it goes beyond.
 */
export function withAutosize(volume: Volume, given: VolumeDraft, sizeBytesMax: number): Volume {
  const { 'space.nearly_full_threshold_percent': nearlyFull, 'space.full_threshold_percent': full } = volume
  if ((nearlyFull ?? NEARLY_FULL_PERCENT) > (full ?? FULL_PERCENT)) {
    throw failure('fullThresholdsReversed')
  }
  if (!isAutosizing(volume)) return volume
  const grow = percentOf(volume, 'autosize.grow_threshold', GROW_THRESHOLD)
  const shrink = percentOf(volume, 'autosize.shrink_threshold', SHRINK_THRESHOLD)
  if (grow < shrink + 2 * MARGIN) {
    throw failure('autosizeThresholdsTooClose', { points: 2 * MARGIN })
  }
  const size = volume['size']
  let maximum = volume['autosize.maximum'] ?? 0
  let minimum = volume['autosize.minimum'] ?? size
  if (size > maximum) {
    if (given['autosize.maximum'] !== undefined) {
      throw failure('autosizeMaximumTooLow')
    }
    maximum = usualLimits(size, sizeBytesMax).maximum
  }
  if (size < minimum) {
    if (given['autosize.minimum'] !== undefined) {
      throw failure('autosizeMinimumTooHigh')
    }
    minimum = size
  }
  return { ...volume, 'autosize.maximum': maximum, 'autosize.minimum': minimum }
}

/** The size up to which a volume grows by itself. */
export function largestSize(volume: Volume): number {
  return isAutosizing(volume) ? (volume['autosize.maximum'] ?? volume['size']) : volume['size']
}

/** The size that a volume should have when it holds so much. */
export function wantedSize(volume: Volume, held: Held): number {
  const size = volume['size']
  if (!isAutosizing(volume)) return size
  const grow = percentOf(volume, 'autosize.grow_threshold', GROW_THRESHOLD)
  const shrink = percentOf(volume, 'autosize.shrink_threshold', SHRINK_THRESHOLD)
  const charged = chargedTo(volume, held)
  const sizeWith = (percent: number) => sizeFor(held, percent, reservePercent(volume))
  if (charged * 100 > size * grow) {
    return Math.max(size, Math.min(volume['autosize.maximum'] ?? size, sizeWith(grow - MARGIN)))
  }
  if (volume['autosize.mode'] === 'grow_shrink' && charged * 100 < size * shrink) {
    return Math.min(size, Math.max(volume['autosize.minimum'] ?? size, sizeWith(shrink + MARGIN)))
  }
  return size
}

/** The size of which what is charged is so many percent. The reserve is a part of the size, and grows with it. */
function sizeFor({ usedBytes, snapshotBytes }: Held, percent: number, reserve: number): number {
  const forObjects = percent - reserve
  const live = usedBytes - snapshotBytes
  return Math.max(
    Math.ceil((usedBytes * 100) / percent),
    forObjects > 0 ? Math.ceil((live * 100) / forObjects) : Infinity,
  )
}

function percentOf(
  volume: Volume,
  field: 'autosize.grow_threshold' | 'autosize.shrink_threshold',
  otherwise: number,
): number {
  return volume[field] ?? otherwise
}
