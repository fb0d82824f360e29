import { unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobWriter } from '../../ports/volumes.ts'
import { volumesFailure } from './failures.ts'
import { LABEL_BYTES_MAX, footer } from './footer.ts'

/** Less is kept and written together: a small blob takes one write, its label and footer included. */
const GATHERED_BYTES = 64 * 1024

export class FileBlobWriter implements BlobWriter {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #syncFolder: () => Promise<void>
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  #writtenBytes = 0
  #ended = false

  constructor(path: string, handle: FileHandle, syncFolder: () => Promise<void>) {
    this.#path = path
    this.#handle = handle
    this.#syncFolder = syncFolder
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#mustBeOpen()
    if (this.#gatheredBytes + chunk.length < GATHERED_BYTES) {
      this.#gather(Uint8Array.from(chunk))
      return
    }
    this.#gather(chunk)
    await this.#orGiveUp(() => this.#flush())
  }

  async commit(label: Uint8Array): Promise<void> {
    this.#mustBeOpen()
    if (label.length > LABEL_BYTES_MAX) throw new RangeError(`A label has at most ${LABEL_BYTES_MAX} bytes.`)
    const end = footer(label, this.#writtenBytes + this.#gatheredBytes)
    await this.#orGiveUp(async () => {
      this.#gather(label)
      this.#gather(end)
      await this.#flush()
      // The entry in the folder is there since the file was opened, so both can be made durable at the same time.
      await Promise.all([this.#handle.datasync(), this.#syncFolder()])
      this.#ended = true
      await this.#handle.close()
    })
  }

  async abort(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    this.#gathered = []
    await this.#handle.close().catch(() => {})
    // What stays behind has no row in the catalog: it is found and removed as an orphan later.
    await unlink(this.#path).catch(() => {})
  }

  #mustBeOpen(): void {
    if (this.#ended) throw new VolumesFailure('io', `${this.#path}: the blob was ended or given up before.`)
  }

  #gather(bytes: Uint8Array): void {
    this.#gathered.push(bytes)
    this.#gatheredBytes += bytes.length
  }

  async #flush(): Promise<void> {
    let rest = this.#gathered
    this.#gathered = []
    this.#gatheredBytes = 0
    while (rest.length > 0) {
      const { bytesWritten } = await this.#handle.writev(rest, this.#writtenBytes)
      this.#writtenBytes += bytesWritten
      rest = behind(rest, bytesWritten)
    }
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

/** What remains of buffers when their first bytes were written: the file system may take fewer than it was given. */
function behind(buffers: readonly Uint8Array[], bytes: number): Uint8Array[] {
  const rest: Uint8Array[] = []
  let skip = bytes
  for (const buffer of buffers) {
    if (skip < buffer.length) rest.push(buffer.subarray(skip))
    skip = Math.max(0, skip - buffer.length)
  }
  return rest
}
