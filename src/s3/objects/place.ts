import { copyBlob } from '../../storage/copy-blob.ts'
import type { TreePlace } from '../../storage/tree-of.ts'
import { Failure } from '../../model/failure.ts'
import type { BlobDraft, BlobRef } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader, BlobWriter, Sharing, Volumes, WriteHow } from '../../ports/volumes.ts'
import { s3Error } from '../errors.ts'
import type { TreeUses } from './tree-uses.ts'

/** Looks at where a volume is, for one blob or write. It is moved far less often than that. */
const looksMax = 4

/** Where a volume is by its record, and where it was as long as what is there may still be needed. */
export interface Whereabouts {
  readonly here: TreePlace
  readonly before: TreePlace | undefined
}

export interface PlaceParts {
  readonly volume: string
  /** Where the volume is as far as the request knows. */
  readonly known: TreePlace
  readonly volumesOf: (aggregate: string) => Promise<Volumes>
  /** The same for reading, as far as the request knows. Without it, the engine is looked up for each blob. */
  readonly readingFrom?: (aggregate: string) => Promise<Volumes>
  /** Looks where it is now. Nothing when there is no such volume any more. */
  readonly look: () => Promise<Whereabouts | undefined>
  readonly trees: TreeUses
}

interface Found extends TreePlace {
  readonly volumes: Volumes
}

/**
 * The place of a volume's blobs, for one request. The volume may be moved to another aggregate meanwhile, which no client
 * notices: what is not where the request thinks it is looked for where the volume is now, then where it was.
 *
 *     known ─▶ there? read it. Nothing more is asked, whoever moves what.
 *       └ not there ─▶ look at the record ─▶ its place now ─▶ its place before ─▶ missing
 */
export class VolumePlace {
  readonly #parts: PlaceParts
  #here: TreePlace
  /** Where this request writes. It stays that, so that all blobs of one commit are in one tree. */
  #writing: (Found & { readonly release: () => void }) | undefined

  constructor(parts: PlaceParts) {
    this.#parts = parts
    this.#here = parts.known
  }

  /** Where blobs were written to. */
  get tree(): string {
    return this.#writing?.tree ?? this.#here.tree
  }

  /** Begins a blob where the volume is now. The tree stays until `release`. */
  async write(blob: string, how?: WriteHow): Promise<BlobWriter> {
    for (let looks = 1; ; looks += 1) {
      try {
        this.#writing ??= await this.#enter()
        return await this.#writing.volumes.write(this.#writing.tree, blob, how)
      } catch (failure) {
        const { tree } = this
        if (!mayBeElsewhere(failure) || looks === looksMax) throw failure
        await this.#look()
        if (this.#here.tree === tree) throw failure
        this.release()
      }
    }
  }

  /** Opens a blob wherever it is. */
  async open(blob: BlobRef): Promise<BlobReader> {
    const tried = this.#here
    try {
      return await this.#open(tried, blob, this.#parts.readingFrom)
    } catch (failure) {
      if (!mayBeElsewhere(failure)) throw failure
      return this.#openElsewhere(blob, tried, failure)
    }
  }

  /** Gives a blob that this request wrote the file of a twin, where the two are the same. */
  share(blob: string, twin: string): Promise<Sharing> {
    const at = this.#writing
    if (at === undefined) throw new Error('Only a blob that was written can share the file of another.')
    return at.volumes.share(at.tree, blob, twin)
  }

  /** Removes blobs that this request wrote. What cannot be removed is found later as an orphan. */
  async unlink(blobs: readonly BlobRef[]): Promise<void> {
    const at = this.#writing
    if (at === undefined) return
    await Promise.allSettled(blobs.map(({ blob }) => at.volumes.unlink(at.tree, blob)))
  }

  /**
   * The volume has been moved since these blobs were written: copies them to where it is now, under new names, as those
   * of copies in the making must not be taken for them. With `packs` as they were begun.
   */
  async follow(
    blobs: readonly BlobDraft[],
    newName: () => string,
    how: { readonly packs?: boolean } = {},
  ): Promise<readonly BlobDraft[]> {
    const from = this.#writing
    if (from === undefined) throw new Error('Only blobs that were written can follow.')
    await this.#look()
    this.#writing = undefined
    const copies: BlobDraft[] = []
    try {
      const to = await this.#enter()
      this.#writing = to
      for (const { blob, twin: _, ...draft } of blobs) {
        // A twin is where it was; a run finds it again.
        const copy = await copyBlob({ ...from, blob, expected: draft }, { ...to, blob: newName() }, how)
        copies.push({ ...draft, blob: copy.blob, storedBytes: copy.storedBytes })
      }
      return copies
    } catch (failure) {
      await this.unlink(copies)
      // The old tree was waited for as long as anybody may ask.
      if (failure instanceof VolumesFailure && failure.reason === 'missing')
        throw s3Error('SlowDown', { cause: failure })
      throw failure
    } finally {
      await Promise.allSettled(blobs.map(({ blob }) => from.volumes.unlink(from.tree, blob)))
      from.release()
    }
  }

  /** To be called when the request has ended. */
  release(): void {
    this.#writing?.release()
    this.#writing = undefined
  }

  async #enter(): Promise<Found & { readonly release: () => void }> {
    for (let looks = 1; ; looks += 1) {
      const { aggregate, tree } = this.#here
      const release = this.#parts.trees.enter(this.#parts.volume, tree)
      if (release !== undefined) {
        try {
          return { aggregate, tree, volumes: await this.#parts.volumesOf(aggregate), release }
        } catch (failure) {
          release()
          throw failure
        }
      }
      if (looks === looksMax) throw s3Error('SlowDown')
      await this.#look()
    }
  }

  async #open({ aggregate, tree }: TreePlace, blob: BlobRef, find = this.#parts.volumesOf): Promise<BlobReader> {
    return (await find(aggregate)).open(tree, blob.blob, blob)
  }

  async #openElsewhere(blob: BlobRef, tried: TreePlace, failure: unknown): Promise<BlobReader> {
    let known: string | undefined = tried.tree
    let worst = failure
    for (let looks = 1; ; looks += 1) {
      const before = await this.#look()
      const others = [this.#here, before].filter((place) => place !== undefined).filter(({ tree }) => tree !== known)
      for (const place of others) {
        try {
          return await this.#open(place, blob)
        } catch (next) {
          if (!mayBeElsewhere(next)) throw next
          if (worst instanceof VolumesFailure && worst.reason === 'missing') worst = next
        }
      }
      // It may have come to its new place, and gone from the old one, between the two.
      if (others.length === 0 || looks === looksMax) throw worst
      known = undefined
    }
  }

  /** Gives where it was before. */
  async #look(): Promise<TreePlace | undefined> {
    const where = await this.#parts.look()
    if (where !== undefined) this.#here = where.here
    return where?.before
  }
}

/** An aggregate may be gone with the tree that was in it; a copy that is not whole yet looks damaged. */
function mayBeElsewhere(failure: unknown): boolean {
  if (!(failure instanceof VolumesFailure)) return failure instanceof Failure && failure.kind === 'not-found'
  return failure.reason === 'missing' || failure.reason === 'away' || failure.reason === 'damaged'
}
