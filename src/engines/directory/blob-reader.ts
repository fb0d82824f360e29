import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader } from '../../ports/volumes.ts'
import { volumesFailure } from './failures.ts'
import { FOOTER_BYTES_MAX, labelIsWhole, readFooter } from './footer.ts'
import type { Footer, Packed } from './footer.ts'
import { CHUNK_BYTES, indexBytes, readIndex, unpack } from './packing.ts'
import type { Index } from './packing.ts'

/** The end of a file that is read when it is opened: the footer, and with it all of a small blob. */
const TAIL_BYTES = 8 * 1024
/** Chunks of a packed blob that are read from the disk together. */
const CHUNKS_AT_ONCE = 16

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
    const said = readFooter(tail.subarray(-FOOTER_BYTES_MAX), size)
    if (said === undefined) throw damaged(path)
    const file = new BlobFile(path, handle, tail, tailAt)
    return said.packed === undefined ? new FileBlobReader(file, said) : new PackedBlobReader(file, said, said.packed)
  } catch (failure) {
    await handle.close()
    throw volumesFailure(failure, `Blob ${path}`)
  }
}

/** A file of which the end is in memory. */
class BlobFile {
  readonly path: string
  readonly #handle: FileHandle
  readonly #tail: Buffer
  readonly #tailAt: number

  constructor(path: string, handle: FileHandle, tail: Buffer, tailAt: number) {
    this.path = path
    this.#handle = handle
    this.#tail = tail
    this.#tailAt = tailAt
  }

  async bytes(start: number, length: number): Promise<Buffer> {
    if (start >= this.#tailAt) return this.#tail.subarray(start - this.#tailAt, start - this.#tailAt + length)
    try {
      return await readExactly(this.#handle, this.path, start, length)
    } catch (failure) {
      throw volumesFailure(failure, `Blob ${this.path}`)
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** A blob whose file begins with its bytes as they are. */
class FileBlobReader implements BlobReader {
  readonly sizeBytes: number
  readonly storedBytes: number
  protected readonly file: BlobFile
  readonly #said: Footer

  constructor(file: BlobFile, said: Footer) {
    this.file = file
    this.#said = said
    this.sizeBytes = said.sizeBytes
    this.storedBytes = said.packed?.storedBytes ?? said.sizeBytes
  }

  async label(): Promise<Uint8Array> {
    const label = await this.file.bytes(this.storedBytes, this.#said.labelBytes)
    if (!labelIsWhole(label, this.#said)) throw damaged(this.file.path)
    return label
  }

  async read(start: number, length: number): Promise<Buffer> {
    if (start < 0 || length < 0 || start + length > this.sizeBytes) {
      throw new RangeError(`Bytes ${start} to ${start + length} are not within a blob of ${this.sizeBytes} bytes.`)
    }
    return this.content(start, length)
  }

  protected content(start: number, length: number): Promise<Buffer> {
    return this.file.bytes(start, length)
  }

  async close(): Promise<void> {
    await this.file.close()
  }
}

class PackedBlobReader extends FileBlobReader {
  readonly #packed: Packed
  #index: Promise<Index> | undefined
  /** The chunk read last: where a read ends within it, the next one begins there. */
  #last: { readonly n: number; readonly content: Buffer } | undefined

  constructor(file: BlobFile, said: Footer, packed: Packed) {
    super(file, said)
    this.#packed = packed
  }

  protected override async content(start: number, length: number): Promise<Buffer> {
    const end = start + length
    const index = await (this.#index ??= this.#readIndex())
    const parts: Buffer[] = []
    const chunkedEnd = Math.min(end, index.chunkedBytes)
    let at = start
    while (at < chunkedEnd) {
      const first = Math.floor(at / CHUNK_BYTES)
      const count = Math.min(CHUNKS_AT_ONCE, Math.ceil(chunkedEnd / CHUNK_BYTES) - first)
      let pieceAt = first * CHUNK_BYTES
      for (const piece of await this.#chunks(index, first, count)) {
        const part = piece.subarray(Math.max(0, at - pieceAt), Math.max(0, chunkedEnd - pieceAt))
        parts.push(part)
        at += part.length
        pieceAt += piece.length
      }
    }
    if (at < end) parts.push(await this.file.bytes(index.restAt + at - index.chunkedBytes, end - at))
    const [only = Buffer.alloc(0)] = parts
    return parts.length > 1 ? Buffer.concat(parts, length) : only
  }

  async #readIndex(): Promise<Index> {
    const length = indexBytes(this.#packed)
    const at = this.storedBytes - length
    const index = at < 0 ? undefined : readIndex(await this.file.bytes(at, length), this.sizeBytes, this.#packed)
    if (index === undefined) throw damaged(this.file.path)
    return index
  }

  /** The content of chunks that follow one another, which lie one behind the other. */
  async #chunks(index: Index, first: number, count: number): Promise<Buffer[]> {
    if (this.#last?.n === first) {
      const { content } = this.#last
      return count === 1 ? [content] : [content, ...(await this.#chunks(index, first + 1, count - 1))]
    }
    const chunks = Array.from({ length: count }, (_, nth) => index.chunk(first + nth))
    const from = chunks[0]?.at ?? 0
    const storedBytes = chunks.reduce((sum, chunk) => sum + chunk.storedBytes, 0)
    const stored = await this.file.bytes(from, storedBytes)
    const contents: Buffer[] = []
    for (const chunk of chunks) {
      if (contents.length > 0) await nextTurn()
      const at = chunk.at - from
      const content = unpack(stored.subarray(at, at + chunk.storedBytes), chunk)
      if (content === undefined) throw damaged(this.file.path)
      contents.push(content)
      this.#last = { n: first + contents.length - 1, content }
    }
    return contents
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
