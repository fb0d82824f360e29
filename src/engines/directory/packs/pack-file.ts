import { stat } from 'node:fs/promises'
import { codeOf, volumesFailure } from '../failures.ts'
import type { FileName } from './names.ts'
import { Places } from './places.ts'
import { closeRaw, openRaw, readRaw, statRaw, writeRaw } from './raw.ts'
import { FILE_HEADER_BYTES, laterPackFormat, readFileHeader, RECORD_STATE_AT, seedOf, stateOf } from './record.ts'
import type { FileState, PackFormat } from './record.ts'

const READ_ONLY: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM'])

/** One file of a pack that is open for reading and for flags. It is closed when nobody uses it any more. */
export class PackFile {
  readonly path: string
  readonly name: FileName
  readonly fd: number
  readonly #places: Places | undefined
  #identity: { readonly ino: number; readonly dev: number } | undefined
  #uses = 1

  private constructor(path: string, name: FileName, fd: number) {
    this.path = path
    this.name = name
    this.fd = fd
    this.#places = name.isOriginal ? undefined : new Places(seedOf(name.pack))
  }

  /** Nothing when it is not there. */
  static async open(folder: string, name: FileName): Promise<PackFile | undefined> {
    const path = `${folder}/${name.name}`
    try {
      const fd = await openRaw(path, 'r+').catch((failure: NodeJS.ErrnoException) => {
        if (!READ_ONLY.has(failure.code)) throw failure
        return openRaw(path, 'r')
      })
      return new PackFile(path, name, fd)
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw volumesFailure(failure, `Pack ${path}`)
    }
  }

  get isOpen(): boolean {
    return this.#uses > 0
  }

  use(): void {
    this.#uses++
  }

  release(): void {
    this.#uses--
    if (this.#uses === 0) closeRaw(this.fd)
  }

  /** Where copies of the record of an offset are here. */
  async find(offset: number): Promise<readonly number[]> {
    if (this.#places === undefined) return [offset]
    const known = this.#places.find(offset)
    if (known.length > 0) return known
    await this.#places.learn(this.fd, await this.sizeBytes())
    return this.#places.find(offset)
  }

  async sizeBytes(): Promise<number> {
    return (await statRaw(this.fd)).size
  }

  /** Its path does not lead to it: it was removed, or its disk is not where it was. Who has it open still sees it. */
  async isRemoved(): Promise<boolean> {
    try {
      const { ino, dev } = await stat(this.path)
      this.#identity ??= await statRaw(this.fd)
      return ino !== this.#identity.ino || dev !== this.#identity.dev
    } catch (failure) {
      if (codeOf(failure) === 'ENOENT') return true
      throw volumesFailure(failure, `Pack ${this.path}`)
    }
  }

  /** What its header says; `format` is missing where that cannot be read. */
  async header(): Promise<{ readonly format?: number; readonly state: FileState }> {
    const buffer = Buffer.allocUnsafe(FILE_HEADER_BYTES)
    const bytes = buffer.subarray(0, await readRaw(this.fd, buffer, 0))
    const header = readFileHeader(bytes, this.name.pack)
    if (header !== undefined) return header
    const format = laterPackFormat(bytes)
    return { state: 'damaged', ...(format === undefined ? {} : { format }) }
  }

  /** Marks the record at a place, whose header was read. */
  mark(at: number, { format }: { readonly format: PackFormat }, state: 'dead' | 'void'): Promise<void> {
    return writeRaw(this.fd, [stateOf(format, state)], at + RECORD_STATE_AT)
  }
}
