import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../ports/system.ts'
import { linger } from '../../wire/linger.ts'
import { BodyReader } from '../body/body-reader.ts'
import type { BytesToSend } from './call.ts'
import { s3Error } from '../errors.ts'
import type { PieceBuffers } from '../objects/piece-buffers.ts'
import type { Pace } from '../qos/pace.ts'
import type { Transfers } from '../body/transfers.ts'

/** A connection on which no byte moves for so long is given up, unless it waits for us. */
export const idleMs = 60_000
/** Of a body that is wanted, so much has to come in `idleMs`: a byte now and then is silence too. */
export const bodyBytesMin = 256
/** Of a body that nobody wants, so much is read and thrown away to keep the connection, for no longer than `idleMs`. */
export const drainBytesMax = 1024 * 1024

/** What a client is told that sends nothing, or next to nothing. */
export const silence = s3Error('RequestTimeout', { headers: { Connection: 'close' } })

const ignore = (): void => {}

/** One request and its answer on the wire: what to do with the body and the connection, whatever they are about. */
export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  bytesReceived = 0
  /** Set once the request is known to be about a bucket. */
  pace: Pace | undefined
  bytesSent = 0
  /** How often receiving stopped because the client was faster. */
  pauses = 0
  /** How often sending stopped because the client was slower. */
  waitsForReader = 0
  /** Set when the connection is to close, because the listener does. */
  readonly #isClosing: () => boolean
  readonly #clock: Clock
  readonly #transfers: Transfers
  #awaitsContinue: boolean
  #timedOut = false
  /** What of the client we wait for. While it is nothing, the silence is ours: a disk, a ceiling, a commit. */
  #awaits: 'body' | 'reader' | undefined
  /** How slowly the body comes: so long was waited for these bytes, since enough had come. */
  readonly #slow = { waitedMs: 0, bytes: 0 }

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    options: {
      readonly clock: Clock
      readonly transfers: Transfers
      readonly awaitsContinue: boolean
      readonly isClosing: () => boolean
      /** Answers a client whose body stopped coming, before its connection is ended. */
      readonly onSilence: () => Promise<void>
    },
  ) {
    this.request = request
    this.response = response
    this.#awaitsContinue = options.awaitsContinue
    this.#isClosing = options.isClosing
    this.#clock = options.clock
    this.#transfers = options.transfers
    // Of a body that has stopped coming. Whoever waits for its next piece learns it by the end of the connection.
    request.on('timeout', () => {
      if (this.#awaits !== 'body' && !response.writableEnded) return this.#keepOn()
      this.#timedOut = true
      void options.onSilence().finally(() => request.destroy())
    })
    response.on('timeout', () => {
      if (this.#awaits !== 'reader' && !response.writableEnded) return this.#keepOn()
      response.destroy()
    })
    // The answer may have begun before the listener was to close, and so could not say it.
    response.on('finish', () => {
      if (options.isClosing()) request.socket.destroySoon()
    })
    // Failures of the connection are met where it is used.
    request.on('error', ignore)
    response.on('error', ignore)
  }

  /**
   * The bytes of the body as they travelled. A client that waits for `100 Continue` gets it with the first look. With
   * `buffers`, pieces may lie in these: who is done with a piece gives it back.
   */
  async *body(buffers?: PieceBuffers): AsyncGenerator<Buffer> {
    const transfers = this.#transfers
    const rest = this.#bodyRest()
    const close = transfers.open(rest)
    if (this.#awaitsContinue) {
      this.#awaitsContinue = false
      this.response.writeContinue()
    }
    const { request } = this
    let sinceMs = this.#clock.elapsed()
    const reader = new BodyReader(request, {
      buffers,
      expectedBytes: rest,
      onPiece: (bytes) => {
        this.bytesReceived += bytes
        const nowMs = this.#clock.elapsed()
        this.#insistOnSpeed(bytes, nowMs - sinceMs)
        sinceMs = nowMs
      },
    })
    try {
      for (;;) {
        this.#await('body')
        sinceMs = this.#clock.elapsed()
        const piece = await reader.next()
        this.#await(undefined)
        if (piece === undefined) break
        if (request.readableLength >= request.readableHighWaterMark) this.pauses++
        if (this.pace !== undefined) await this.pace.bytes(piece.length)
        transfers.moved(piece.length)
        if (!transfers.tryTurn()) await transfers.turn()
        try {
          yield piece
        } finally {
          transfers.endTurn()
        }
      }
    } catch (failure) {
      if (this.#timedOut) throw silence
      throw s3Error('IncompleteBody', { cause: failure })
    } finally {
      reader.leave()
      this.#await(undefined)
      close()
    }
  }

  #insistOnSpeed(bytes: number, waitedMs: number): void {
    const slow = this.#slow
    slow.bytes += bytes
    slow.waitedMs += waitedMs
    if (slow.bytes >= bodyBytesMin) Object.assign(slow, { waitedMs: 0, bytes: 0 })
    else if (slow.waitedMs > (this.request.socket.timeout ?? idleMs)) {
      this.#timedOut = true
      throw silence
    }
  }

  /**
   * Whether there is still somebody to answer. The answer has no socket of its own while the one before it is being ended,
   * which a client that has all bytes of that one does not wait for.
   */
  get isOpen(): boolean {
    return !this.response.destroyed && this.request.socket.writable
  }

  /** Sends an answer whole. Text, a buffer and no body at all take one write. Adds to the headers. */
  async send(
    status: number,
    headers: Record<string, string | number>,
    body: string | Buffer | BytesToSend | undefined,
  ): Promise<void> {
    const bytes = isDocument(body) ? undefined : body?.bytes
    if (!this.isOpen) {
      // Nobody takes them: whoever has them ready lets go of them.
      await bytes?.return?.()
      return
    }
    let close: (() => void) | undefined
    try {
      if (!isDocument(body) && bytes !== undefined) close = this.#transfers.open(body?.sizeBytes ?? 0)
    } catch (failure) {
      await bytes?.return?.()
      throw failure
    }
    try {
      await this.#send(status, headers, body)
    } finally {
      close?.()
    }
  }

  async #send(
    status: number,
    headers: Record<string, string | number>,
    body: string | Buffer | BytesToSend | undefined,
  ): Promise<void> {
    const { response } = this
    const document = typeof body === 'string' ? Buffer.from(body) : Buffer.isBuffer(body) ? body : undefined
    const content = isDocument(body) ? undefined : body
    const rest = this.#bodyRest()
    const closes = this.#isClosing() || this.#awaitsContinue || rest > drainBytesMax
    const hasBody = status !== 204 && status !== 304
    if (hasBody) headers['Content-Length'] = document?.length ?? content?.sizeBytes ?? 0
    if (closes) headers['Connection'] = 'close'
    response.writeHead(status, headers)
    const isHead = this.request.method === 'HEAD'
    if (content?.bytes !== undefined && !isHead) await this.#sendBytes(content.bytes, content)
    else if (document !== undefined && hasBody && !isHead) response.write(document)
    else if (closes) response.flushHeaders()
    if (closes && !this.#awaitsContinue && rest > drainBytesMax) await linger(this.request, this.#clock)
    // Of a body that was begun to be read, Node does not throw away the rest: the next request would wait behind it.
    if (!closes && rest > 0) this.#drain()
    response.end()
  }

  /** Reads the rest of a body that nobody wants. */
  #drain(): void {
    const { request } = this
    request.resume()
    const done = new AbortController()
    for (const event of ['end', 'close']) request.once(event, () => done.abort())
    void this.#clock.sleep(request.socket.timeout ?? idleMs, done.signal).then(() => {
      if (!request.complete) request.socket.destroy()
    })
  }

  async #sendBytes(bytes: AsyncIterable<Buffer>, { sizeBytes, spent }: BytesToSend): Promise<void> {
    const { response } = this
    for await (const piece of bytes) {
      await this.pace?.bytes(piece.length)
      if (!this.isOpen) return
      this.bytesSent += piece.length
      // The last piece ends the answer, so that a small object travels in one packet with its headers.
      if (this.bytesSent === sizeBytes) response.end(piece, () => spent?.(piece))
      else if (!response.write(piece, (failure) => (failure ? undefined : spent?.(piece)))) await this.#drained()
    }
    // Fewer than were announced must not look whole.
    if (this.bytesSent < sizeBytes) response.destroy()
  }

  /** Waits until the client has taken what it was sent, or is gone. */
  async #drained(): Promise<void> {
    const { response } = this
    if (!response.writableNeedDrain || response.destroyed) return
    this.waitsForReader++
    this.#await('reader')
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done)
        resolve()
      }
      response.on('drain', done).on('close', done)
    })
    this.#await(undefined)
  }

  #await(what: 'body' | 'reader' | undefined): void {
    this.#awaits = what
    this.pace?.waitsForClient(what !== undefined)
  }

  /** Has the silence measured anew: Node does it once, until bytes move again. */
  #keepOn(): void {
    const { socket } = this.request
    socket.setTimeout(socket.timeout ?? idleMs)
  }

  /** How much of the body may still come: unknown is endless. */
  #bodyRest(): number {
    const { request } = this
    if (request.complete) return 0
    if (request.headers['transfer-encoding'] !== undefined) return Infinity
    return Number(request.headers['content-length'] ?? 0) - this.bytesReceived
  }
}

function isDocument(body: string | Buffer | BytesToSend | undefined): body is string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body)
}
