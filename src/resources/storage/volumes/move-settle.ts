/** The end of a move, behind the switch: there is no way back, so it is done, however long a disk or the catalog is away. */
import { alone } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { describe } from '../../../core/describe.ts'
import { removeTreesOf, treeChange } from '../../../storage/removed-trees.ts'
import { beforeOf, type TreePlace, treeOf } from '../../../storage/tree-of.ts'
import { Interrupted } from '../../../core/verb.ts'
import type { BlobRef, StoredBlob } from '../../../ports/catalog.ts'
import { Copier, isLost } from './copier.ts'
import { changeVolume, type MoveWork, noteOf } from './move-record.ts'
import { MOVE_ORDERS, noteMove } from './movement.ts'
import { sharersOf, TREES_LOCK } from './tree-sharers.ts'

const VOLUMES = 'storage/volumes'
/** Blobs copied between two commits. */
const PAGE = 256
/** How often something that stands in the way is tried again where there is no way back. */
const PATIENCE_MS = 1000
const LEAVE_LOOK_MS = 200
/** How long a write that began before the switch may take. After that it is answered with 503, and repeated by its client. */
const LEAVE_MS = 3_600_000

/**
 * What came between the last look and the switch is copied, writes that began before it end, and the old tree goes. Does
 * nothing to a move that has not switched, or has ended.
 */
export async function settle(cluster: Cluster, work: MoveWork): Promise<void> {
  await patiently(cluster, work, 'copy the last blobs', () => catchUp(cluster, work))
  await patiently(cluster, work, 'share files again', () => shareAgain(cluster, work))
  await patiently(cluster, work, 'wait for writers', () => waitForWriters(cluster, work))
  await patiently(cluster, work, 'leave the old tree', () => leaveOld(cluster, work))
  // Where its disk does not let it, it is removed later.
  await patiently(cluster, work, 'remove the old tree', () => removeTreesOf(cluster, work.key))
}

async function catchUp(cluster: Cluster, work: MoveWork): Promise<void> {
  const places = await switched(cluster, work)
  if (places === undefined) return
  const copier = await Copier.open(cluster, work.key, places, work.stopping)
  for (;;) {
    const arrivals = await cluster.catalog.arrivals(work.key, PAGE)
    if (arrivals.length === 0) return
    try {
      await copier.copy(arrivals)
    } catch (failure) {
      if (!isLost(failure)) throw failure
      for (const arrival of arrivals) await copyUnlessLost(cluster, work.key, copier, arrival)
    }
    await cluster.catalog.commit([{ do: 'drop-arrivals', volume: work.key, blobs: arrivals.map(({ blob }) => blob) }])
  }
}

/**
 * Blobs that shared a file were copied one by one, and count as one: they are made one again. Housekeeping unlinks nothing
 * of a volume that has not left its old tree.
 */
async function shareAgain(cluster: Cluster, work: MoveWork): Promise<void> {
  const places = await switched(cluster, work)
  if (places === undefined) return
  const { tree, aggregate } = places.to
  const volumes = await cluster.volumesOf(aggregate)
  const first = new Map<string, string>()
  for (let after: string | undefined = ''; after !== undefined;) {
    const page: { readonly blobs: readonly StoredBlob[]; readonly next?: string } = await cluster.catalog.storedBlobs(
      work.key,
      after,
      PAGE,
    )
    for (const { blob, group } of page.blobs) {
      work.stopping.throwIfAborted()
      if (group === undefined) continue
      const twin = first.get(group)
      if (twin === undefined) first.set(group, blob)
      // What its disk does not let be one file takes more of it than the volume says, until it is replaced.
      else await volumes.share(tree, blob, twin).catch(unlessLost)
    }
    after = page.next
  }
}

function unlessLost(failure: unknown): void {
  if (!isLost(failure)) throw failure
}

/** What was lost before the move can neither be brought back by it, nor keep it from its end. */
async function copyUnlessLost(cluster: Cluster, volume: string, copier: Copier, arrival: BlobRef): Promise<void> {
  try {
    await copier.copy([arrival])
  } catch (failure) {
    if (!isLost(failure)) throw failure
    cluster.log.error('A blob of a moved volume is lost: it was not where it had been written.', {
      volume,
      cause: describe(failure),
    })
  }
}

async function waitForWriters(cluster: Cluster, work: MoveWork): Promise<void> {
  const places = await switched(cluster, work)
  if (places === undefined) return
  const until = work.memo.until ?? cluster.now() + LEAVE_MS
  work.memo.until = until
  while (await cluster.leaveTree(work.key, places.from.tree)) {
    if (cluster.now() > until) {
      cluster.log.warn('Writes that began before a volume was moved did not end, and are given up.', {
        volume: work.key,
      })
      return
    }
    await cluster.system.clock.sleep(LEAVE_LOOK_MS, work.stopping)
    work.stopping.throwIfAborted()
  }
}

async function leaveOld(cluster: Cluster, work: MoveWork): Promise<void> {
  const places = await switched(cluster, work)
  if (places === undefined) return
  const { from } = places
  // Nobody else stops sharing the tree between the look and the commit.
  await alone(cluster, [TREES_LOCK], async (cluster) => {
    const others = await sharersOf(cluster, from.tree, work.key)
    if (others.length > 0) await (await Copier.open(cluster, work.key, places, work.stopping)).clearOld(others)
    const left = { uuid: work.key, aggregates: [{ uuid: from.aggregate }], $tree: from.tree }
    await changeVolume(cluster, work.key, (row) => {
      if (beforeOf(row)?.tree !== from.tree) return Promise.resolve(undefined)
      const { $before: _, ...rest } = row
      return Promise.resolve([
        rest,
        [
          { do: 'end-move', volume: work.key },
          ...(others.length > 0 ? [] : [treeChange(left, 0)]),
          noteMove(noteOf(work, 'success')),
          { do: 'remove-record', type: MOVE_ORDERS, key: work.key },
          cluster.event('volume.move.ended', { volume: work.input['name'] ?? '' }),
        ],
      ])
    })
  })
}

/** Where the volume was and is, between the switch and the end of its move. */
async function switched(
  cluster: Cluster,
  work: MoveWork,
): Promise<{ readonly from: TreePlace; readonly to: TreePlace } | undefined> {
  const to = work.input.$to
  const volume = await cluster.find(VOLUMES, work.key)
  const from = volume === undefined || treeOf(volume) !== to.tree ? undefined : beforeOf(volume)
  return from === undefined ? undefined : { from, to }
}

/** Repeats what has to be done until it is. */
async function patiently(cluster: Cluster, work: MoveWork, what: string, act: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await act()
      return
    } catch (failure) {
      if (work.stopping.aborted) throw new Interrupted()
      cluster.log.warn(`A moved volume could not ${what} yet. It is tried again.`, {
        volume: work.key,
        cause: describe(failure),
      })
      await cluster.system.clock.sleep(PATIENCE_MS, work.stopping)
    }
  }
}
