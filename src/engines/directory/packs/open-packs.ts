/**
 * Packs that are open for reading: a bounded number, those used last. Another process may remove the files of a pack after
 * it has copied what is needed of them, so they are looked at again from time to time, and let go when they are gone or
 * nobody has used them for a while: until then their space is not free.
 */
import { readdir } from 'node:fs/promises'
import { codeOf } from '../failures.ts'
import { readFileName } from './names.ts'
import type { FileName } from './names.ts'
import { PackFile } from './pack-file.ts'

const OPEN_MAX = 256
const LOOK_EVERY_MS = 1000
const IDLE_MS = 15_000
/** Trees whose folders are remembered. */
const TREES_MAX = 1000

/** The files of one pack. */
export class OpenPack {
  readonly files: readonly PackFile[]
  lookedAtMs: number
  usedAtMs: number

  constructor(files: readonly PackFile[], nowMs: number) {
    this.files = files
    this.lookedAtMs = nowMs
    this.usedAtMs = nowMs
  }

  /** False when it is closed already. */
  use(): boolean {
    if (!this.files.every(({ isOpen }) => isOpen)) return false
    for (const file of this.files) file.use()
    return true
  }

  release(): void {
    for (const file of this.files) file.release()
  }

  async isStale(): Promise<boolean> {
    for (const file of this.files) if (await file.isRemoved()) return true
    return false
  }
}

export class OpenPacks {
  readonly #folderOf: (tree: string) => string
  readonly #packs = new Map<string, Promise<OpenPack | undefined>>()
  /** The same, once they are open: who finds one here need not wait. */
  readonly #open = new Map<string, OpenPack>()
  /** Files of each tree by pack, without the original ones. */
  readonly #copies = new Map<string, Map<string, FileName[]>>()
  #idle: NodeJS.Timeout | undefined

  constructor(folderOf: (tree: string) => string) {
    this.#folderOf = folderOf
  }

  /** To be released by the caller. Nothing when the tree has no such pack. With `anew`, the folder is looked at. */
  async get(tree: string, pack: string, anew = false): Promise<OpenPack | undefined> {
    const key = `${tree}/${pack}`
    const nowMs = Date.now()
    const open = this.#open.get(key)
    if (open !== undefined && !anew && open.use()) {
      open.usedAtMs = nowMs
      if (nowMs - open.lookedAtMs < LOOK_EVERY_MS) return open
      open.lookedAtMs = nowMs
      if (!(await open.isStale())) return open
      open.release()
      this.drop(tree, pack, open)
    }
    if (anew) {
      this.#copies.delete(tree)
      this.drop(tree, pack, open)
    }
    for (;;) {
      const found = await (this.#packs.get(key) ?? this.#load(tree, pack, key))
      // Others may have let go of it between its opening and this.
      if (found === undefined || found.use()) return found
    }
  }

  /** Lets go of a pack, unless another one has taken its place. */
  drop(tree: string, pack: string, only?: OpenPack): void {
    const key = `${tree}/${pack}`
    const open = this.#open.get(key)
    if (open === undefined || (only !== undefined && open !== only)) return
    this.#open.delete(key)
    this.#packs.delete(key)
    open.release()
  }

  /** Its files have changed. */
  forgetPack(tree: string, pack: string): void {
    this.#copies.delete(tree)
    this.drop(tree, pack)
  }

  forget(tree: string): void {
    this.#copies.delete(tree)
    for (const key of this.#open.keys()) if (key.startsWith(`${tree}/`)) this.drop(tree, key.slice(tree.length + 1))
  }

  close(): void {
    for (const open of this.#open.values()) open.release()
    this.#open.clear()
    this.#packs.clear()
    clearInterval(this.#idle)
    this.#idle = undefined
  }

  #load(tree: string, pack: string, key: string): Promise<OpenPack | undefined> {
    const loading = this.#openFiles(tree, pack).then(
      (files) => {
        if (files.length === 0) {
          this.#packs.delete(key)
          return undefined
        }
        const open = new OpenPack(files, Date.now())
        this.#open.set(key, open)
        this.#letGoOfOldest()
        this.#idle ??= setInterval(() => this.#letGoOfIdle(), IDLE_MS).unref()
        return open
      },
      (failure: unknown) => {
        this.#packs.delete(key)
        throw failure
      },
    )
    this.#packs.set(key, loading)
    return loading
  }

  async #openFiles(tree: string, pack: string): Promise<PackFile[]> {
    const folder = this.#folderOf(tree)
    const original = { name: pack, pack, writer: pack.slice(12, 20), isOriginal: true, isWhole: true }
    for (const anew of [false, true]) {
      const files: PackFile[] = []
      let isWhole = true
      try {
        const first = await PackFile.open(folder, original)
        if (first !== undefined) files.push(first)
        for (const name of (await this.#copiesOf(tree, anew)).get(pack) ?? []) {
          const file = await PackFile.open(folder, name)
          if (file !== undefined) files.push(file)
          isWhole &&= file !== undefined
        }
        if (anew || (isWhole && files.length > 0)) return files
      } catch (failure) {
        for (const file of files) file.release()
        throw failure
      }
      for (const file of files) file.release()
    }
    return []
  }

  async #copiesOf(tree: string, anew: boolean): Promise<Map<string, FileName[]>> {
    const known = this.#copies.get(tree)
    if (known !== undefined && !anew) return known
    const copies = Map.groupBy(
      (await filesIn(this.#folderOf(tree))).filter(({ isOriginal, isWhole }) => !isOriginal && isWhole),
      ({ pack }) => pack,
    )
    if (this.#copies.size >= TREES_MAX) this.#copies.clear()
    this.#copies.set(tree, copies)
    return copies
  }

  /** Those that were opened first: to know those used last would cost each read more than opening one again. */
  #letGoOfOldest(): void {
    for (const [key, open] of this.#open) {
      if (this.#open.size <= OPEN_MAX) return
      const isUsed = Date.now() - open.usedAtMs < LOOK_EVERY_MS && this.#open.size < 2 * OPEN_MAX
      if (!isUsed) this.#close(key, open)
    }
  }

  #letGoOfIdle(): void {
    const beforeMs = Date.now() - IDLE_MS
    for (const [key, open] of this.#open) if (open.usedAtMs < beforeMs) this.#close(key, open)
    if (this.#open.size > 0) return
    clearInterval(this.#idle)
    this.#idle = undefined
  }

  #close(key: string, open: OpenPack): void {
    this.#open.delete(key)
    this.#packs.delete(key)
    open.release()
  }
}

/** The files of packs in a folder; none when it is not there. */
export async function filesIn(folder: string): Promise<FileName[]> {
  try {
    return (await readdir(folder)).map(readFileName).filter((name) => name !== undefined)
  } catch (failure) {
    if (codeOf(failure) === 'ENOENT') return []
    throw failure
  }
}
