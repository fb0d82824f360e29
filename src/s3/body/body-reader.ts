/**
 * Takes the body of a request from its connection. Node reads 64 KiB at a time, or what there is, and every piece that
 * goes its own way through digests to the disk costs a few dozen promises and a trip to another thread. So what comes
 * until the end of a turn of the event loop is handed over together, in a buffer that is lent: the busier the process, the
 * more that is.
 *
 *     pieces   | 63 K | 64 K | 64 K | 40 K |           | 64 K | 9 K | end
 *     handed   |        192 K          |  rest of 39 K, and  73 K   |
 *
 * But for the end, blocks of 64 KiB are handed over, so that all are written where pages begin. A buffer is held while
 * there is more in it than that, and nothing is read while nobody asks: a client that stalls has less than a block here,
 * and no buffer. When all are lent, blocks are handed over as they come.
 */
import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers'
import type { PieceBuffers } from '../objects/piece-buffers.ts'

/** That of the checksums in files. */
const BLOCK_BYTES = 64 * 1024

export interface BodyReaderParts {
  /** Pieces are gathered in these. Whoever is done with what was handed over may give it back. */
  readonly buffers?: PieceBuffers | undefined
  /** Bytes that may come at most. When they are there, nothing is waited for. */
  readonly expectedBytes: number
  /** Called with the size of each piece when it comes. When it throws, the body fails with that. */
  readonly onPiece: (bytes: number) => void
}

export class BodyReader {
  readonly #request: IncomingMessage
  readonly #parts: BodyReaderParts
  #waiting: PromiseWithResolvers<Buffer | undefined> | undefined
  #failure: { readonly cause: unknown } | undefined
  #hasEnded: boolean
  #receivedBytes = 0
  /** What has come and is in no buffer that is lent. */
  #held: Buffer[] = []
  #heldBytes = 0
  #gathered: Buffer | undefined
  #gatheredBytes = 0
  #turn: NodeJS.Immediate | undefined

  constructor(request: IncomingMessage, parts: BodyReaderParts) {
    this.#request = request
    this.#parts = parts
    this.#hasEnded = request.readableEnded
    request.on('data', this.#take).on('end', this.#end).on('error', this.#fail).on('close', this.#close)
    if (request.destroyed) this.#close()
  }

  /** What has come, once there is something. Nothing at the end of the body. To be asked by one at a time. */
  next(): Promise<Buffer | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.cause)
    if (this.#hasEnded) return Promise.resolve(this.#handed())
    this.#waiting = Promise.withResolvers()
    if (this.#heldBytes > 0) this.#handOverSoon()
    this.#request.resume()
    return this.#waiting.promise
  }

  /** Leaves the rest of the body alone. */
  leave(): void {
    const request = this.#request
    request.off('data', this.#take).off('end', this.#end).off('error', this.#fail).off('close', this.#close)
    if (this.#turn !== undefined) clearImmediate(this.#turn)
    if (!this.#hasEnded) request.pause()
    if (this.#gathered !== undefined) this.#parts.buffers?.giveBack(this.#gathered)
    this.#gathered = undefined
  }

  readonly #take = (piece: Buffer): void => {
    try {
      this.#parts.onPiece(piece.length)
    } catch (failure) {
      return this.#fail(failure)
    }
    this.#receivedBytes += piece.length
    this.#add(piece)
    if (this.#isWhole || this.#isFull) this.#handOver()
    else this.#handOverSoon()
  }

  get #isWhole(): boolean {
    return this.#hasEnded || this.#receivedBytes >= this.#parts.expectedBytes
  }

  /** Nothing more has room. */
  get #isFull(): boolean {
    if (this.#gathered !== undefined) return this.#gatheredBytes === this.#gathered.length
    return this.#parts.buffers === undefined || this.#heldBytes > BLOCK_BYTES
  }

  /** Where more comes it is handed over by blocks. */
  get #isTooLittle(): boolean {
    const { buffers } = this.#parts
    return !this.#isWhole && buffers !== undefined && this.#gathered === undefined && this.#heldBytes < BLOCK_BYTES
  }

  #add(piece: Buffer): void {
    let rest = piece
    if (this.#gathered !== undefined) {
      const copied = piece.copy(this.#gathered, this.#gatheredBytes)
      this.#gatheredBytes += copied
      rest = piece.subarray(copied)
    }
    if (rest.length > 0) this.#held.push(rest)
    this.#heldBytes += rest.length
    const { buffers } = this.#parts
    if (this.#gathered !== undefined || this.#heldBytes <= BLOCK_BYTES || buffers?.isShort !== false) return
    this.#gathered = buffers.take()
    for (const held of this.#held) this.#gatheredBytes += held.copy(this.#gathered, this.#gatheredBytes)
    this.#hold()
  }

  #hold(rest?: Buffer): void {
    this.#held = rest === undefined ? [] : [rest]
    this.#heldBytes = rest?.length ?? 0
  }

  #handOverSoon(): void {
    this.#turn ??= setImmediate(() => this.#handOver())
  }

  #handOver(): void {
    if (this.#turn !== undefined) clearImmediate(this.#turn)
    this.#turn = undefined
    const waiting = this.#waiting
    if (waiting === undefined || this.#isTooLittle) return
    this.#waiting = undefined
    if (!this.#isWhole) this.#request.pause()
    waiting.resolve(this.#handed())
  }

  #handed(): Buffer | undefined {
    if (this.#gathered === undefined) {
      const [first] = this.#held
      const bytes = this.#held.length > 1 ? Buffer.concat(this.#held) : first
      this.#hold()
      return bytes
    }
    const gathered = this.#gathered.subarray(0, this.#gatheredBytes)
    this.#gathered = undefined
    this.#gatheredBytes = 0
    const restBytes = this.#isWhole ? 0 : gathered.length % BLOCK_BYTES
    if (restBytes === 0) return gathered
    this.#hold(Buffer.from(gathered.subarray(gathered.length - restBytes)))
    return gathered.subarray(0, gathered.length - restBytes)
  }

  readonly #end = (): void => {
    this.#hasEnded = true
    this.#handOver()
  }

  readonly #fail = (cause: unknown): void => {
    this.#failure ??= { cause }
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(this.#failure.cause)
  }

  /** Of a body that did not end. */
  readonly #close = (): void => {
    if (!this.#hasEnded) this.#fail(this.#request.errored ?? new Error('The connection was closed within a body.'))
  }
}
