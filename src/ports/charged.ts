import type { VolumeCounters } from './catalog/rows.ts'

/** What a volume holds: all of it, and of that what only snapshots hold. */
export type Held = Pick<VolumeCounters, 'usedBytes' | 'snapshotBytes'>

/**
 * What counts against the size of a volume. A part of the size may be kept for snapshots: objects do not get it, also when
 * no snapshot uses it; snapshots that need more take it from the rest.
 *
 *     size      |------------ for objects ------------|-- reserve --|
 *     held      | live objects | snapshots beyond ... | snapshots   |
 *     charged = live objects + the larger of reserve and snapshots
 */
export function chargedBytes({ usedBytes, snapshotBytes }: Held, reserveBytes: number): number {
  return Math.max(usedBytes, usedBytes - snapshotBytes + reserveBytes)
}
