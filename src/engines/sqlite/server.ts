/** The writer's end of the socket: takes commits of many connections, answers each when it is durable. */
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { extendedCode, WriterLock } from './lock.ts'
import { checkInside } from './catalog-check.ts'
import { checkOrAccept } from './log-check.ts'
import { LogMark } from './log-mark.ts'
import { Reserve } from './reserve.ts'
import { Turns } from './turns.ts'
import { FrameReader, frame, readCommit, writeAnswer } from './wire.ts'
import { Writer } from './writer.ts'
import type { Report, Settled } from './writer.ts'

/** With so many commits waiting the sockets are not read until there are fewer: clients wait where they are. */
const QUEUE_COMMITS_MAX = 1024
/** Of the processes of one cluster, each of which has one; a restarted one may be here before the old one is gone. */
const CONNECTIONS_MAX = 1024
/** A connection that lets so many bytes of answers lie is cut off. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024
/** How long a new writer waits for the old one to let go of the catalog. */
const LOCK_WAIT_MS = 2000

export interface WriterServerOptions {
  /** Pages of the catalog that the writing connection keeps. */
  readonly cacheKib?: number | undefined
  readonly report?: Report
  /** Goes on with a log that was cut short, without the commits that were in the rest. */
  readonly acceptsLoss?: boolean
  /** It was not this cluster's last writer that ended: the files may have been changed or damaged since. */
  readonly isFirst?: boolean
}

export class WriterServer {
  readonly #lock: WriterLock
  readonly #writer: Writer
  readonly #turns: Turns
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Answers of the batch in hand, by connection: they go out together. */
  readonly #answers = new Map<Socket, Buffer[]>()
  #paused = false

  /** All that was ever acknowledged is in the catalog. */
  readonly isProven: boolean
  /** It goes on without commits that were lost, as was accepted. */
  readonly hasLost: boolean

  constructor(
    file: string,
    { report = () => undefined, acceptsLoss = false, isFirst = false, cacheKib }: WriterServerOptions = {},
  ) {
    this.#lock = new WriterLock(file, LOCK_WAIT_MS)
    try {
      const log = checkOrAccept(file, acceptsLoss, report)
      const hasLost = log.hasLost || (isFirst && checkInside(file, acceptsLoss, report).hasLost)
      this.isProven = log.isProven && !hasLost
      this.hasLost = hasLost
      this.#writer = new Writer(file, { reserve: new Reserve(file), mark: new LogMark(file), report, cacheKib })
    } catch (failure) {
      this.#lock.release()
      if (extendedCode(failure) === undefined) throw failure
      throw new Error(
        `The catalog ${file} cannot be opened (${(failure as Error).message}). Restore a backup with "holdfast restore --move-aside".`,
        { cause: failure },
      )
    }
    this.#turns = new Turns(this.#writer, () => this.#afterBatch())
    this.#server = createServer((socket) => this.#serve(socket))
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  get transactions(): number {
    return this.#writer.transactions
  }

  /** Listens on a path. What lies there was left by a writer that is gone: only one holds the lock. */
  listen(path: string): Promise<void> {
    rmSync(path, { force: true })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen(path, () => {
      this.#server.off('error', reject)
      resolve()
    })
    return promise
  }

  #serve(socket: Socket): void {
    const frames = new FrameReader()
    this.#sockets.add(socket)
    if (this.#paused) socket.pause()
    socket.on('data', (piece) => {
      try {
        for (const { id, body } of frames.push(piece)) this.#take(socket, id, body)
      } catch {
        // It does not speak the format, so no answer would be understood.
        socket.destroy()
      }
      this.#pauseWhenFull()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.#answers.delete(socket)
    })
  }

  #take(socket: Socket, id: number, body: Buffer): void {
    this.#turns.add({
      changes: readCommit(body),
      bytes: body.length,
      settle: (settled) => this.#answer(socket, id, settled),
    })
  }

  #answer(socket: Socket, id: number, settled: Settled): void {
    if (socket.destroyed) return
    const answer = frame(id, writeAnswer(settled))
    const others = this.#answers.get(socket)
    if (others === undefined) this.#answers.set(socket, [answer])
    else others.push(answer)
  }

  #afterBatch(): void {
    for (const [socket, answers] of this.#answers) {
      socket.write(Buffer.concat(answers))
      if (socket.writableLength > UNREAD_BYTES_MAX) socket.destroy()
    }
    this.#answers.clear()
    if (this.#paused && this.#turns.length < QUEUE_COMMITS_MAX / 2) {
      this.#paused = false
      for (const socket of this.#sockets) socket.resume()
    }
  }

  #pauseWhenFull(): void {
    if (this.#paused || this.#turns.length < QUEUE_COMMITS_MAX) return
    this.#paused = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Settles what has arrived, answers it, and lets go of everything; the lock last. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#turns.drain()
    for (const socket of this.#sockets) socket.destroySoon()
    await promise
    this.#writer.close()
    this.#lock.release()
  }
}
