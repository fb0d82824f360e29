/**
 * What an aggregate has to give. The disk tells what is free; of that, the part of each guaranteed volume that it has
 * not used yet is promised already:
 *
 *     available = free on disk - sum over volumes with guarantee `volume` of (size - used)
 *
 * The sum goes over the volumes of all aggregates that lie on that disk: they share its bytes, so what one of them has
 * promised is not there for the others. Promises are made under one lock for the same reason.
 */
import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Cluster } from '../../core/cluster.ts'
import { textAt, type Row } from '../../model/value.ts'
import type { VolumeCounters } from '../../ports/catalog.ts'
import { type DiskSpace, VolumesFailure } from '../../ports/volumes.ts'

/** Held from a look at what aggregates and disks have until the commit that rests on it. */
export const AGGREGATES_LOCK = 'aggregates'

export interface AggregateSpace {
  /** False when the folder is not there: a disk that is not mounted. It has nothing to give then. */
  readonly isThere: boolean
  readonly sizeBytes: number
  readonly availableBytes: number
  /** Used by volumes, or promised to them. */
  readonly footprintBytes: number
  readonly provisionedBytes: number
  /** What its volumes hold, as clients and snapshots see it, and what that takes. */
  readonly wholeBytes: number
  readonly usedBytes: number
  readonly volumes: number
}

export async function spaceOf(cluster: Cluster, aggregate: string): Promise<AggregateSpace> {
  const own = await volumesIn(cluster, new Set([aggregate]))
  const [disk, counters, availableBytes] = await Promise.all([
    diskOf(cluster, aggregate),
    countersOf(cluster, own),
    availableIn(cluster, aggregate),
  ])
  let footprint = 0
  let provisioned = 0
  let wholeBytes = 0
  let usedBytes = 0
  for (const volume of own) {
    const counter = counters.get(textAt(volume, 'uuid'))
    const used = counter?.usedBytes ?? 0
    usedBytes += used
    wholeBytes += used + (counter?.savedByCompressionBytes ?? 0) + (counter?.savedByDedupeBytes ?? 0)
    footprint += footprintOf(volume, used)
    provisioned += Number(volume['size'])
  }
  return {
    isThere: disk !== undefined,
    sizeBytes: disk === undefined ? 0 : disk.usedBytes + disk.availableBytes,
    availableBytes,
    footprintBytes: footprint,
    provisionedBytes: provisioned,
    wholeBytes,
    usedBytes,
    volumes: own.length,
  }
}

/** What an aggregate has to give: the one figure that every reading of a volume needs. */
export async function availableIn(cluster: Cluster, aggregate: string): Promise<number> {
  const disk = await diskOf(cluster, aggregate)
  if (disk === undefined) return 0
  const guaranteed = (await volumesIn(cluster, await aggregatesOn(cluster, disk.disk))).filter(isGuaranteed)
  const counters = await countersOf(cluster, guaranteed)
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

async function volumesIn(cluster: Cluster, aggregates: ReadonlySet<string>): Promise<Row[]> {
  return (await cluster.rows('storage/volumes')).filter((volume) => aggregates.has(aggregateOf(volume)))
}

async function aggregatesOn(cluster: Cluster, disk: string): Promise<ReadonlySet<string>> {
  const uuids = (await cluster.rows('storage/aggregates')).map((row) => textAt(row, 'uuid'))
  if (uuids.length === 1) return new Set(uuids)
  const disks = await Promise.all(uuids.map((uuid) => diskOf(cluster, uuid)))
  return new Set(uuids.filter((_, at) => disks[at]?.disk === disk))
}

/** What the disk of an aggregate has; nothing when its folder is not there. */
async function diskOf(cluster: Cluster, aggregate: string): Promise<DiskSpace | undefined> {
  try {
    return await (await cluster.volumesOf(aggregate)).space()
  } catch (failure) {
    if (failure instanceof VolumesFailure) return undefined
    throw failure
  }
}

function promised(volumes: readonly Row[], counters: ReadonlyMap<string, VolumeCounters>): number {
  let sum = 0
  for (const volume of volumes) {
    const used = counters.get(textAt(volume, 'uuid'))?.usedBytes ?? 0
    sum += footprintOf(volume, used) - used
  }
  return sum
}
