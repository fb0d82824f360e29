/** The part of a volume's size that is kept for snapshots, and what is told of it. */
import type { Fields } from '../../../model/resource.ts'
import { bytes, percent } from '../../../model/kinds/index.ts'
import { type Row } from '../../../model/value.ts'
import { chargedBytes, type Held } from '../../../ports/charged.ts'
import type { Volume } from '../../../records/rows.ts'

const RESERVE_PERCENT_MAX = 90

export const reserveFields = {
  'space.snapshot': { doc: 'The space that snapshots of the volume use and may use.', isGroup: true },
  'space.snapshot.used': { doc: 'Bytes that only snapshots use.', kind: bytes() },
  'space.snapshot.reserve_percent': {
    doc: 'The part of the size that is reserved for snapshots, in percent. Objects cannot use this space.',
    kind: percent({ min: 0, max: RESERVE_PERCENT_MAX }),
    set: 'always',
    default: 0,
  },
  'space.snapshot.reserve_size': { doc: 'The size of the snapshot reserve in bytes.', kind: bytes(), since: '9.9.1' },
  'space.snapshot.reserve_available': {
    doc: 'Bytes of the snapshot reserve that no snapshot uses.',
    kind: bytes(),
    since: '9.10.1',
  },
  'space.snapshot.space_used_percent': {
    doc: 'The space that only snapshots use, in percent of the snapshot reserve.',
    kind: percent(),
    since: '9.9.1',
  },
  'space.snapshot_spill': {
    doc: 'Bytes that snapshots use beyond their reserve. Objects cannot use this space.',
    kind: bytes(),
    since: '9.10.1',
  },
} as const satisfies Fields

export function reservePercent(volume: Volume): number {
  return volume['space.snapshot.reserve_percent'] ?? 0
}

export function reserveOf(volume: Volume): number {
  return Math.floor((volume['size'] / 100) * reservePercent(volume))
}

/** What a volume holds, as it counts against its size. */
export function chargedTo(volume: Volume, held: Held): number {
  return chargedBytes(held, reserveOf(volume))
}

export function reserveReadings(volume: Volume, { snapshotBytes }: Held): Row {
  const reserve = reserveOf(volume)
  return {
    'space.snapshot.used': snapshotBytes,
    'space.snapshot.reserve_size': reserve,
    'space.snapshot.reserve_available': Math.max(0, reserve - snapshotBytes),
    'space.snapshot.space_used_percent': reserve === 0 ? 0 : Math.floor((snapshotBytes / reserve) * 100),
    'space.snapshot_spill': Math.max(0, snapshotBytes - reserve),
  }
}
