import type { TreePlace } from '../src/storage/tree-of.ts'

/** Told together: a client whose writes are refused may bring thousands of them a second. */
const TELL_AFTER_MS = 500
const TELL_AT_BLOBS = 1000

export interface UnlinkedBlobs {
  readonly place: TreePlace
  readonly blobs: readonly string[]
}

/** Small blobs that this process unlinked, on their way to the one that gives their space back. */
export class UnlinkedNotes {
  readonly #tell: (unlinked: readonly UnlinkedBlobs[]) => void
  #notes = new Map<string, { readonly place: TreePlace; readonly blobs: string[] }>()
  #count = 0
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (unlinked: readonly UnlinkedBlobs[]) => void) {
    this.#tell = tell
  }

  add(place: TreePlace, blobs: readonly string[]): void {
    const known = this.#notes.get(place.tree)
    if (known === undefined) this.#notes.set(place.tree, { place, blobs: [...blobs] })
    else known.blobs.push(...blobs)
    this.#count += blobs.length
    if (this.#count >= TELL_AT_BLOBS) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), TELL_AFTER_MS).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#count === 0) return
    const notes = [...this.#notes.values()]
    this.#notes = new Map()
    this.#count = 0
    this.#tell(notes)
  }
}
