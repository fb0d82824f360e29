/** One blob of a pack, while it is written and when it is read: all of it is in memory then, as it is small. */
import { promisify } from 'node:util'
import { constants, crc32, zstdCompress, zstdDecompressSync } from 'node:zlib'
import { VolumesFailure } from '../../../ports/volumes.ts'
import type { BlobReader, BlobWriter, Committed } from '../../../ports/volumes.ts'
import { volumesFailure } from '../failures.ts'
import { LABEL_BYTES_MAX } from '../footer.ts'
import { recordHead } from './record.ts'
import type { RecordHeader } from './record.ts'

const compress = promisify(zstdCompress)
const LEVEL = 3

/** Appends a record with this head and these stored bytes, and gives its name once it is durable. */
export type Append = (head: Buffer, stored: Uint8Array) => Promise<string>

export class PackBlobWriter implements BlobWriter {
  readonly #bytes: Buffer
  readonly #append: Append
  readonly #isCompressed: boolean
  #sizeBytes = 0
  #hasEnded = false

  constructor(sizeBytes: number, append: Append, how: { readonly isCompressed: boolean }) {
    this.#bytes = Buffer.allocUnsafe(sizeBytes)
    this.#append = append
    this.#isCompressed = how.isCompressed
  }

  async write(chunk: Uint8Array, spent?: () => void): Promise<void> {
    this.#mustBeOpen()
    if (this.#sizeBytes + chunk.length > this.#bytes.length) {
      throw new RangeError(`A blob of ${this.#bytes.length} bytes was given more than those.`)
    }
    this.#bytes.set(chunk, this.#sizeBytes)
    this.#sizeBytes += chunk.length
    spent?.()
  }

  async commit(label: Uint8Array): Promise<Committed> {
    this.#mustBeOpen()
    if (label.length > LABEL_BYTES_MAX) throw new RangeError(`A label has at most ${LABEL_BYTES_MAX} bytes.`)
    this.#hasEnded = true
    try {
      const bytes = this.#bytes.subarray(0, this.#sizeBytes)
      const crc = crc32(bytes)
      const frame = this.#isCompressed ? await frameOf(bytes) : undefined
      const stored = frame ?? bytes
      const draft = {
        isFrame: frame !== undefined,
        sizeBytes: bytes.length,
        storedBytes: stored.length,
        crc,
      }
      const blob = await this.#append(recordHead(label, draft), stored)
      return { blob, storedBytes: stored.length, crc }
    } catch (failure) {
      throw volumesFailure(failure, 'A blob for a pack')
    }
  }

  async abort(): Promise<void> {
    this.#hasEnded = true
  }

  #mustBeOpen(): void {
    if (this.#hasEnded) throw new VolumesFailure('io', 'The blob was ended or given up before.')
  }
}

export class PackBlobReader implements BlobReader {
  readonly sizeBytes: number
  readonly crc: number
  readonly storedBytes: number
  readonly #label: Buffer
  readonly #content: Buffer

  constructor(header: RecordHeader, label: Buffer, content: Buffer) {
    this.sizeBytes = content.length
    this.crc = header.crc
    this.storedBytes = header.storedBytes
    this.#label = label
    this.#content = content
  }

  async label(): Promise<Uint8Array> {
    return this.#label
  }

  async read(start: number, length: number): Promise<Buffer> {
    if (start < 0 || length < 0 || start + length > this.sizeBytes) {
      throw new RangeError(`Bytes ${start} to ${start + length} are not within a blob of ${this.sizeBytes} bytes.`)
    }
    return this.#content.subarray(start, start + length)
  }

  async close(): Promise<void> {}
}

/** The reader of a record that is whole in these bytes. Nothing when it is damaged. */
export function readRecord(bytes: Buffer, header: RecordHeader): PackBlobReader | undefined {
  const { labelAt, labelBytes, storedAt } = header
  const label = bytes.subarray(labelAt, labelAt + labelBytes)
  const stored = bytes.subarray(storedAt, header.bytes)
  if (crc32(bytes.subarray(labelAt, storedAt)) !== header.labelCrc) return undefined
  const content = header.isFrame ? unframed(stored, header.sizeBytes) : stored
  if (content?.length !== header.sizeBytes || crc32(content) !== header.crc) return undefined
  return new PackBlobReader(header, label, content)
}

/** Nothing where it would not save an eighth. */
async function frameOf(bytes: Buffer): Promise<Buffer | undefined> {
  if (bytes.length === 0) return undefined
  const frame = await compress(bytes, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } })
  return frame.length <= bytes.length - bytes.length / 8 ? frame : undefined
}

function unframed(stored: Buffer, sizeBytes: number): Buffer | undefined {
  try {
    return zstdDecompressSync(stored, { chunkSize: Math.max(64, sizeBytes), maxOutputLength: Math.max(1, sizeBytes) })
  } catch {
    return undefined
  }
}
