import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader } from '../../ports/volumes.ts'
import { volumesFailure } from './failures.ts'
import { FOOTER_BYTES, labelIsWhole, readFooter } from './footer.ts'

/** The end of a file that is read when it is opened: the footer, and with it all of a small blob. */
const TAIL_BYTES = 8 * 1024

export async function openBlob(path: string): Promise<BlobReader> {
  let handle: FileHandle
  try {
    handle = await open(path, 'r')
  } catch (failure) {
    throw volumesFailure(failure, `Blob ${path}`)
  }
  try {
    const { size } = await handle.stat()
    const tailAt = Math.max(0, size - TAIL_BYTES)
    const tail = await readExactly(handle, path, tailAt, size - tailAt)
    const said = readFooter(tail.subarray(-FOOTER_BYTES), size)
    if (said === undefined) throw damaged(path)
    return new FileBlobReader(path, handle, said, tail, tailAt)
  } catch (failure) {
    await handle.close()
    throw volumesFailure(failure, `Blob ${path}`)
  }
}

class FileBlobReader implements BlobReader {
  readonly sizeBytes: number
  readonly #path: string
  readonly #handle: FileHandle
  readonly #labelBytes: number
  readonly #tail: Buffer
  readonly #tailAt: number

  constructor(
    path: string,
    handle: FileHandle,
    said: { sizeBytes: number; labelBytes: number },
    tail: Buffer,
    tailAt: number,
  ) {
    this.#path = path
    this.#handle = handle
    this.sizeBytes = said.sizeBytes
    this.#labelBytes = said.labelBytes
    this.#tail = tail
    this.#tailAt = tailAt
  }

  async label(): Promise<Uint8Array> {
    const label = await this.#bytes(this.sizeBytes, this.#labelBytes)
    if (!labelIsWhole(label, this.#tail.subarray(-FOOTER_BYTES))) throw damaged(this.#path)
    return label
  }

  async read(start: number, length: number): Promise<Buffer> {
    if (start < 0 || length < 0 || start + length > this.sizeBytes) {
      throw new RangeError(`Bytes ${start} to ${start + length} are not within a blob of ${this.sizeBytes} bytes.`)
    }
    return this.#bytes(start, length)
  }

  async #bytes(start: number, length: number): Promise<Buffer> {
    if (start >= this.#tailAt) return this.#tail.subarray(start - this.#tailAt, start - this.#tailAt + length)
    try {
      return await readExactly(this.#handle, this.#path, start, length)
    } catch (failure) {
      throw volumesFailure(failure, `Blob ${this.#path}`)
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

async function readExactly(handle: FileHandle, path: string, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, start + filled)
    if (bytesRead === 0) throw damaged(path)
    filled += bytesRead
  }
  return buffer
}

function damaged(path: string): VolumesFailure {
  return new VolumesFailure('damaged', `Blob ${path} is damaged or was never finished.`)
}
