/**
 * Looks for blobs that no row knows, after an unclean stop: what uploads left that were interrupted, or all that is left of
 * an object whose row was lost. They are set aside. Everything is looked at, so it is done slowly beside clients; what is
 * left to do is a record, so that an orderly stop meanwhile does not end it.
 */
import { RESTORED } from '../records/restored.ts'
import type { StoredVolume } from '../records/rows.ts'
import { VolumesFailure } from '../ports/volumes.ts'
import type { Task } from '../core/tasks/background.ts'
import type { Cluster } from '../core/cluster.ts'
import { describe } from '../core/describe.ts'
import { placeOf } from '../storage/tree-of.ts'
import { WorkShare } from '../core/time/work-share.ts'

/** The part of the time of a core, and of the disks, that a sweep may take. */
export const SWEEP_SHARE = 0.25
/** Blobs that the catalog is asked about at a time. */
const BATCH = 500
/** A sweep that could not end is tried again. */
const LOOK_EVERY_MS = 60_000
/** Volumes, and those that were deleted and can be had back. */
const VOLUMES = ['storage/volumes', 'private/cli/volume/recovery-queue'] as const
/** What is to be swept: there is a record as long as a sweep has not come to its end. */
const DUE = ['internal/sweep', 'due'] as const

export type UncleanStop = {
  /** When the cluster was started after it: what is older was written before. */
  readonly sweepBeforeMs: number
  /** The catalog was found to hold all that was ever acknowledged. */
  readonly isProven: boolean
}

declare module '../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/sweep': UncleanStop
  }
}

export class UncleanSweep {
  readonly task: Task
  readonly #cluster: Cluster
  readonly #stopping: AbortSignal
  /** What is not on record yet. */
  #new: UncleanStop | undefined

  constructor(cluster: Cluster, stopping: AbortSignal) {
    this.#cluster = cluster
    this.#stopping = stopping
    this.task = cluster.background.task({
      name: 'leftover-sweep',
      doc: 'After an unclean stop, moves files that no object needs to the folder lost-and-found of their aggregate.',
      bound: `Reads all packs and the names of all files, and takes at most ${SWEEP_SHARE * 100}% of the time of a core.`,
      scope: 'node',
      everyMs: LOOK_EVERY_MS,
      failed: 'Files that no object needs were not all set aside. It is retried.',
      act: () => this.#act(),
    })
  }

  /** Begins, after an unclean stop or with what an earlier sweep left. */
  start(after?: UncleanStop): void {
    this.#new = after
    this.task.start()
  }

  async #act(): Promise<void> {
    const [type, key] = DUE
    const known = await this.#cluster.record(type, key)
    const due = latest(this.#new, known?.body)
    if (due === undefined) return
    if (this.#new !== undefined) {
      await this.#cluster.catalog.commit([{ do: 'put-record', type, key, body: { ...due } }])
      this.#new = undefined
    }
    this.task.says('Searching for files that no object needs.')
    const restored = await this.#cluster.find(...RESTORED)
    await this.sweep(due.sweepBeforeMs, due.isProven, restored?.atMs ?? 0)
    if (!this.#stopping.aborted) await this.#cluster.catalog.commit([{ do: 'remove-record', type, key }])
  }

  /**
   * Only a catalog that is proven to hold all that was acknowledged tells what nobody was answered for from what was lost.
   * Blob ids begin with the time of their making (12 hex digits of milliseconds), so those of uploads in progress are told
   * from the rest by their name. Gives the number of blobs.
   */
  async sweep(madeBeforeMs: number, isProven: boolean, madeFromMs: number): Promise<number> {
    const made = { from: nameAt(madeFromMs), before: nameAt(madeBeforeMs) }
    const share = new WorkShare(this.#cluster.system, SWEEP_SHARE)
    const swept = new Set<string>()
    let [blobs, volumes] = [0, 0]
    for (const row of (await Promise.all(VOLUMES.map((type) => this.#cluster.rows(type)))).flat()) {
      if (this.#stopping.aborted) break
      const { tree } = placeOf(row)
      if (swept.has(tree)) continue
      swept.add(tree)
      const found = await this.#sweepVolume(row, made, { isUnacknowledged: isProven, share })
      if (found > 0) volumes++
      blobs += found
    }
    if (blobs > 0) {
      const details = { blobs, volumes, proven: isProven }
      this.#cluster.log.warn('Blobs that no row knows were set aside in lost-and-found.', details)
      await this.#cluster.commit([this.#cluster.event('cluster.blobs.set_aside', details)])
    }
    return blobs
  }

  /** The others are not to wait for a volume whose disk fails. */
  async #sweepVolume(
    row: StoredVolume,
    made: { readonly from: string; readonly before: string },
    { isUnacknowledged, share }: { readonly isUnacknowledged: boolean; readonly share: WorkShare },
  ): Promise<number> {
    const volume = row['uuid']
    const { aggregate, tree } = placeOf(row)
    const rest = async () => {
      await share.rest(this.#stopping)
      if (this.#stopping.aborted) throw new Stopped()
    }
    let found = 0
    let batch: string[] = []
    try {
      const engine = await this.#cluster.volumesOf(aggregate)
      const settle = async () => {
        // The volume may have been moved meanwhile, and still need what others do not.
        const known = await this.#cluster.catalog.knownBlobs(volume, batch, [tree])
        for (const blob of batch.filter((each) => !known.has(each))) {
          // One that was known when it was listed may have been unlinked since.
          if (await engine.setAside(tree, blob, { nowMs: this.#cluster.now(), isUnacknowledged })) found++
          await rest()
        }
        batch = []
        await rest()
      }
      for await (const blob of engine.blobs(tree, { between: rest })) {
        if (blob >= made.from && blob < made.before) batch.push(blob)
        if (batch.length >= BATCH) await settle()
      }
      await settle()
    } catch (failure) {
      if (failure instanceof Stopped) return found
      if (!(failure instanceof VolumesFailure)) throw failure
      // The volume was deleted or moved meanwhile, and the tree went.
      if (failure.reason !== 'missing') {
        this.#cluster.log.warn('A volume was not searched for blobs that no row knows.', {
          volume,
          cause: describe(failure),
        })
      }
    }
    return found
  }
}

/** The cluster stops. */
class Stopped extends Error {}

/** What is known of one of two stops only is not known of both. */
function latest(stop: UncleanStop | undefined, kept: UncleanStop | undefined): UncleanStop | undefined {
  if (kept === undefined) return stop
  if (stop === undefined) return kept
  return {
    sweepBeforeMs: Math.max(stop.sweepBeforeMs, kept.sweepBeforeMs),
    isProven: stop.isProven && kept.isProven,
  }
}

/** What the names of blobs made at that time begin with. */
function nameAt(ms: number): string {
  return ms.toString(16).padStart(12, '0')
}
