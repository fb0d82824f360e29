import { readBytes } from './limits.ts'

/** What is lent when the large ones are all under way: whole blocks, which is what checksums are of. */
export const smallBytes = 64 * 1024
/** What is gathered of a body at most: to write it directly costs the same for many bytes as for few. */
const bodyBytes = 512 * 1024
/** For a process that has the machine to itself, as in tests: with 256 KiB each, 64. */
const lentBytesMax = 16 * 2 ** 20

/**
 * Buffers for the pieces of answers. To make a new one for each piece costs more than to read it: the system has to give
 * empty pages for it, and the collector to find out that nobody has it any more.
 *
 * A bound on what is lent holds however slowly clients read. Nobody waits for it, as who has a buffer may be a client that
 * has stalled: beyond it buffers are small, and new.
 *
 * Whoever does not give a buffer back does no harm: it is forgotten as any other.
 */
export class PieceBuffers {
  readonly #free: Buffer[] = []
  readonly #lent = new WeakSet<ArrayBufferLike>()
  readonly #largeMax: number
  readonly #pieceBytes: number
  readonly #make: (bytes: number) => ArrayBuffer
  /** Large ones that there are, lent or free. */
  #large = 0
  readonly #forgotten = new FinalizationRegistry<undefined>(() => this.#large--)

  constructor(bytesMax = lentBytesMax, pieceBytes = readBytes, make: (bytes: number) => ArrayBuffer = plain) {
    this.#largeMax = Math.max(1, Math.floor(bytesMax / pieceBytes))
    this.#pieceBytes = pieceBytes
    this.#make = make
  }

  /** For bodies that come: a file can be written from these without a copy in the system's cache. */
  static forBodies(bytesMax?: number): PieceBuffers {
    return new PieceBuffers(bytesMax, bodyBytes, atPages)
  }

  /** All large ones are lent: who reads ahead should not. */
  get isShort(): boolean {
    return this.#free.length === 0 && this.#large >= this.#largeMax
  }

  /** A large buffer, or else one of `smallBytes`, with anything in it. */
  take(): Buffer {
    if (this.isShort) return Buffer.allocUnsafeSlow(smallBytes)
    const buffer = this.#free.pop() ?? this.#another()
    this.#lent.add(buffer.buffer)
    return buffer
  }

  /** Takes back the buffer that these bytes are a part of, which nobody may use any more. Others are left alone. */
  giveBack({ buffer }: Buffer): void {
    if (this.#lent.delete(buffer)) this.#free.push(Buffer.from(buffer))
  }

  /** Lets go of those that nobody has. */
  trim(): void {
    this.#free.length = 0
  }

  #another(): Buffer {
    const buffer = this.#make(this.#pieceBytes)
    this.#large++
    this.#forgotten.register(buffer, undefined)
    return Buffer.from(buffer)
  }
}

const plain = (bytes: number): ArrayBuffer => Buffer.allocUnsafeSlow(bytes).buffer

/** Memory that could grow begins at a page. */
const atPages = (bytes: number): ArrayBuffer => new ArrayBuffer(bytes, { maxByteLength: bytes })
