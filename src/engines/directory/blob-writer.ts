import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobWriter, Committed } from '../../ports/volumes.ts'
import { BlockSums } from './block-sums.ts'
import { volumesFailure } from './failures.ts'
import { BLOCK_BYTES, LABEL_BYTES_MAX, footer } from './footer.ts'
import type { NewFile } from './new-file.ts'
import type { Packer } from './packing.ts'
import { Tally } from './tally.ts'

/**
 * Less is kept and written together, as each write costs a trip to another thread. A small blob takes one write, its label
 * and footer included.
 */
const GATHERED_BYTES = 256 * 1024
/** So many pieces are written together whatever they have: each takes memory beside its bytes. */
const GATHERED_PIECES = 256

export class FileBlobWriter implements BlobWriter {
  readonly #path: string
  readonly #file: NewFile
  readonly #syncFolder: () => Promise<void>
  readonly #packer: Packer | undefined
  readonly #onlyPacked: boolean
  readonly #tally: Tally
  /** Of a blob that is stored as it is. A packer knows those of what it packs. */
  readonly #sums = new BlockSums()
  #sizeBytes = 0
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  /** To be called when what has gathered is written. */
  #spent: (() => void)[] = []
  #ended = false

  /**
   * With a packer, the blob is stored in less than it is where that can be; with `onlyPacked`, it is given up instead of
   * committed where that cannot be. Bytes that gather are counted in the tally; where it is full, they are written at once.
   */
  constructor(
    path: string,
    file: NewFile,
    syncFolder: () => Promise<void>,
    {
      packer,
      onlyPacked = false,
      tally = new Tally(),
    }: { readonly packer?: Packer; readonly onlyPacked?: boolean; readonly tally?: Tally } = {},
  ) {
    this.#path = path
    this.#file = file
    this.#syncFolder = syncFolder
    this.#packer = packer
    this.#onlyPacked = onlyPacked
    this.#tally = tally
  }

  /** The bytes so far have shown that they are stored as they are. */
  get isPlain(): boolean {
    return this.#packer?.isPlain ?? true
  }

  async write(chunk: Uint8Array, spent?: () => void): Promise<void> {
    this.#mustBeOpen()
    this.#sizeBytes += chunk.length
    await this.#orGiveUp(async () => {
      if (this.#packer === undefined) this.#sums.add(chunk)
      for (const bytes of (await this.#packer?.add(chunk)) ?? [chunk]) await this.#append(bytes)
      // Not before all of it was appended: what is written on the way is a part of it.
      if (this.#gathered.length === 0) spent?.()
      else if (spent !== undefined) this.#spent.push(spent)
    })
  }

  async commit(label: Uint8Array): Promise<Committed> {
    this.#mustBeOpen()
    if (label.length > LABEL_BYTES_MAX) throw new RangeError(`A label has at most ${LABEL_BYTES_MAX} bytes.`)
    const sizeBytes = this.#sizeBytes
    let committed = { storedBytes: sizeBytes, crc: 0 }
    await this.#orGiveUp(async () => {
      const plain = { bytes: [], packed: undefined, rest: this.#sums, crc: this.#sums.crc }
      const { bytes, packed, rest, crc } = (await this.#packer?.end()) ?? plain
      committed = { storedBytes: packed?.storedBytes ?? sizeBytes, crc }
      if (packed === undefined && this.#onlyPacked) return this.abort()
      for (const last of bytes) this.#gather(last)
      // The checksum of a blob that is one block is in the footer.
      if (packed !== undefined || sizeBytes > BLOCK_BYTES) this.#gather(rest.table())
      this.#gather(label)
      this.#gather(footer(label, { sizeBytes, crc, ...(packed === undefined ? {} : { packed }) }))
      await this.#flush()
      // The entry in the folder is there since the file was opened, so both can be made durable at the same time.
      const synced = await Promise.allSettled([this.#file.sync(), this.#syncFolder()])
      // Nothing may be under way when the file is closed.
      for (const result of synced) if (result.status === 'rejected') throw result.reason
      this.#ended = true
      await this.#file.close()
    })
    return { blob: basename(this.#path), ...committed }
  }

  async abort(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    this.#tally.subtract(this.#gatheredBytes)
    this.#gathered = []
    this.#gatheredBytes = 0
    this.#spent = []
    await this.#file.close().catch(() => {})
    // What stays behind has no row in the catalog: it is found and removed as an orphan later.
    await unlink(this.#path).catch(() => {})
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const hasRoom = this.#gather(bytes)
    if (!hasRoom || this.#gatheredBytes >= GATHERED_BYTES || this.#gathered.length >= GATHERED_PIECES) {
      await this.#flush()
    }
  }

  #mustBeOpen(): void {
    if (this.#ended) throw new VolumesFailure('io', `${this.#path}: the blob was ended or given up before.`)
  }

  /** Whether there is room for more. */
  #gather(bytes: Uint8Array): boolean {
    this.#gathered.push(bytes)
    this.#gatheredBytes += bytes.length
    return this.#tally.add(bytes.length)
  }

  async #flush(): Promise<void> {
    const gathered = this.#gathered
    const bytes = this.#gatheredBytes
    const spent = this.#spent
    this.#gathered = []
    this.#gatheredBytes = 0
    this.#spent = []
    try {
      await this.#file.append(gathered)
    } finally {
      this.#tally.subtract(bytes)
    }
    for (const tell of spent) tell()
  }

  async #orGiveUp(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (failure) {
      this.#ended = false
      await this.abort()
      throw volumesFailure(failure, `Blob ${this.#path}`)
    }
  }
}
