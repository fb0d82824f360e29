import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader, ExpectedBlob, FileDamage } from '../../ports/volumes.ts'
import { volumesFailure } from './failures.ts'
import { BLOCK_BYTES, CRC_BYTES, FOOTER_BYTES_MAX, laterFormat, readFooter } from './footer.ts'
import type { Footer, Packed } from './footer.ts'
import { OpenFile } from './open-file.ts'
import { CHUNK_BYTES, indexBytes, readIndex, unpack } from './packing.ts'
import type { Index } from './packing.ts'

/** The end of a file that is read when it is opened: the footer, and with it all of a small blob. */
const TAIL_BYTES = 8 * 1024
/** A blob of so many bytes is in the end of its file with all that follows, unless its label is longer than most. */
const WHOLE_BYTES = 6 * 1024
/** Checksums of blocks that are read together: 4 KiB for 64 MiB. A reader holds no more of a table than this. */
const SUMS_AT_ONCE = 1024
/** Chunks of a packed blob that are read from the disk together. */
const CHUNKS_AT_ONCE = 16

export async function openBlob(path: string, expected?: ExpectedBlob): Promise<BlobReader> {
  let open: OpenFile
  try {
    open = await OpenFile.open(path)
  } catch (failure) {
    throw volumesFailure(failure, `Blob ${path}`)
  }
  try {
    const end = expected === undefined ? undefined : await readLikelyEnd(open, expected)
    const { tail, tailAt, said } = end ?? (await readEnd(open, path))
    if (expected !== undefined) checkExpected(path, said, expected)
    const file = new BlobFile(path, open, tail, tailAt)
    return said.packed === undefined ? new FileBlobReader(file, said) : new PackedBlobReader(file, said, said.packed)
  } catch (failure) {
    await open.close()
    throw volumesFailure(failure, `Blob ${path}`)
  }
}

interface End {
  readonly tail: Buffer
  readonly tailAt: number
  readonly said: Footer
}

/**
 * What follows the bytes of a blob that is stored as it is: where a read ends there, nobody has to ask for the size of the
 * file. Nothing where that is not so, such as for one that is packed.
 */
async function readLikelyEnd(open: OpenFile, { sizeBytes }: ExpectedBlob): Promise<End | undefined> {
  const tailAt = sizeBytes <= WHOLE_BYTES ? 0 : sizeBytes
  const buffer = Buffer.allocUnsafe(TAIL_BYTES)
  const filled = await open.fillOnce(buffer, tailAt)
  if (filled === buffer.length) return undefined
  const tail = buffer.subarray(0, filled)
  const said = readFooter(tail.subarray(-FOOTER_BYTES_MAX), tailAt + filled)
  return said === undefined ? undefined : { tail, tailAt, said }
}

async function readEnd(open: OpenFile, path: string): Promise<End> {
  const size = await open.sizeBytes()
  const tailAt = Math.max(0, size - TAIL_BYTES)
  const tail = await readExactly(open, path, tailAt, size - tailAt)
  const said = readFooter(tail.subarray(-FOOTER_BYTES_MAX), size)
  if (said === undefined) throw unreadable(path, tail)
  return { tail, tailAt, said }
}

function checkExpected(path: string, { sizeBytes, sums }: Footer, expected: ExpectedBlob): void {
  if (sizeBytes === expected.sizeBytes && (expected.crc === undefined || expected.crc === sums?.crc)) return
  const message = `Blob ${path} has other bytes than the catalog expects: it is the file of another blob, or an older copy.`
  throw new VolumesFailure('damaged', message, { damage: 'misplaced' })
}

/** A file of which the end is in memory. */
class BlobFile {
  readonly path: string
  readonly #open: OpenFile
  readonly #tail: Buffer
  readonly #tailAt: number

  constructor(path: string, open: OpenFile, tail: Buffer, tailAt: number) {
    this.path = path
    this.#open = open
    this.#tail = tail
    this.#tailAt = tailAt
  }

  /** In a part of `into` where that has room for them and they are not in memory. */
  async bytes(start: number, length: number, into?: Buffer): Promise<Buffer> {
    if (start >= this.#tailAt) return this.#tail.subarray(start - this.#tailAt, start - this.#tailAt + length)
    try {
      return await readExactly(this.#open, this.path, start, length, into)
    } catch (failure) {
      throw volumesFailure(failure, `Blob ${this.path}`)
    }
  }

  async close(): Promise<void> {
    await this.#open.close()
  }
}

/** Bytes of a stretch, and where they may be put. */
interface Wanted {
  readonly start: number
  readonly length: number
  readonly into?: Buffer | undefined
}

/** A blob whose file begins with its bytes as they are. */
class FileBlobReader implements BlobReader {
  readonly sizeBytes: number
  readonly storedBytes: number
  readonly crc?: number
  protected readonly file: BlobFile
  readonly #said: Footer
  /** Checksums of blocks from this one on. */
  #sums: { readonly first: number; readonly crcs: Buffer } = { first: 0, crcs: NO_BYTES }

  constructor(file: BlobFile, said: Footer) {
    this.file = file
    this.#said = said
    this.sizeBytes = said.sizeBytes
    this.storedBytes = said.packed?.storedBytes ?? said.sizeBytes
    if (said.sums !== undefined) this.crc = said.sums.crc
  }

  async label(): Promise<Uint8Array> {
    const label = await this.file.bytes(this.#said.labelAt, this.#said.labelBytes)
    if (!this.#said.isLabel(label)) throw damaged(this.file.path, 'flipped')
    return label
  }

  async read(start: number, length: number, into?: Buffer): Promise<Buffer> {
    if (start < 0 || length < 0 || start + length > this.sizeBytes) {
      throw new RangeError(`Bytes ${start} to ${start + length} are not within a blob of ${this.sizeBytes} bytes.`)
    }
    return length === 0 ? NO_BYTES : this.content(start, length, into)
  }

  protected content(start: number, length: number, into?: Buffer): Promise<Buffer> {
    return this.verified({ at: 0, bytes: this.sizeBytes }, { start, length, into })
  }

  /** Bytes from a stretch of the file that is stored as it is. Whole blocks are read, and verified. */
  protected async verified(stored: { at: number; bytes: number }, { start, length, into }: Wanted): Promise<Buffer> {
    if (this.#said.sums === undefined) return this.file.bytes(stored.at + start, length, into)
    const first = Math.floor(start / BLOCK_BYTES)
    const end = Math.min(stored.bytes, Math.ceil((start + length) / BLOCK_BYTES) * BLOCK_BYTES)
    const from = first * BLOCK_BYTES
    const bytes = await this.file.bytes(stored.at + from, end - from, into)
    if (stored.bytes <= BLOCK_BYTES && this.#said.packed === undefined) {
      if (crc32(bytes) !== this.crc) throw damaged(this.file.path, 'flipped')
    } else {
      const crcs = await this.#crcs(first, Math.ceil(bytes.length / BLOCK_BYTES), Math.ceil(stored.bytes / BLOCK_BYTES))
      for (let n = 0; n * BLOCK_BYTES < bytes.length; n++) {
        const block = bytes.subarray(n * BLOCK_BYTES, (n + 1) * BLOCK_BYTES)
        if (crc32(block) !== crcs.readUInt32BE(n * CRC_BYTES)) throw damaged(this.file.path, 'flipped')
      }
    }
    return bytes.subarray(start - from, start - from + length)
  }

  /** The part of the table that begins with the checksum of a block, and has at least so many. */
  async #crcs(first: number, count: number, blocks: number): Promise<Buffer> {
    const { first: known, crcs } = this.#sums
    const skip = (first - known) * CRC_BYTES
    if (skip >= 0 && skip + count * CRC_BYTES <= crcs.length) return crcs.subarray(skip)
    const wanted = Math.min(blocks - first, Math.max(count, SUMS_AT_ONCE))
    const tableAt = this.#said.sums?.tableAt ?? 0
    const read = await this.file.bytes(tableAt + first * CRC_BYTES, wanted * CRC_BYTES)
    this.#sums = { first, crcs: read }
    return read
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
    if (at < end) {
      const rest = { at: index.restAt, bytes: this.sizeBytes - index.chunkedBytes }
      parts.push(await this.verified(rest, { start: at - index.chunkedBytes, length: end - at }))
    }
    const [only = Buffer.alloc(0)] = parts
    return parts.length > 1 ? Buffer.concat(parts, length) : only
  }

  async #readIndex(): Promise<Index> {
    const length = indexBytes(this.#packed)
    const at = this.storedBytes - length
    const index = at < 0 ? undefined : readIndex(await this.file.bytes(at, length), this.sizeBytes, this.#packed)
    if (index === undefined) throw damaged(this.file.path, 'flipped')
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
      if (content === undefined) throw damaged(this.file.path, 'flipped')
      contents.push(content)
      this.#last = { n: first + contents.length - 1, content }
    }
    return contents
  }
}

async function readExactly(
  file: OpenFile,
  path: string,
  start: number,
  length: number,
  into?: Buffer,
): Promise<Buffer> {
  const buffer = into !== undefined && into.length >= length ? into.subarray(0, length) : Buffer.allocUnsafe(length)
  if ((await file.fill(buffer, start)) < length) throw damaged(path, 'truncated')
  return buffer
}

const NO_BYTES = Buffer.alloc(0)

function damaged(path: string, damage: FileDamage): VolumesFailure {
  const how = damage === 'truncated' ? 'is cut short, or was never finished' : 'is damaged: a checksum does not fit'
  return new VolumesFailure('damaged', `Blob ${path} ${how}.`, { damage })
}

/** There is no footer. */
function unreadable(path: string, tail: Buffer): VolumesFailure {
  const format = laterFormat(tail)
  if (format === undefined) return damaged(path, 'truncated')
  const message = `Blob ${path} has format ${format}, which this release does not know. Start the release that wrote it.`
  return new VolumesFailure('damaged', message, { damage: 'flipped' })
}
