/**
 * What an aggregate has to give. The disk tells what is free; of that, the part of each guaranteed volume that it has
 * not used yet is promised already:
 *
 *     available = free on disk - sum over volumes with guarantee `volume` of (size - used, without what it shares)
 *
 * The sum is kept by the catalog, in the commit of whatever changes it. It goes over the volumes of all aggregates that
 * lie on that disk: they share its bytes, so what one of them has promised is not there for the others. Promises
 * are made under one lock for the same reason.
 *
 * A volume that is being moved to the disk has been promised what is not copied yet, and from another disk its guarantee.
 * The promise where it was ends with the switch, in the same commit.
 */
import type { Ground } from '../../../core/grounds.ts'
import { PROMISES } from '../../../ports/catalog.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { beforeOf, nextOf } from '../../../storage/tree-of.ts'
import { inTurns } from '../../../core/time/turns.ts'
import type { Change, VolumeCounters } from '../../../ports/catalog.ts'
import { type DiskSpace, VolumesFailure } from '../../../ports/volumes.ts'
import { RECOVERY_QUEUE } from '../volumes/recovery-queue.ts'
import { MOVES } from '../volumes/movement.ts'
import type { Volume } from '../../../records/rows.ts'

/** Held from a look at what aggregates and disks have until the commit that rests on it. */
export const AGGREGATES_LOCK: Ground = { lock: 'aggregates', types: [PROMISES, MOVES] }

/** Held from a look at the volumes of an SVM, their paths and the sum of their sizes, until the commit that rests on it. */
export const volumesOfSvm = (svm: string): Ground => ({
  lock: `volumes:${svm}`,
  types: ['storage/volumes'],
  parent: svm,
})

export interface AggregateSpace {
  /** False when the folder is not there: a disk that is not mounted. It has nothing to give then. */
  readonly isThere: boolean
  readonly sizeBytes: number
  readonly availableBytes: number
  /** Used by volumes, deleted ones in the recovery queue included, or promised to them. */
  readonly footprintBytes: number
  /** The part of these that holds something already. */
  readonly storedBytes: number
  readonly provisionedBytes: number
  readonly volumes: number
  /** Files of the disk, whoever has them; 0 where it has no limit of them. */
  readonly filesMax: number
  readonly filesUsed: number
}

/**
 * What readings of several aggregates have in common, because these share disks. Good for one reading, or for several
 * that show what `disksSeenLately` gives.
 */
export class DisksSeen {
  readonly #cluster: Cluster
  #spaces: Promise<ReadonlyMap<string, DiskSpace | undefined>> | undefined
  #queued: Promise<ReadonlyMap<string, number>> | undefined
  readonly #promised = new Map<string, Promise<number>>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** What the disk of an aggregate has; nothing when its folder is not there. */
  async diskOf(aggregate: string): Promise<DiskSpace | undefined> {
    const spaces = await (this.#spaces ??= this.#lookAtAll())
    return spaces.has(aggregate) ? spaces.get(aggregate) : diskOf(this.#cluster, aggregate)
  }

  /** What the aggregates on a disk have promised of it, and what moves are still to bring there. */
  promisedOn(disk: string): Promise<number> {
    const known = this.#promised.get(disk)
    if (known !== undefined) return known
    const sum = this.#sumPromised(disk)
    this.#promised.set(disk, sum)
    return sum
  }

  /** What volumes of the recovery queue hold in an aggregate. */
  async queuedIn(aggregate: string): Promise<number> {
    this.#queued ??= queuedByAggregate(this.#cluster)
    return (await this.#queued).get(aggregate) ?? 0
  }

  async #lookAtAll(): Promise<ReadonlyMap<string, DiskSpace | undefined>> {
    const cluster = this.#cluster
    const spaces = new Map<string, DiskSpace | undefined>()
    for await (const rows of inTurns(cluster.system, await cluster.rows('storage/aggregates'))) {
      const uuids = rows.map((row) => row['uuid'])
      const found = await Promise.all(uuids.map((uuid) => diskOf(cluster, uuid)))
      for (const [at, uuid] of uuids.entries()) spaces.set(uuid, found[at])
    }
    return spaces
  }

  async #sumPromised(disk: string): Promise<number> {
    const cluster = this.#cluster
    const spaces = await (this.#spaces ??= this.#lookAtAll())
    const uuids = [...spaces].filter(([, space]) => space?.disk === disk).map(([uuid]) => uuid)
    let sum = 0
    for await (const some of inTurns(cluster.system, uuids)) {
      for (const uuid of some) sum += (await cluster.catalog.aggregate(uuid)).promisedBytes
    }
    return sum + (await owedByMoves(cluster, new Set(uuids)))
  }
}

/** How old a look at the disks may be for readings. Whoever promises space looks anew. */
const LOOK_MS = 100

interface LastLook {
  readonly seen: DisksSeen
  readonly untilMs: number
  readonly changesMade: number
}

const lastLooks = new WeakMap<Cluster, LastLook>()

/**
 * The disks as readings show them. A look costs more than all else that a reading does, so those that follow one another
 * share it for a moment: until anything is committed here, as a client sees what it wrote, and never for longer.
 */
export async function disksSeenLately(cluster: Cluster): Promise<DisksSeen> {
  const changesMade = await cluster.catalog.changesMade()
  const nowMs = cluster.system.clock.elapsed()
  const last = lastLooks.get(cluster)
  if (last?.changesMade === changesMade && nowMs < last.untilMs) return last.seen
  const seen = new DisksSeen(cluster)
  lastLooks.set(cluster, { seen, changesMade, untilMs: nowMs + LOOK_MS })
  return seen
}

export async function spaceOf(
  cluster: Cluster,
  aggregate: string,
  seen: DisksSeen = new DisksSeen(cluster),
): Promise<AggregateSpace> {
  const [disk, sums, availableBytes, queued] = await Promise.all([
    seen.diskOf(aggregate),
    cluster.catalog.aggregate(aggregate),
    availableIn(cluster, aggregate, seen),
    seen.queuedIn(aggregate),
  ])
  return {
    isThere: disk !== undefined,
    sizeBytes: disk === undefined ? 0 : disk.usedBytes + disk.availableBytes,
    availableBytes,
    footprintBytes: sums.usedBytes + sums.promisedBytes + queued,
    storedBytes: sums.usedBytes + queued,
    provisionedBytes: sums.sizeBytes,
    volumes: sums.volumes,
    filesMax: disk?.filesMax ?? 0,
    filesUsed: disk?.filesUsed ?? 0,
  }
}

/** What an aggregate has to give: the one figure that every reading of a volume needs. */
export async function availableIn(cluster: Cluster, aggregate: string, seen?: DisksSeen): Promise<number> {
  return Math.max(0, await spareIn(cluster, aggregate, seen))
}

/** The same, below 0 where more is promised than there is: because others fill the disk, or volumes have grown. */
export async function spareIn(
  cluster: Cluster,
  aggregate: string,
  seen: DisksSeen = new DisksSeen(cluster),
): Promise<number> {
  const disk = await seen.diskOf(aggregate)
  if (disk === undefined || cluster.faults.isFull(aggregate)) return 0
  return disk.availableBytes - (await seen.promisedOn(disk.disk))
}

/** Bytes that a move from one aggregate to another needs there, when nothing is copied yet. */
export async function neededByMove(cluster: Cluster, volume: Volume, to: string): Promise<number> {
  const disk = await diskOf(cluster, to)
  const used = (await cluster.catalog.volume(volume['uuid']))?.usedBytes ?? 0
  const isSameDisk = disk !== undefined && (await aggregatesOn(cluster, disk.disk)).has(aggregateOf(volume))
  return isSameDisk ? used : footprintOf(volume, used)
}

/** What the disk of these aggregates is still to take of volumes that are moved to it. */
async function owedByMoves(cluster: Cluster, aggregates: ReadonlySet<string>): Promise<number> {
  let owed = 0
  for (const move of await cluster.rows(MOVES)) {
    const uuid = move['volume']
    const volume = await cluster.find('storage/volumes', uuid)
    if (volume === undefined) continue
    const next = nextOf(volume)
    if (next !== undefined && aggregates.has(next.aggregate)) {
      const used = (await cluster.catalog.volume(uuid))?.usedBytes ?? 0
      const needed = aggregates.has(aggregateOf(volume)) ? used : footprintOf(volume, used)
      owed += Math.max(0, needed - move.copied)
    }
    if (beforeOf(volume) !== undefined && aggregates.has(aggregateOf(volume))) owed += move.owed ?? 0
  }
  return owed
}

/** The change that says where a volume lies, and whether its size is promised to it. To be in the commit of its record. */
export function placed(volume: Volume): Change {
  return {
    do: 'place-volume',
    volume: volume['uuid'],
    aggregate: aggregateOf(volume),
    isGuaranteed: isGuaranteed(volume),
  }
}

export function isGuaranteed(volume: Volume): boolean {
  return volume['guarantee.type'] === 'volume'
}

/** Bytes that a volume uses and that count with no other: a clone has the rest from its parent. */
export function ownedBytes(counters: VolumeCounters | undefined): number {
  return counters === undefined ? 0 : counters.usedBytes - counters.inheritedBytes
}

/**
 * Bytes that a volume takes from its aggregate: what it uses, or all of its size where that is guaranteed. A guaranteed
 * clone may write its whole size beside what it shares: to replace that frees nothing while its parent needs it.
 */
export function footprintOf(volume: Volume, owned: number): number {
  return isGuaranteed(volume) ? Math.max(volume['size'], owned) : owned
}

/** Bytes that volumes of the recovery queue hold in an aggregate. Their guarantees are given up. */
export async function queuedBytes(cluster: Cluster, aggregate: string): Promise<number> {
  return (await queuedByAggregate(cluster)).get(aggregate) ?? 0
}

async function queuedByAggregate(cluster: Cluster): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>()
  for await (const volumes of inTurns(cluster.system, await cluster.rows(RECOVERY_QUEUE))) {
    for (const volume of volumes) {
      const held = ownedBytes(await cluster.catalog.volume(volume['uuid']))
      sums.set(aggregateOf(volume), (sums.get(aggregateOf(volume)) ?? 0) + held)
    }
  }
  return sums
}

async function aggregatesOn(cluster: Cluster, disk: string): Promise<ReadonlySet<string>> {
  const uuids = (await cluster.rows('storage/aggregates')).map((row) => row['uuid'])
  if (uuids.length === 1) return new Set(uuids)
  const disks = await Promise.all(uuids.map((uuid) => diskOf(cluster, uuid)))
  return new Set(uuids.filter((_, at) => disks[at]?.disk === disk))
}

/** What the disk of an aggregate has; nothing when its folder is not there. */
export async function diskOf(cluster: Cluster, aggregate: string): Promise<DiskSpace | undefined> {
  try {
    return await (await cluster.volumesOf(aggregate)).space()
  } catch (failure) {
    if (failure instanceof VolumesFailure) return undefined
    throw failure
  }
}
