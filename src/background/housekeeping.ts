/**
 * What runs beside requests: giving back the space of dropped snapshots, unlinking blobs that nothing needs, removing
 * trees of volumes that are gone and old job records, taking up jobs that could not go on. All of it may stop at any point and be repeated.
 */
import { SCRUB_SCHEDULE, SET_ASIDE_HOURS } from '../records/set-aside.ts'
import { blobsLock } from '../storage/blobs-lock.ts'
import type { StoredVolume } from '../records/rows.ts'
import { CommitRefused, type StoredRecord } from '../ports/catalog.ts'
import { VolumesFailure } from '../ports/volumes.ts'
import type { Task } from '../core/tasks/background.ts'
import type { Cluster } from '../core/cluster.ts'
import { describe } from '../core/describe.ts'
import type { Jobs } from '../core/jobs/jobs.ts'
import type { TellPackDamage } from '../storage/pack-damage.ts'
import { PACK_BYTES_A_SECOND, PackKeeping } from './pack-keeping.ts'
import { settingsOf } from '../core/singleton.ts'
import { removeOwedTrees } from '../storage/removed-trees.ts'
import { beforeOf, nextOf, placeOf, type TreePlace } from '../storage/tree-of.ts'
import { UncleanSweep, type UncleanStop } from './unclean-sweep.ts'

export const TIDY_EVERY_MS = 1000
const PRUNE_EVERY_MS = 60_000
/** Rows or blobs let go in one commit: few enough that writers beside it hardly wait. */
const BATCH = 500
/** To mark a small blob takes a call of another thread, and as long again where that has to be woken for each. */
const UNLINKED_AT_ONCE = 64
/** Blobs of one volume that are kept for readers; with more, the space of others waits until some have ended. */
const KEPT_MAX = 100_000
/** Batches for one volume in one round, so that one large deletion does not hold up the others. */
const BATCHES_A_ROUND = 20

const HOUR_MS = 3_600_000
const EMPTY_EVERY_MS = HOUR_MS

/** Volumes, and those that were deleted and can be had back. */
const VOLUMES = ['storage/volumes', 'private/cli/volume/recovery-queue'] as const

/** Those of the blobs that are still being sent to somebody. Their files stay until they are not. */
export type StillReading = (blobs: readonly string[]) => Promise<ReadonlySet<string>>

/** Without them nobody reads beside this process, and packs are kept as they are by default. */
export interface HousekeepingParts {
  readonly stillReading?: StillReading
  /** See `CompactManner`. */
  readonly packDeadShare?: number
  /** Damage that was met where the space of small blobs is given back. Without it, it is kept without names of objects. */
  readonly onPackDamage?: TellPackDamage
}

/** The task that a stop does not wait for. */
const TREE_REMOVAL = 'tree-removal'

export class Housekeeping {
  readonly #cluster: Cluster
  readonly #jobs: Jobs
  readonly #stop = new AbortController()
  readonly #tasks: readonly Task[]
  readonly #sweep: UncleanSweep
  readonly #stillReading: StillReading
  readonly #packs: PackKeeping
  #prunedMs = 0
  #emptiedMs = 0
  /** Aggregates whose trees could not be removed at the last look: each is told of once. */
  #failed: ReadonlySet<string> = new Set()

  constructor(cluster: Cluster, jobs: Jobs, parts: HousekeepingParts = {}) {
    this.#cluster = cluster
    this.#jobs = jobs
    this.#stillReading = parts.stillReading ?? (() => Promise.resolve(new Set()))
    this.#packs = new PackKeeping(cluster, this.#stop.signal, {
      ...(parts.packDeadShare === undefined ? {} : { deadShare: parts.packDeadShare }),
      ...(parts.onPackDamage === undefined ? {} : { tellDamage: parts.onPackDamage }),
    })
    this.#tasks = this.#declare(cluster)
    this.#sweep = new UncleanSweep(cluster, this.#stop.signal)
  }

  /** Beside each other: nothing waits for a tree of millions of files, nor for what goes slowly on purpose. */
  #declare({ background }: Cluster): readonly Task[] {
    const common = { everyMs: TIDY_EVERY_MS, failed: 'Housekeeping was interrupted. It is retried.' }
    return [
      background.task({
        ...common,
        name: TREE_REMOVAL,
        doc: 'Removes the files of deleted volumes.',
        bound: 'Unlinks the files of one volume at a time.',
        scope: 'cluster',
        act: (task) => this.removeTrees(task.stopping),
      }),
      background.task({
        ...common,
        name: 'housekeeping',
        doc: 'Frees the space of deleted snapshots and objects, and removes old jobs.',
        bound: `Frees at most ${BATCH * BATCHES_A_ROUND} objects per volume in a run, ${BATCH} in a commit.`,
        scope: 'cluster',
        act: async (task) => {
          task.says('Freeing space.')
          await this.round(task.stopping)
        },
      }),
      background.task({
        ...common,
        name: 'pack-compaction',
        doc: 'Frees the space that deleted small objects occupy in packs.',
        bound: `Reads and writes at most ${PACK_BYTES_A_SECOND / 2 ** 20} MiB per second.`,
        // No two processes may compact one pack, and the nodes of a cluster may share the disks.
        scope: 'cluster',
        act: () => this.compactPacks(),
      }),
      background.task({
        ...common,
        everyMs: PRUNE_EVERY_MS,
        name: 'job-resumption',
        doc: 'Resumes jobs that could not go on.',
        bound: 'Looks at the records of active jobs.',
        // Each takes up its own, whichever node does the housekeeping.
        scope: 'node',
        act: () => this.#jobs.resume(),
      }),
    ]
  }

  /** Begins. After an unclean stop, blobs made before the given time that no row knows are set aside. */
  start(after?: UncleanStop): void {
    this.#sweep.start(after)
    for (const task of this.#tasks) task.start()
  }

  /** Something was unlinked by an engine of this process. */
  notePacks(place: TreePlace): void {
    this.#packs.note(place)
  }

  /** Another process unlinked these blobs of a tree, which nobody needed. */
  async noteUnlinked(place: TreePlace, blobs: readonly string[]): Promise<void> {
    try {
      const engine = await this.#cluster.volumesOf(place.aggregate)
      engine.noteUnlinked(place.tree, blobs)
      this.#packs.note(place)
    } catch (failure) {
      // The aggregate went meanwhile, or the next start finds them.
      this.#cluster.log.warn('Space of small objects is reclaimed after the next restart.', {
        ...place,
        cause: describe(failure),
      })
    }
  }

  /** Gives the space of small blobs back that were unlinked; the first time, that of earlier runs too. */
  async compactPacks(): Promise<void> {
    await this.#packs.round(async () => (await this.#volumes()).map(placeOf))
  }

  /** Does not wait for trees that are being removed: what is left of them is removed after the next start. */
  async stop(): Promise<void> {
    this.#stop.abort()
    const stopped = [...this.#tasks, this.#sweep.task].map((task) => ({ task, ended: task.stop() }))
    await Promise.all(stopped.flatMap(({ task, ended }) => (task.declared.name === TREE_REMOVAL ? [] : [ended])))
  }

  /** Sets blobs aside that no row knows and that were made in that time. Gives their number. */
  sweep(madeBeforeMs: number, isProven = false, madeFromMs = 0): Promise<number> {
    return this.#sweep.sweep(madeBeforeMs, isProven, madeFromMs)
  }

  async #emptyLostAndFound(): Promise<void> {
    const { lost_and_found_retention: hours = SET_ASIDE_HOURS } = await settingsOf(this.#cluster, SCRUB_SCHEDULE)
    const beforeMs = this.#cluster.now() - hours * HOUR_MS
    for (const row of await this.#cluster.rows('storage/aggregates')) {
      try {
        const removed = await this.#cluster.engineOf(row).removeSetAside(beforeMs)
        if (removed > 0) this.#cluster.log.info('Blobs that had been set aside were removed.', { blobs: removed })
      } catch (failure) {
        if (!(failure instanceof VolumesFailure)) throw failure
      }
    }
  }

  /** Removes trees of volumes that are gone, where their disks let it. */
  async removeTrees(stopping = this.#stop.signal): Promise<void> {
    const failed = await removeOwedTrees(this.#cluster, stopping)
    for (const [aggregate, failure] of failed) {
      if (this.#failed.has(aggregate)) continue
      this.#cluster.log.warn('Deleted volumes could not be removed from an aggregate. The cluster retries it.', {
        aggregate,
        cause: describe(failure),
      })
    }
    this.#failed = new Set(failed.keys())
  }

  /** One round over the volumes in which there is something to do. */
  async round(stopping = this.#stop.signal): Promise<void> {
    for (const { volume, mayReclaim } of await this.#cluster.catalog.untidyVolumes()) {
      if (stopping.aborted) return
      try {
        await this.#tidy(volume, mayReclaim)
      } catch (failure) {
        // The others are not to wait for a volume whose disk fails.
        this.#cluster.log.warn('Housekeeping of a volume failed. The cluster retries it.', {
          volume,
          cause: describe(failure),
        })
      }
    }
    const now = this.#cluster.now()
    if (now - this.#prunedMs > PRUNE_EVERY_MS) {
      this.#prunedMs = now
      await this.#jobs.prune()
    }
    if (now - this.#emptiedMs > EMPTY_EVERY_MS) {
      this.#emptiedMs = now
      await this.#emptyLostAndFound()
    }
  }

  async #tidy(volume: string, mayReclaim: boolean): Promise<void> {
    const { catalog } = this.#cluster
    const row = await this.#find(volume)
    if (row === undefined) return
    try {
      if (mayReclaim) await this.#reclaim(volume)
      for (let batch = 0, keptBlobs = 0; batch < BATCHES_A_ROUND; batch++) {
        // Those that are kept come first again.
        const unneeded = await catalog.unneededBlobs(volume, keptBlobs + BATCH)
        const read = unneeded.length === 0 ? new Set() : await this.#stillReading(unneeded)
        const blobs = unneeded.filter((blob) => !read.has(blob))
        if (unneeded.length === keptBlobs || keptBlobs > KEPT_MAX) break
        keptBlobs = unneeded.length - blobs.length
        if (blobs.length > 0 && !(await this.#remove(volume, blobs))) break
      }
    } catch (failure) {
      // The volume was deleted meanwhile, and everything of it with it.
      if (failure instanceof CommitRefused && failure.reason === 'missing') return
      throw failure
    }
  }

  /** False while the volume's blobs are between two places: whoever moves it must meet them as they are. */
  async #remove(volume: string, blobs: readonly string[]): Promise<boolean> {
    const { catalog, locks } = this.#cluster
    const lock = blobsLock(volume)
    if (locks.isHeld(lock)) return false
    return locks.with([lock], async () => {
      const record = await this.#recordOf(volume)
      if (record === undefined || beforeOf(record.body) !== undefined) return false
      const row = record.body
      // What was copied for a move to begin with is not to wait there for its end.
      const next = nextOf(row)
      if (next !== undefined) await this.#unlinkAt(next, blobs).catch(() => undefined)
      const givenUp = new Set(await catalog.givenUpBlobs(volume, KEPT_MAX))
      await this.#setAside(
        placeOf(row),
        blobs.filter((blob) => givenUp.has(blob)),
      )
      await this.#unlinkAt(
        placeOf(row),
        blobs.filter((blob) => !givenUp.has(blob)),
      )
      try {
        // Where the volume has another place now, their copies have to go from there.
        await catalog.commit([
          { do: 'check-record', type: record.type, key: volume, expect: record.revision },
          { do: 'drop-blobs', volume, blobs },
        ])
        return true
      } catch (failure) {
        if (failure instanceof CommitRefused && failure.reason === 'stale') return false
        throw failure
      }
    })
  }

  /** What a scrub found. It may be all that is left of an object whose row was lost, so it is kept. */
  async #setAside({ aggregate, tree }: TreePlace, blobs: readonly string[]): Promise<void> {
    if (blobs.length === 0) return
    const engine = await this.#cluster.volumesOf(aggregate)
    for (const blob of blobs) {
      await engine.setAside(tree, blob, { nowMs: this.#cluster.now(), isUnacknowledged: false })
    }
  }

  async #unlinkAt({ aggregate, tree }: TreePlace, blobs: readonly string[]): Promise<void> {
    const engine = await this.#cluster.volumesOf(aggregate)
    // Those that lie together are unlinked together where they are asked for together.
    for (let at = 0; at < blobs.length; at += UNLINKED_AT_ONCE) {
      const some = blobs.slice(at, at + UNLINKED_AT_ONCE)
      const settled = await Promise.allSettled(some.map((blob) => engine.unlink(tree, blob)))
      const failed = settled.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
    this.#packs.note({ aggregate, tree })
  }

  async #reclaim(volume: string): Promise<void> {
    for (let batch = 0; batch < BATCHES_A_ROUND; batch++) {
      const [outcome] = await this.#cluster.catalog.commit([{ do: 'reclaim', volume, limit: BATCH }])
      if (outcome?.next === undefined) return
    }
  }

  async #volumes(): Promise<StoredVolume[]> {
    return (await Promise.all(VOLUMES.map((type) => this.#cluster.rows(type)))).flat()
  }

  /** As it is in the catalog. */
  async #recordOf(volume: string): Promise<StoredRecord<StoredVolume> | undefined> {
    for (const type of VOLUMES) {
      const record = await this.#cluster.record(type, volume)
      if (record !== undefined) return record
    }
    return undefined
  }

  async #find(volume: string): Promise<StoredVolume | undefined> {
    for (const type of VOLUMES) {
      const row = await this.#cluster.find(type, volume)
      if (row !== undefined) return row
    }
    return undefined
  }
}
