/**
 * How the bytes of a blob are stored in less than they are. They are cut into chunks of 64 KiB, and each is a frame of
 * zstd, or as it is where a frame would not be smaller. So a range costs the chunks it touches and no others. Behind the
 * frames may be bytes as they are, without chunks, and then comes the index: for each chunk 4 bytes with the length of
 * what is stored, and 4 with its crc.
 *
 *     frame 0 | frame 1 | chunk 2 as it is | … | the rest as it is | 8 * chunks: index
 *
 * What does not shrink costs little: when the chunks so far have shrunk by less than an eighth, the rest is stored as it
 * is, and nobody tries any more. If that is so of the first chunk, the blob is a plain one. Bytes that are stored as they
 * are behind the frames, or all of them, are verified by the table of blocks of the footer.
 *
 * Frames are made by the threads of zlib. They are read on the event loop, one in a turn: to read one takes about a tenth of
 * a millisecond, and to have it read by a thread takes the loop longer than that (measured with Node.js 24).
 */
import { promisify } from 'node:util'
import { constants, crc32, zstdCompress, zstdDecompressSync } from 'node:zlib'
import { BlockSums } from './block-sums.ts'
import { joinedCrc } from './crc.ts'
import { BLOCK_BYTES } from './footer.ts'
import type { Packed } from './footer.ts'

export const CHUNK_BYTES = BLOCK_BYTES
/** So an index has at most 1 MiB. What is behind so many chunks (8 GiB) is stored as it is. */
export const CHUNKS_MAX = 131_072
const ENTRY_BYTES = 8
/** Frames of one blob that are made at the same time while a client waits for it. */
const AT_ONCE = 4
/** File systems give space in blocks. To save less than one is to save nothing. */
const SAVED_BYTES_MIN = 4096
const LEVEL = 3

const compress = promisify(zstdCompress)

/** Whether to have stored content in so many bytes was worth it. */
function isWorthIt(contentBytes: number, storedBytes: number): boolean {
  const saved = contentBytes - storedBytes
  return saved >= contentBytes / 8 && saved >= SAVED_BYTES_MIN
}

interface PackedEnd {
  readonly bytes: readonly Uint8Array[]
  readonly packed?: Packed
  /** Of the bytes that are stored as they are. */
  readonly rest: BlockSums
  /** Of all bytes of the blob. */
  readonly crc: number
}

/** Packs the bytes of one blob as they come. What it gives is to be written in order. */
export class Packer {
  readonly #atOnce: number
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  readonly #index: number[] = []
  #chunkedBytes = 0
  /** Of the content of the chunks. */
  #chunkedCrc = 0
  #frameBytes = 0
  readonly #rest = new BlockSums()
  #gaveUp = false

  /** With 1, it never takes more than one core. */
  constructor(atOnce = AT_ONCE) {
    this.#atOnce = atOnce
  }

  /** Nothing was packed, and nothing will be. */
  get isPlain(): boolean {
    return this.#gaveUp && this.#chunkedBytes === 0
  }

  /** The memory of the bytes given may be among what is returned; nothing of it is kept. */
  async add(bytes: Uint8Array): Promise<Uint8Array[]> {
    if (this.#gaveUp) return this.#asItIs(bytes)
    const missing = CHUNK_BYTES - this.#gatheredBytes
    if (bytes.length < missing) {
      this.#gather(bytes)
      return []
    }
    const out: Uint8Array[] = []
    let rest = bytes
    if (this.#gatheredBytes > 0) {
      rest = bytes.subarray(missing)
      out.push(...(await this.#pack([Buffer.concat([...this.#gathered, bytes.subarray(0, missing)])])))
      this.#gathered = []
      this.#gatheredBytes = 0
    }
    while (rest.length >= CHUNK_BYTES && !this.#gaveUp) {
      // The first chunk is tried alone: when it does not shrink, nothing else is tried.
      const chunks = chunksOf(rest, this.#chunkedBytes === 0 ? 1 : this.#atOnce)
      rest = rest.subarray(chunks.length * CHUNK_BYTES)
      out.push(...(await this.#pack(chunks)))
    }
    if (this.#gaveUp) return [...out, ...this.#asItIs(rest)]
    this.#gather(rest)
    return out
  }

  #gather(bytes: Uint8Array): void {
    this.#gathered.push(Uint8Array.from(bytes))
    this.#gatheredBytes += bytes.length
  }

  #asItIs(bytes: Uint8Array): Uint8Array[] {
    this.#rest.add(bytes)
    return bytes.length === 0 ? [] : [bytes]
  }

  /** What is still to be written, and how the blob is packed; nothing of that for one that is plain. */
  async end(): Promise<PackedEnd> {
    const last = Buffer.concat(this.#gathered)
    if (this.#chunkedBytes > 0) return this.#ended(last.length === 0 ? [] : await this.#pack([last]))
    const bytes = last.length <= SAVED_BYTES_MIN ? this.#asItIs(last) : await this.#pack([last])
    return this.#chunkedBytes === 0 ? { bytes, rest: this.#rest, crc: this.#rest.crc } : this.#ended(bytes)
  }

  #ended(bytes: readonly Uint8Array[]): PackedEnd {
    const index = Buffer.allocUnsafe(this.#index.length * 4)
    for (const [at, number] of this.#index.entries()) index.writeUInt32BE(number, at * 4)
    const rest = this.#rest
    const storedBytes = this.#frameBytes + rest.bytes + index.length
    const packed = { storedBytes, chunks: this.#index.length / 2, indexCrc: crc32(index) }
    return { bytes: [...bytes, index], packed, rest, crc: joinedCrc(this.#chunkedCrc, rest.crc, rest.bytes) }
  }

  async #pack(chunks: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const made = await frames(chunks)
    return chunks.flatMap((chunk, at) => {
      const frame = made[at] ?? chunk
      const stored = frame.length < chunk.length ? frame : chunk
      const entries = this.#index.length / 2 + 1
      this.#gaveUp ||=
        entries > CHUNKS_MAX ||
        !isWorthIt(this.#chunkedBytes + chunk.length, this.#frameBytes + stored.length + entries * ENTRY_BYTES)
      if (this.#gaveUp) return this.#asItIs(chunk)
      this.#index.push(stored.length, crc32(stored))
      this.#chunkedCrc = joinedCrc(this.#chunkedCrc, crc32(chunk), chunk.length)
      this.#chunkedBytes += chunk.length
      this.#frameBytes += stored.length
      return [stored]
    })
  }
}

/** Where the chunks of a packed blob are. Nothing when index and lengths do not belong together. */
export function readIndex(bytes: Buffer, sizeBytes: number, packed: Packed): Index | undefined {
  if (bytes.length !== packed.chunks * ENTRY_BYTES || crc32(bytes) !== packed.indexCrc) return undefined
  const index = new Index(bytes, sizeBytes)
  return index.endsAt === packed.storedBytes - bytes.length ? index : undefined
}

/** Bytes of the index, which ends where the label begins. */
export const indexBytes = ({ chunks }: Packed): number => chunks * ENTRY_BYTES

/** One chunk: where it is stored, and what it is once it is read. */
export interface Chunk {
  readonly at: number
  readonly storedBytes: number
  readonly contentBytes: number
  readonly crc: number
}

export class Index {
  readonly #bytes: Buffer
  readonly #sizeBytes: number
  /** Where each chunk is stored, and where the rest begins. */
  readonly #places: Float64Array

  constructor(bytes: Buffer, sizeBytes: number) {
    this.#bytes = bytes
    this.#sizeBytes = sizeBytes
    const chunks = bytes.length / ENTRY_BYTES
    this.#places = new Float64Array(chunks + 1)
    for (let n = 0; n < chunks; n++) {
      this.#places[n + 1] = (this.#places[n] ?? 0) + bytes.readUInt32BE(n * ENTRY_BYTES)
    }
  }

  /** Content that lies in chunks. The rest is stored as it is, behind them. */
  get chunkedBytes(): number {
    return Math.min(this.#sizeBytes, (this.#places.length - 1) * CHUNK_BYTES)
  }

  get restAt(): number {
    return this.#places.at(-1) ?? 0
  }

  get endsAt(): number {
    return this.restAt + this.#sizeBytes - this.chunkedBytes
  }

  chunk(n: number): Chunk {
    return {
      at: this.#places[n] ?? 0,
      storedBytes: this.#bytes.readUInt32BE(n * ENTRY_BYTES),
      contentBytes: Math.min(CHUNK_BYTES, this.#sizeBytes - n * CHUNK_BYTES),
      crc: this.#bytes.readUInt32BE(n * ENTRY_BYTES + 4),
    }
  }
}

/** The content of a chunk, or nothing when what is stored is damaged. */
export function unpack(stored: Buffer, { contentBytes, crc }: Chunk): Buffer | undefined {
  if (crc32(stored) !== crc) return undefined
  if (stored.length === contentBytes) return stored
  try {
    const content = zstdDecompressSync(stored, { chunkSize: CHUNK_BYTES, maxOutputLength: CHUNK_BYTES })
    return content.length === contentBytes ? content : undefined
  } catch {
    return undefined
  }
}

/** At most so many whole chunks from the beginning of these bytes. */
function chunksOf(bytes: Uint8Array, most: number): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at + CHUNK_BYTES <= bytes.length && chunks.length < most; at += CHUNK_BYTES) {
    chunks.push(bytes.subarray(at, at + CHUNK_BYTES))
  }
  return chunks
}

function frames(chunks: readonly Uint8Array[]): Promise<Buffer[]> {
  const options = { params: { [constants.ZSTD_c_compressionLevel]: LEVEL }, chunkSize: CHUNK_BYTES }
  return Promise.all(chunks.map((chunk) => compress(chunk, options)))
}
