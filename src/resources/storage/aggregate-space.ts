/**
 * What an aggregate has to give. The disk tells what is free; of that, the part of each guaranteed volume that it has
 * not used yet is promised already:
 *
 *     available = free on disk - sum over volumes with guarantee `volume` of (size - used)
 */
import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Cluster } from '../../core/cluster.ts'
import { textAt, type Row } from '../../model/value.ts'
import type { VolumeCounters } from '../../ports/catalog.ts'

export interface AggregateSpace {
  readonly sizeBytes: number
  readonly availableBytes: number
  /** Used by volumes, or promised to them. */
  readonly footprintBytes: number
  readonly provisionedBytes: number
  readonly volumes: number
}

export async function spaceOf(cluster: Cluster, aggregate: string): Promise<AggregateSpace> {
  const own = await volumesIn(cluster, aggregate)
  const [disk, counters] = await Promise.all([diskOf(cluster, aggregate), countersOf(cluster, own)])
  let footprint = 0
  let provisioned = 0
  for (const volume of own) {
    const used = counters.get(textAt(volume, 'uuid'))?.usedBytes ?? 0
    footprint += footprintOf(volume, used)
    provisioned += Number(volume['size'])
  }
  return {
    sizeBytes: disk.usedBytes + disk.availableBytes,
    availableBytes: Math.max(0, disk.availableBytes - promised(own, counters)),
    footprintBytes: footprint,
    provisionedBytes: provisioned,
    volumes: own.length,
  }
}

/** What an aggregate has to give: the one figure that every reading of a volume needs. */
export async function availableIn(cluster: Cluster, aggregate: string): Promise<number> {
  const guaranteed = (await volumesIn(cluster, aggregate)).filter(isGuaranteed)
  const [disk, counters] = await Promise.all([diskOf(cluster, aggregate), countersOf(cluster, guaranteed)])
  return Math.max(0, disk.availableBytes - promised(guaranteed, counters))
}

export function isGuaranteed(volume: Row): boolean {
  return volume['guarantee.type'] === 'volume'
}

/** Bytes that a volume takes from its aggregate: what it uses, or all of its size where that is guaranteed. */
export function footprintOf(volume: Row, usedBytes: number): number {
  return isGuaranteed(volume) ? Math.max(Number(volume['size']), usedBytes) : usedBytes
}

/** Reading the counters of so many volumes one by one costs about as much as reading those of all. */
const ONE_BY_ONE_MAX = 64

export async function countersOf(
  cluster: Cluster,
  volumes: readonly Row[],
): Promise<ReadonlyMap<string, VolumeCounters>> {
  if (volumes.length > ONE_BY_ONE_MAX) return cluster.catalog.volumes()
  const counters = new Map<string, VolumeCounters>()
  for (const volume of volumes) {
    const uuid = textAt(volume, 'uuid')
    const found = await cluster.catalog.volume(uuid)
    if (found !== undefined) counters.set(uuid, found)
  }
  return counters
}

async function volumesIn(cluster: Cluster, aggregate: string): Promise<Row[]> {
  return (await cluster.rows('storage/volumes')).filter((volume) => aggregateOf(volume) === aggregate)
}

async function diskOf(cluster: Cluster, aggregate: string) {
  return (await cluster.volumesOf(aggregate)).space()
}

function promised(volumes: readonly Row[], counters: ReadonlyMap<string, VolumeCounters>): number {
  let sum = 0
  for (const volume of volumes) {
    const used = counters.get(textAt(volume, 'uuid'))?.usedBytes ?? 0
    sum += footprintOf(volume, used) - used
  }
  return sum
}
