/** What the packs of all trees come to. Counting looks at each file of them, so it is done now and then, and never twice at once. */
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PackSums } from '../../../ports/volumes.ts'
import type { Tallies } from './compaction.ts'
import { filesIn } from './open-packs.ts'

/** Counted again no sooner than so many times what it took. */
const REST_TIMES = 20
/** The first count is waited for so long; after that, the last one is given. */
const WAIT_MS = 1000

type Files = Pick<PackSums, 'files' | 'bytes'>

export class CountedPacks {
  readonly #trees: () => Promise<readonly string[]>
  readonly #folderOf: (tree: string) => string
  #counted: Files | undefined
  #counting: Promise<void> | undefined
  #nextMs = 0
  #compactedMs: number | undefined

  constructor(trees: () => Promise<readonly string[]>, folderOf: (tree: string) => string) {
    this.#trees = trees
    this.#folderOf = folderOf
  }

  /** Space was given back. */
  noteCompacted(): void {
    this.#compactedMs = Date.now()
  }

  /** Nothing before they were counted for the first time. */
  async read(tallies: Iterable<Tallies>): Promise<PackSums | undefined> {
    if (this.#counting === undefined && Date.now() >= this.#nextMs) {
      this.#counting = this.#count().finally(() => (this.#counting = undefined))
      this.#counting.catch(() => undefined)
    }
    if (this.#counting !== undefined) await Promise.race([this.#counting, sleep(WAIT_MS, undefined, { ref: false })])
    if (this.#counted === undefined) return undefined
    let deadBytes = 0
    for (const packs of tallies) {
      for (const { found, sinceBytes } of packs.values()) deadBytes += (found?.deadBytes ?? 0) + sinceBytes
    }
    const { files, bytes } = this.#counted
    const compacted = this.#compactedMs === undefined ? {} : { compactedMs: this.#compactedMs }
    return { files, bytes, deadBytes: Math.min(bytes, deadBytes), ...compacted }
  }

  async #count(): Promise<void> {
    const begunMs = Date.now()
    let [files, bytes] = [0, 0]
    try {
      for (const tree of await this.#trees()) {
        const folder = this.#folderOf(tree)
        for (const { name } of await filesIn(folder)) {
          bytes += await sizeOf(`${folder}/${name}`)
          files++
        }
      }
      this.#counted = { files, bytes }
    } finally {
      this.#nextMs = Date.now() + REST_TIMES * (Date.now() - begunMs)
    }
  }
}

/** 0 where it went meanwhile. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw failure
  }
}
