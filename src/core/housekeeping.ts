/**
 * What runs beside requests: giving back the space of dropped snapshots, unlinking blobs that nothing needs, removing
 * old job records. All of it may stop at any point and be repeated.
 */
import { type Row, textAt } from '../model/value.ts'
import { CommitRefused } from '../ports/catalog.ts'
import { aggregateOf } from './aggregate-of.ts'
import type { Cluster } from './cluster.ts'
import { describe, type Jobs } from './jobs.ts'

export const TIDY_EVERY_MS = 1000
const PRUNE_EVERY_MS = 60_000
/** Rows or blobs let go in one commit: few enough that writers beside it hardly wait. */
const BATCH = 500
/** Blobs of one volume that are kept for readers; with more, the space of others waits until some have ended. */
const KEPT_MAX = 100_000
/** Held while blobs of a volume are unlinked, and while another file takes the place of one of them. */
export const blobsLock = (volume: string): string => `blobs:${volume}`

/** Batches for one volume in one round, so that one large deletion does not hold up the others. */
const BATCHES_A_ROUND = 20

/** Those of the blobs that are still being sent to somebody. Their files stay until they are not. */
export type StillReading = (blobs: readonly string[]) => Promise<ReadonlySet<string>>

export class Housekeeping {
  readonly #cluster: Cluster
  readonly #jobs: Jobs
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()
  readonly #stillReading: StillReading
  #prunedMs = 0
  /** The snapshots that each volume had when nothing was left to reclaim in it. Others mean that there may be. */
  readonly #settled = new Map<string, string>()

  constructor(cluster: Cluster, jobs: Jobs, stillReading: StillReading = () => Promise.resolve(new Set())) {
    this.#cluster = cluster
    this.#jobs = jobs
    this.#stillReading = stillReading
  }

  /** Begins. After an unclean stop, blobs made before the given time that no row knows are removed first. */
  start(after?: { readonly sweepBeforeMs: number }): void {
    this.#running = this.#sweepAfter(after?.sweepBeforeMs).then(() => this.#loop())
  }

  async #sweepAfter(madeBeforeMs: number | undefined): Promise<void> {
    if (madeBeforeMs === undefined) return
    try {
      const removed = await this.sweep(madeBeforeMs)
      this.#cluster.log.info('Removed what interrupted uploads left.', { blobs: removed })
    } catch (failure) {
      this.#cluster.log.warn('What interrupted uploads left was not all removed.', { cause: describe(failure) })
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #loop(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.round()
      } catch (failure) {
        this.#cluster.log.warn('Housekeeping was interrupted and will go on.', { cause: describe(failure) })
      }
      await this.#cluster.system.clock.sleep(TIDY_EVERY_MS, this.#stop.signal)
    }
  }

  /**
   * Removes blobs that no row knows: what an upload left that a crash interrupted. Blob ids begin with the time of their
   * making (12 hex digits of milliseconds), so those of uploads in progress are told from the rest by their name.
   */
  async sweep(madeBeforeMs: number): Promise<number> {
    const { catalog } = this.#cluster
    const limit = madeBeforeMs.toString(16).padStart(12, '0')
    let removed = 0
    for (const row of await this.#cluster.rows('storage/volumes')) {
      const volume = textAt(row, 'uuid')
      const engine = await this.#cluster.volumesOf(aggregateOf(row))
      let batch: string[] = []
      const settle = async () => {
        const known = await catalog.knownBlobs(volume, batch)
        for (const blob of batch.filter((each) => !known.has(each))) {
          await engine.unlink(volume, blob)
          removed++
        }
        batch = []
      }
      for await (const blob of engine.blobs(volume)) {
        if (this.#stop.signal.aborted) return removed
        if (blob < limit) batch.push(blob)
        if (batch.length >= BATCH) await settle()
      }
      await settle()
    }
    return removed
  }

  /** One round over all volumes. */
  async round(): Promise<void> {
    const volumes = await this.#cluster.rows('storage/volumes')
    for (const volume of volumes) {
      if (this.#stop.signal.aborted) return
      try {
        await this.#tidy(volume)
      } catch (failure) {
        // The others are not to wait for a volume whose disk fails.
        this.#cluster.log.warn('A volume could not be tidied. It is tried again.', {
          volume: textAt(volume, 'uuid'),
          cause: describe(failure),
        })
      }
    }
    this.#forgetAllBut(new Set(volumes.map((volume) => textAt(volume, 'uuid'))))
    const now = this.#cluster.now()
    if (now - this.#prunedMs > PRUNE_EVERY_MS) {
      this.#prunedMs = now
      await this.#jobs.prune()
    }
  }

  async #tidy(row: Row): Promise<void> {
    const volume = textAt(row, 'uuid')
    const { catalog } = this.#cluster
    try {
      await this.#reclaim(volume)
      for (let batch = 0, keptBlobs = 0; batch < BATCHES_A_ROUND; batch++) {
        // Those that are kept come first again.
        const unneeded = await catalog.unneededBlobs(volume, keptBlobs + BATCH)
        const read = unneeded.length === 0 ? new Set() : await this.#stillReading(unneeded)
        const blobs = unneeded.filter((blob) => !read.has(blob))
        if (unneeded.length === keptBlobs || keptBlobs > KEPT_MAX) break
        keptBlobs = unneeded.length - blobs.length
        const engine = await this.#cluster.volumesOf(aggregateOf(row))
        await this.#cluster.locks.with([blobsLock(volume)], async () => {
          for (const blob of blobs) await engine.unlink(volume, blob)
        })
        if (blobs.length > 0) await catalog.commit([{ do: 'drop-blobs', volume, blobs }])
      }
    } catch (failure) {
      // The volume was deleted meanwhile, and everything of it with it.
      if (failure instanceof CommitRefused && failure.reason === 'missing') return
      throw failure
    }
  }

  /** Only where a snapshot went since the last time: a volume in which nothing happens costs reads alone. */
  async #reclaim(volume: string): Promise<void> {
    const { catalog } = this.#cluster
    const snapshots = (await catalog.snapshots(volume)).map(({ epoch }) => epoch).join()
    if (this.#settled.get(volume) === snapshots) return
    for (let batch = 0; batch < BATCHES_A_ROUND; batch++) {
      const [outcome] = await catalog.commit([{ do: 'reclaim', volume, limit: BATCH }])
      if ((outcome?.reclaimed ?? 0) < BATCH) {
        this.#settled.set(volume, snapshots)
        return
      }
    }
  }

  #forgetAllBut(volumes: ReadonlySet<string>): void {
    for (const volume of this.#settled.keys()) if (!volumes.has(volume)) this.#settled.delete(volume)
  }
}
