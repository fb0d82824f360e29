import type { Volume } from '../records/rows.ts'

/** What says in which aggregate a volume lies. */
export type Placed = Pick<Volume, 'aggregates'>

/** The UUID of the aggregate that a volume lies in. */
export function aggregateOf(volume: Placed): string {
  return volume['aggregates']?.[0]?.uuid ?? ''
}
