import type { Cluster } from '../../../core/cluster.ts'
import { copyBlob } from '../../../storage/copy-blob.ts'
import type { TreePlace } from '../../../storage/tree-of.ts'
import type { BlobRef } from '../../../ports/catalog.ts'
import { type Volumes, VolumesFailure } from '../../../ports/volumes.ts'

/** Blobs of one volume that are copied at the same time. */
const COPIES_AT_ONCE = 4
/** The same of all volumes together: few enough that clients beside them have the disks. */
const COPIES_MAX = 8
/** Files looked at together when what is not needed is removed. */
const SWEPT_BATCH = 500
/** Blobs that wait to be unlinked, among which one that is missing is looked for. */
const UNNEEDED_MAX = 100_000

interface Found extends TreePlace {
  readonly volumes: Volumes
}

/** Copies the blobs of one volume from one tree to another, and clears the two of what is not needed there. */
export class Copier {
  readonly #cluster: Cluster
  readonly #volume: string
  readonly #from: Found
  readonly #to: Found
  readonly #signal: AbortSignal

  private constructor(cluster: Cluster, volume: string, from: Found, to: Found, signal: AbortSignal) {
    this.#cluster = cluster
    this.#volume = volume
    this.#from = from
    this.#to = to
    this.#signal = signal
  }

  static async open(
    cluster: Cluster,
    volume: string,
    places: { readonly from: TreePlace; readonly to: TreePlace },
    signal: AbortSignal,
  ): Promise<Copier> {
    const found = async (place: TreePlace) => ({ ...place, volumes: await cluster.volumesOf(place.aggregate) })
    return new Copier(cluster, volume, await found(places.from), await found(places.to), signal)
  }

  /** Each is durable on return. Gives the bytes written. When it fails, nobody writes any more. */
  async copy(blobs: readonly BlobRef[]): Promise<number> {
    const left = blobs.values()
    let bytes = 0
    let hasFailed = false
    const lane = async () => {
      for (const blob of left) {
        if (hasFailed) return
        this.#signal.throwIfAborted()
        bytes += await this.#copyOne(blob).catch((failure: unknown) => {
          hasFailed = true
          throw failure
        })
      }
    }
    const lanes = await Promise.allSettled(Array.from({ length: COPIES_AT_ONCE }, lane))
    const failed = lanes.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return bytes
  }

  async #copyOne(expected: BlobRef): Promise<number> {
    const { blob } = expected
    try {
      const slot = `volume-copies:${Number.parseInt(blob.slice(-1), 16) % COPIES_MAX}`
      const { writtenBytes } = await this.#cluster.locks.with([slot], () =>
        copyBlob({ ...this.#from, blob, expected }, { ...this.#to, blob }, { signal: this.#signal }),
      )
      return writtenBytes
    } catch (failure) {
      if (isLost(failure) && (await this.#isUnneeded(blob))) return 0
      throw failure
    }
  }

  /** Nobody may read it any more, so its file may be gone. */
  async #isUnneeded(blob: string): Promise<boolean> {
    const { catalog } = this.#cluster
    if (!(await catalog.knownBlobs(this.#volume, [blob], [])).has(blob)) return true
    return (await catalog.unneededBlobs(this.#volume, UNNEEDED_MAX)).includes(blob)
  }

  /** Removes copies of what the volume does not know any more. To be called while nobody else writes there. */
  async sweepCopies(): Promise<void> {
    await this.#sweep(this.#to, async (batch) => {
      const known = await this.#cluster.catalog.knownBlobs(this.#volume, batch, [])
      return batch.filter((blob) => !known.has(blob))
    })
  }

  /** Removes from the old tree what only this volume knows. Others share the tree, and may be writing to it. */
  async clearOld(others: readonly string[]): Promise<void> {
    const { catalog } = this.#cluster
    const { tree } = this.#from
    await this.#sweep(this.#from, async (batch) => {
      const own = await catalog.knownBlobs(this.#volume, batch, [])
      let only = batch.filter((blob) => own.has(blob))
      for (const other of others) {
        const known = await catalog.knownBlobs(other, only, [tree])
        only = only.filter((blob) => !known.has(blob))
      }
      return only
    })
  }

  async #sweep({ volumes, tree }: Found, rubbishOf: (batch: readonly string[]) => Promise<readonly string[]>) {
    const settle = async (batch: readonly string[]) => {
      this.#signal.throwIfAborted()
      for (const blob of await rubbishOf(batch)) await volumes.unlink(tree, blob)
    }
    let batch: string[] = []
    for await (const blob of volumes.blobs(tree)) {
      batch.push(blob)
      if (batch.length === SWEPT_BATCH) await settle(batch.splice(0))
    }
    await settle(batch)
  }
}

/** What was read is not there or not whole, though its disk is. */
export function isLost(failure: unknown): boolean {
  return failure instanceof VolumesFailure && (failure.reason === 'missing' || failure.reason === 'damaged')
}
