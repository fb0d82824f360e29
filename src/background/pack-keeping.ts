/**
 * Gives the space of small blobs back that were unlinked: engines mark these, and copy what is left of a file when enough of
 * it is marked. It is done slowly, so that clients beside it have the disks, and by one process of the cluster, which is
 * told which files others append to.
 */
import { VolumesFailure, type Compacted } from '../ports/volumes.ts'
import type { Cluster } from '../core/cluster.ts'
import { describe } from '../core/describe.ts'
import { damageAmong, neededBlobs, notingDamage, type TellPackDamage } from '../storage/pack-damage.ts'
import type { TreePlace } from '../storage/tree-of.ts'

/** The part of a pack that nothing needs, from which on the rest of it is copied. */
export const PACK_DEAD_SHARE = 0.3
/** Read and written: about a fifth of what one disk does beside clients. */
export const PACK_BYTES_A_SECOND = 32 * 2 ** 20
/** Waits shorter than this are put off, as a timer costs more. */
const WAIT_MS_MIN = 10
/** Trees in which files are still appended to are looked at again that often. */
const LOOK_AGAIN_MS = 30_000

class Stopped extends Error {}

interface Due {
  readonly atMs: number
  readonly all: boolean
}

export class PackKeeping {
  readonly #cluster: Cluster
  readonly #stopping: AbortSignal
  readonly #deadShare: number
  readonly #tellDamage: TellPackDamage
  /** In which something was unlinked since they were looked at, and when to look. */
  readonly #due = new Map<string, TreePlace & Due>()
  #isFirst = true
  #owedMs = 0

  constructor(
    cluster: Cluster,
    stopping: AbortSignal,
    {
      deadShare = PACK_DEAD_SHARE,
      tellDamage,
    }: { readonly deadShare?: number; readonly tellDamage?: TellPackDamage } = {},
  ) {
    this.#cluster = cluster
    this.#stopping = stopping
    this.#deadShare = deadShare
    this.#tellDamage = tellDamage ?? notingDamage(cluster)
  }

  /** Something was unlinked there. */
  note(place: TreePlace): void {
    if (!this.#due.has(place.tree)) this.#due.set(place.tree, { ...place, atMs: 0, all: false })
  }

  /** Looks where something was unlinked; the first time everywhere, as nobody knows what earlier runs left. */
  async round(allPlaces: () => Promise<readonly TreePlace[]>): Promise<void> {
    const now = this.#cluster.now()
    const places = this.#isFirst
      ? (await allPlaces()).map(({ aggregate, tree }) => ({ aggregate, tree, all: true }))
      : [...this.#due.values()].filter(({ atMs }) => atMs <= now)
    this.#isFirst = false
    const seen = new Set<string>()
    for (const place of places) {
      if (this.#stopping.aborted) return
      if (seen.has(place.tree)) continue
      seen.add(place.tree)
      this.#due.delete(place.tree)
      await this.#compact(place, place.all)
    }
  }

  async #compact({ aggregate, tree }: TreePlace, all: boolean): Promise<void> {
    try {
      const engine = await this.#cluster.volumesOf(aggregate)
      const compacted = await engine.compact(tree, {
        deadShare: this.#deadShare,
        all,
        needed: (beginning) => neededBlobs(this.#cluster, tree, beginning),
        between: (bytes) => this.#wait(bytes),
      })
      if (compacted.waiting > 0) this.#lookAgain({ aggregate, tree }, false)
      await this.#tell({ aggregate, tree }, compacted)
    } catch (failure) {
      if (this.#stopping.aborted) return
      // The aggregate or the tree went meanwhile.
      if (failure instanceof VolumesFailure && failure.reason === 'missing') return
      this.#lookAgain({ aggregate, tree }, all)
      this.#cluster.log.warn('The space of deleted small objects could not be reclaimed. The cluster retries it.', {
        tree,
        cause: describe(failure),
      })
    }
  }

  #lookAgain(place: TreePlace, all: boolean): void {
    this.#due.set(place.tree, { ...place, all, atMs: this.#cluster.now() + LOOK_AGAIN_MS })
  }

  async #tell(place: TreePlace, { freedBytes, damaged, misread, setAside }: Compacted): Promise<void> {
    const { tree } = place
    const { log } = this.#cluster
    if (freedBytes > 0) log.info('The space of deleted small objects was reclaimed.', { tree, freedBytes })
    if (misread > 0) {
      log.error('Marks in files of small objects were damaged. No object is harmed.', { tree, marks: misread })
      await this.#cluster.commit([this.#cluster.event('volume.pack.misread', { tree, marks: misread })])
    }
    if (setAside > 0) {
      const details = { blobs: setAside, volumes: 1, proven: false }
      log.warn('Damaged bytes between small objects, which no object needs, were set aside in lost-and-found.', {
        tree,
        ...details,
      })
      await this.#cluster.commit([this.#cluster.event('cluster.blobs.set_aside', details)])
    }
    if (damaged.length === 0) return
    for (const [volume, found] of await damageAmong(this.#cluster, place, damaged)) {
      await this.#tellDamage(volume, place, found)
    }
  }

  async #wait(bytes: number): Promise<void> {
    this.#owedMs += (bytes / PACK_BYTES_A_SECOND) * 1000
    if (this.#owedMs >= WAIT_MS_MIN) {
      const waitMs = this.#owedMs
      this.#owedMs = 0
      await this.#cluster.system.clock.sleep(waitMs, this.#stopping)
    }
    if (this.#stopping.aborted) throw new Stopped()
  }
}
