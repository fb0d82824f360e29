/**
 * Lets volumes of the recovery queue go for good: when their time is over, when there are too many of them, and when a
 * disk runs short. Then the oldest go first, and an event tells of each. So deleting is never what fills a disk.
 *
 * It asks what is owed, as schedules do: downtime and a clock that was put forward count as time that has passed. A clock
 * that went back by much was wrong when the volume was deleted: its time begins anew.
 */
import { alone } from '../core/grounds.ts'
import { aggregateOf } from '../storage/aggregate-of.ts'
import type { Cluster } from '../core/cluster.ts'
import { REMOVED_TREES } from '../storage/removed-trees.ts'
import { Watch } from '../core/tasks/watch.ts'
import { doneUntil } from '../core/time/schedule.ts'
import { Failure } from '../model/failure.ts'
import type { QueuedVolume } from '../records/rows.ts'
import { availableIn, DisksSeen } from '../resources/storage/aggregates/space.ts'
import { purgeVolume, RECOVERY_QUEUE, type PurgeReason } from '../resources/storage/volumes/recovery-queue.ts'

const LOOK_EVERY_MS = 1000
const HOUR_MS = 3_600_000
/** More volumes are not kept; the oldest go first. */
export const QUEUED_MAX = 1000
/** While less than this is left of a disk, volumes of the queue make room: a tenth of it, at most so many bytes. */
const SPARE_PERCENT = 10
export const SPARE_BYTES_MAX = 64 * 2 ** 30

export class RecoveryQueueWatch extends Watch {
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    super(cluster, {
      name: 'recovery-queue',
      doc: 'Purges deleted volumes from the recovery queue when their retention has ended or the space is needed.',
      bound: `Reads the recovery queue, which holds at most ${QUEUED_MAX} volumes after each run.`,
      scope: 'cluster',
      everyMs: LOOK_EVERY_MS,
      failed: 'The recovery queue could not be checked. It is retried.',
    })
    this.#cluster = cluster
  }

  /** One look at all volumes of the queue. */
  async look(): Promise<void> {
    for (const row of await this.#cluster.rows(RECOVERY_QUEUE)) {
      const nowMs = this.#cluster.now()
      const sinceMs = deletedAt(row)
      if (doneUntil(sinceMs, nowMs) !== sinceMs) await this.#beginAnew(row, nowMs)
      else if (nowMs - sinceMs >= row['retention_hours'] * HOUR_MS) await this.#purge(row, 'expired')
    }
    const left = (await this.#cluster.rows(RECOVERY_QUEUE)).toSorted((a, b) => deletedAt(a) - deletedAt(b))
    const tooMany = Math.max(0, left.length - QUEUED_MAX)
    for (const row of left.slice(0, tooMany)) await this.#purge(row, 'number')
    for (const row of await this.#inTheWay(left.slice(tooMany))) await this.#purge(row, 'space')
  }

  async #purge(row: QueuedVolume, reason: PurgeReason): Promise<void> {
    const key = row['uuid']
    if (this.isStopping) return
    try {
      await alone(this.#cluster, [`volume:${key}`], (cluster) => purgeVolume(cluster, key, reason))
    } catch (failure) {
      // The clock went back, and a snapshot has not expired any more; or somebody recovers it. The next look finds out.
      if (!(failure instanceof Failure && failure.kind === 'conflict')) throw failure
    }
  }

  async #beginAnew(row: QueuedVolume, nowMs: number): Promise<void> {
    const cluster = this.#cluster
    const key = row['uuid']
    await alone(cluster, [`volume:${key}`], async (cluster) => {
      const record = await cluster.record(RECOVERY_QUEUE, key)
      if (record === undefined) return
      const queued = { ...record.body, deletion_request_time: nowMs }
      await cluster.commit([cluster.put(RECOVERY_QUEUE, queued, { expect: record.revision })])
    })
  }

  /** Of the volumes, oldest first, those that have to go for their disks to have some room. */
  async #inTheWay(rows: readonly QueuedVolume[]): Promise<QueuedVolume[]> {
    if (rows.length === 0) return []
    const [disks, counters, owed] = await Promise.all([
      this.#disks(),
      this.#cluster.volumeSums.all(),
      this.#cluster.records(REMOVED_TREES),
    ])
    // What is being removed will be free.
    for (const { body } of owed) {
      const disk = disks.get(body.aggregate)
      if (disk !== undefined) disk.shortBytes -= body.bytes
    }
    return rows.filter((row) => {
      const disk = disks.get(aggregateOf(row))
      const heldBytes = counters.get(row['uuid'])?.usedBytes ?? 0
      if (heldBytes === 0 || disk === undefined || disk.shortBytes <= 0) return false
      disk.shortBytes -= heldBytes
      return true
    })
  }

  /** For each aggregate that is there, how many bytes its disk has less than it should. Those on one disk share it. */
  async #disks(): Promise<Map<string, { shortBytes: number }>> {
    const byDisk = new Map<string, { shortBytes: number }>()
    const byAggregate = new Map<string, { shortBytes: number }>()
    const seen = new DisksSeen(this.#cluster)
    for (const row of await this.#cluster.rows('storage/aggregates')) {
      const aggregate = row['uuid']
      const space = await seen.diskOf(aggregate)
      if (space === undefined) continue
      const tenth = ((space.usedBytes + space.availableBytes) * SPARE_PERCENT) / 100
      const disk = byDisk.get(space.disk) ?? {
        shortBytes: Math.min(tenth, SPARE_BYTES_MAX) - (await availableIn(this.#cluster, aggregate, seen)),
      }
      byDisk.set(space.disk, disk)
      byAggregate.set(aggregate, disk)
    }
    return byAggregate
  }
}

function deletedAt(row: QueuedVolume): number {
  return row['deletion_request_time']
}
