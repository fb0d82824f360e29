/**
 * Trees of volumes that the catalog has forgotten. Which they are is a record for each, `{ aggregate, volume, bytes }`, committed
 * with what makes the volume gone. It goes when the tree has; so a tree that could not be removed, because its disk was
 * away or failed or the process ended, is removed later, and nothing is removed that was not noted.
 */
import type { Change } from '../ports/catalog.ts'
import { VolumesFailure } from '../ports/volumes.ts'
import { aggregateOf } from './aggregate-of.ts'
import type { Cluster } from '../core/cluster.ts'
import { type InTree, treeOf } from './tree-of.ts'

/** The type of the records; their key is the tree. */
export const REMOVED_TREES = 'internal/removed-trees'

declare module '../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/removed-trees': { readonly aggregate: string; readonly volume: string; readonly bytes: number }
  }
}

/** Owes the removal of the tree of a volume, in which so many bytes are known to lie. */
export function treeChange(volume: InTree, bytes: number): Change {
  const body = { aggregate: aggregateOf(volume), volume: volume['uuid'], bytes }
  return { do: 'put-record', type: REMOVED_TREES, key: treeOf(volume), body }
}

/** Removes the tree of a volume that was never made: now or, where its disk does not let it, later. */
export async function removeTree(cluster: Cluster, volume: InTree): Promise<void> {
  try {
    await removeNow(cluster, treeOf(volume), aggregateOf(volume))
  } catch (failure) {
    if (!(failure instanceof VolumesFailure)) throw failure
    await cluster.catalog.commit([treeChange(volume, 0)])
  }
}

/** Removes a tree now, if that is owed and its disk lets it. */
export async function removeOwedTree(cluster: Cluster, tree: string): Promise<void> {
  const owed = await cluster.find(REMOVED_TREES, tree)
  if (owed === undefined) return
  try {
    await removeNow(cluster, tree, owed['aggregate'])
    await forget(cluster, tree)
  } catch (failure) {
    // It stays owed.
    if (!(failure instanceof VolumesFailure)) throw failure
  }
}

/** The same for all trees of a volume. */
export async function removeTreesOf(cluster: Cluster, volume: string): Promise<void> {
  for (const { key, body } of await cluster.records(REMOVED_TREES)) {
    if (body['volume'] === volume) await removeOwedTree(cluster, key)
  }
}

/** Removes all trees that are owed. Gives the failures that kept some of them, by their aggregates. */
export async function removeOwedTrees(
  cluster: Cluster,
  stop: AbortSignal,
): Promise<ReadonlyMap<string, VolumesFailure>> {
  const failed = new Map<string, VolumesFailure>()
  for (const { key, body } of await cluster.records(REMOVED_TREES)) {
    const { aggregate, volume } = body
    // What one tree of a disk met, the others would meet too. What a job is at, it ends itself.
    if (stop.aborted || failed.has(aggregate) || (await cluster.isTaken(`volume:${volume}`))) continue
    try {
      await removeNow(cluster, key, aggregate)
      await forget(cluster, key)
    } catch (failure) {
      if (!(failure instanceof VolumesFailure)) throw failure
      failed.set(aggregate, failure)
    }
  }
  return failed
}

/** An aggregate that has gone has taken nothing with it: it goes only when it has no trees. */
async function removeNow(cluster: Cluster, tree: string, aggregate: string): Promise<void> {
  const row = await cluster.find('storage/aggregates', aggregate)
  if (row !== undefined) await cluster.engineOf(row).remove(tree)
}

async function forget(cluster: Cluster, tree: string): Promise<void> {
  await cluster.catalog.commit([{ do: 'remove-record', type: REMOVED_TREES, key: tree }])
}
