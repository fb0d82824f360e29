/** The part of a volume's size that is kept for snapshots, and what is told of it. */
import type { Fields } from '../../../model/resource.ts'
import { bytes, percent } from '../../../model/kinds/index.ts'
import { type Row } from '../../../model/value.ts'
import { chargedBytes, type Held } from '../../../ports/charged.ts'

const RESERVE_PERCENT_MAX = 90

export const reserveFields = {
  'space.snapshot': { doc: 'The space that snapshots of the volume use and may use.', isGroup: true },
  'space.snapshot.used': { doc: 'Bytes that only snapshots hold.', kind: bytes() },
  'space.snapshot.reserve_percent': {
    doc: 'The part of its size that is kept for snapshots: objects do not get it.',
    kind: percent({ min: 0, max: RESERVE_PERCENT_MAX }),
    set: 'always',
    default: 0,
  },
  'space.snapshot.reserve_size': { doc: 'The same in bytes.', kind: bytes(), since: '9.9.1' },
  'space.snapshot.reserve_available': {
    doc: 'Bytes of the reserve that no snapshot holds.',
    kind: bytes(),
    since: '9.10.1',
  },
  'space.snapshot.space_used_percent': {
    doc: 'What only snapshots hold, in percent of the reserve.',
    kind: percent(),
    since: '9.9.1',
  },
  'space.snapshot_spill': {
    doc: 'Bytes that snapshots hold beyond the reserve: objects cannot have them.',
    kind: bytes(),
    since: '9.10.1',
  },
} as const satisfies Fields

export function reservePercent(volume: Row): number {
  return Number(volume['space.snapshot.reserve_percent'] ?? 0)
}

export function reserveOf(volume: Row): number {
  return Math.floor((Number(volume['size']) / 100) * reservePercent(volume))
}

/** What a volume holds, as it counts against its size. */
export function chargedTo(volume: Row, held: Held): number {
  return chargedBytes(held, reserveOf(volume))
}

export function reserveReadings(volume: Row, { snapshotBytes }: Held): Row {
  const reserve = reserveOf(volume)
  return {
    'space.snapshot.used': snapshotBytes,
    'space.snapshot.reserve_size': reserve,
    'space.snapshot.reserve_available': Math.max(0, reserve - snapshotBytes),
    'space.snapshot.space_used_percent': reserve === 0 ? 0 : Math.floor((snapshotBytes / reserve) * 100),
    'space.snapshot_spill': Math.max(0, snapshotBytes - reserve),
  }
}
