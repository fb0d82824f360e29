import { readBytes } from './limits.ts'

/** Buffers kept for the next reader: with 256 KiB each, 16 MiB. More than these are made and forgotten as needed. */
const keptMax = 64

/**
 * Buffers for the pieces of answers. To make a new one for each piece costs more than to read it: the system has to give
 * empty pages for it, and the collector to find out that nobody has it any more.
 *
 * Whoever does not give a buffer back does no harm: it is forgotten as any other.
 */
export class PieceBuffers {
  readonly #free: Buffer[] = []
  readonly #lent = new WeakSet<ArrayBufferLike>()

  /** A buffer of `readBytes`, with anything in it. */
  take(): Buffer {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(readBytes)
    this.#lent.add(buffer.buffer)
    return buffer
  }

  /** Takes back the buffer that these bytes are a part of, which nobody may use any more. Others are left alone. */
  giveBack({ buffer }: Buffer): void {
    if (this.#lent.delete(buffer) && this.#free.length < keptMax) this.#free.push(Buffer.from(buffer))
  }
}
