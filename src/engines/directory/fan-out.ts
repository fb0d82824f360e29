import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './failures.ts'
import type { FolderSync } from './folder-sync.ts'

/** Volumes whose folders are remembered. */
const KNOWN_VOLUMES_MAX = 1000

/**
 * The folders that blobs are spread over, made when they are first needed. A blob is durable only if the entry of its
 * folder is, so a folder counts as known when it was synced after it was seen; one sync covers all that were there.
 */
export class FanOut {
  readonly #sync: FolderSync
  readonly #known = new Map<string, Set<string>>()

  constructor(sync: FolderSync) {
    this.#sync = sync
  }

  /** Makes sure that a folder of a tree is there for good. Fails with ENOENT when the tree is not. */
  async ensure(tree: string, folder: string): Promise<void> {
    const known = this.#known.get(tree) ?? (await this.#look(tree))
    if (known.has(folder)) return
    await mkdir(join(tree, folder), { mode: 0o700 }).catch((failure: unknown) => {
      if (codeOf(failure) !== 'EEXIST') throw failure
    })
    await this.#sync.sync(tree)
    known.add(folder)
  }

  forget(tree: string): void {
    this.#known.delete(tree)
  }

  async #look(tree: string): Promise<Set<string>> {
    const seen = new Set(await readdir(tree))
    await this.#sync.sync(tree)
    if (this.#known.size >= KNOWN_VOLUMES_MAX) this.#known.clear()
    const known = this.#known.get(tree)?.union(seen) ?? seen
    this.#known.set(tree, known)
    return known
  }
}
