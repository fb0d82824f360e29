/** Where a volume may lie: the aggregate that is chosen for it, and whether that can keep its guarantee. */
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import { printSize } from '../../../model/kinds/index.ts'
import { availableIn, DisksSeen, ownedBytes, queuedBytes } from '../aggregates/space.ts'
import type { Volume, VolumeDraft } from '../../../records/rows.ts'

/** The aggregate that a volume is to lie in: the one named, that of its parent, or of all but these one with most space. */
export async function chooseAggregate(
  cluster: Cluster,
  draft: Pick<VolumeDraft, 'aggregates' | 'svm.uuid'>,
  parent: Volume | undefined,
  excluded: ReadonlySet<string> = new Set(),
): Promise<string> {
  const given = draft['aggregates']
  if (given !== undefined && given.length > 1) {
    throw failure('tooManyVolumeAggregates')
  }
  const named = given?.[0]?.['uuid']
  const svm = await cluster.find('svm/svms', draft['svm.uuid'] ?? '')
  const allowed = (svm?.['aggregates'] ?? []).map(({ uuid }) => uuid)
  const isAllowed = (uuid: string) => allowed.length === 0 || allowed.includes(uuid)
  if (parent !== undefined && typeof named === 'string' && named !== aggregateOf(parent)) {
    throw failure('cloneAggregateFixed')
  }
  if (parent !== undefined) return aggregateOf(parent)
  if (typeof named === 'string') {
    if (isAllowed(named)) return named
    throw failure('svmWithoutAggregates', { svm: svm?.['name'] ?? '' })
  }
  let best: { uuid: string; availableBytes: number } | undefined
  // Those on one disk have the same to give, whoever writes to it between two looks: the first of them by name is taken.
  const disks = new Set<string>()
  const seen = new DisksSeen(cluster)
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    const uuid = aggregate['uuid']
    if (!isAllowed(uuid) || excluded.has(uuid)) continue
    const disk = (await seen.diskOf(uuid))?.disk ?? uuid
    if (disks.has(disk)) continue
    const availableBytes = await availableIn(cluster, uuid, seen)
    if (availableBytes > 0) disks.add(disk)
    if (best === undefined || availableBytes > best.availableBytes) best = { uuid, availableBytes }
  }
  if (best === undefined) throw failure('aggregateMissing')
  return best.uuid
}

/** A guarantee is given only when the aggregate has what the volume does not hold yet. */
export async function insistOnSpace(cluster: Cluster, aggregate: string, volume: Volume): Promise<void> {
  if (volume['guarantee.type'] !== 'volume') return
  const [availableBytes, counters, before] = await Promise.all([
    availableIn(cluster, aggregate),
    cluster.catalog.volume(volume['uuid']),
    cluster.find('storage/volumes', volume['uuid']),
  ])
  const used = ownedBytes(counters)
  const promisedNow = before?.['guarantee.type'] === 'volume' ? Math.max(0, before['size'] - used) : 0
  const wanted = Math.max(0, volume['size'] - used) - promisedNow
  if (wanted > availableBytes) {
    throw failure('aggregateTooSmall', {
      available: printSize(availableBytes),
      needed: printSize(wanted),
      hint: await queueHint(cluster, aggregate),
    })
  }
}

/** Deleted volumes are not sacrificed to a guarantee unasked. */
async function queueHint(cluster: Cluster, aggregate: string): Promise<string> {
  const queued = await queuedBytes(cluster, aggregate)
  return queued === 0 ? '' : ` Deleted volumes in the recovery queue hold ${printSize(queued)}: purge it to have that.`
}
