/**
 * What an aggregate has to give. The disk tells what is free; of that, the part of each guaranteed volume that it has
 * not used yet is promised already:
 *
 *     available = free on disk - sum over volumes with guarantee `volume` of (size - used)
 */
import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Cluster } from '../../core/cluster.ts'
import { textAt } from '../../model/value.ts'

export interface AggregateSpace {
  readonly sizeBytes: number
  readonly availableBytes: number
  /** Used by volumes, or promised to them. */
  readonly footprintBytes: number
  readonly provisionedBytes: number
  readonly volumes: number
}

export async function spaceOf(cluster: Cluster, aggregate: string): Promise<AggregateSpace> {
  const [disk, counters, volumes] = await Promise.all([
    cluster.volumesOf(aggregate).then((engine) => engine.space()),
    cluster.catalog.volumes(),
    cluster.rows('storage/volumes'),
  ])
  const own = volumes.filter((volume) => aggregateOf(volume) === aggregate)
  let promised = 0
  let footprint = 0
  let provisioned = 0
  for (const volume of own) {
    const size = Number(volume['size'])
    const used = counters.get(textAt(volume, 'uuid'))?.usedBytes ?? 0
    const isGuaranteed = volume['guarantee.type'] === 'volume'
    if (isGuaranteed) promised += Math.max(0, size - used)
    footprint += isGuaranteed ? Math.max(size, used) : used
    provisioned += size
  }
  return {
    sizeBytes: disk.usedBytes + disk.availableBytes,
    availableBytes: Math.max(0, disk.availableBytes - promised),
    footprintBytes: footprint,
    provisionedBytes: provisioned,
    volumes: own.length,
  }
}
