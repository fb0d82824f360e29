import { readBytes } from './limits.ts'

/** What is lent when the large ones are all under way: whole blocks, which is what checksums are of. */
export const smallBytes = 64 * 1024
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
  /** Large ones that there are, lent or free. */
  #large = 0
  readonly #forgotten = new FinalizationRegistry<undefined>(() => this.#large--)

  constructor(bytesMax = lentBytesMax) {
    this.#largeMax = Math.max(1, Math.floor(bytesMax / readBytes))
  }

  /** All large ones are lent: who reads ahead should not. */
  get isShort(): boolean {
    return this.#free.length === 0 && this.#large >= this.#largeMax
  }

  /** A buffer of `readBytes`, or else of `smallBytes`, with anything in it. */
  take(): Buffer {
    if (this.isShort) return Buffer.allocUnsafeSlow(smallBytes)
    const buffer = this.#free.pop() ?? this.#make()
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

  #make(): Buffer {
    const buffer = Buffer.allocUnsafeSlow(readBytes)
    this.#large++
    this.#forgotten.register(buffer.buffer, undefined)
    return buffer
  }
}
