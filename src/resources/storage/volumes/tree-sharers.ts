/** Which other volumes, of those that are there and of those in the recovery queue, have something in a tree. */
import type { Ground } from '../../../core/grounds.ts'
import { TREES } from '../../../ports/catalog.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { placesOf } from '../../../storage/tree-of.ts'
import { MOVES } from './movement.ts'

/** Held from a look at who shares a tree until the commit that rests on it. */
export const TREES_LOCK: Ground = { lock: 'trees', types: [TREES] }

/** The UUIDs of all but the volume named. What it costs does not grow with the number of volumes. */
export async function sharersOf(cluster: Cluster, tree: string, volume: string): Promise<string[]> {
  const sharers = new Set(await cluster.catalog.volumesIn(tree))
  // A volume that has just been moved is in two trees, and the catalog knows it in the new one.
  for (const move of await cluster.rows(MOVES)) {
    const uuid = move['volume']
    if (move['state'] === 'success' || sharers.has(uuid)) continue
    const moved = await cluster.find('storage/volumes', uuid)
    if (moved !== undefined && placesOf(moved).some((place) => place.tree === tree)) sharers.add(uuid)
  }
  sharers.delete(volume)
  return [...sharers]
}
