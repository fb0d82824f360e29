/** Where a catalog sends its commits: to a writer in this process, or over a socket to the writer process. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { CatalogUnavailable } from '../../ports/catalog.ts'
import type { Change, Outcome } from '../../ports/catalog.ts'
import { Turns } from './turns.ts'
import { FrameReader, frame, readAnswer, writeCommit } from './wire.ts'
import type { Settled, Writer } from './writer.ts'

export interface Committer {
  commit(changes: readonly Change[]): Promise<readonly Outcome[]>
  /** Settles what was sent, then lets go. */
  close(): Promise<void>
}

/** For programs that only read. */
export class NoCommitter implements Committer {
  commit(): Promise<readonly Outcome[]> {
    return Promise.reject(new CatalogUnavailable('The catalog is open for reading alone.'))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

export class LocalCommitter implements Committer {
  readonly #turns: Turns
  #closed = false

  constructor(writer: Writer) {
    this.#turns = new Turns(writer)
  }

  commit(changes: readonly Change[]): Promise<readonly Outcome[]> {
    if (this.#closed) return Promise.reject(new CatalogUnavailable('The catalog is closed.'))
    const { promise, resolve, reject } = Promise.withResolvers<readonly Outcome[]>()
    const settle = (settled: Settled) => (settled instanceof Error ? reject(settled) : resolve(settled))
    this.#turns.add({ changes, bytes: 0, settle })
    return promise
  }

  close(): Promise<void> {
    this.#closed = true
    this.#turns.drain()
    return Promise.resolve()
  }
}

/** How long a commit waits for the writer to come back, before it was sent. */
export const RECONNECT_WAIT_MS = 10_000
/** How long a commit that was sent waits for its answer. */
export const ANSWER_WAIT_MS = 60_000
/** Commits sent or waiting; more are turned away. */
export const PENDING_MAX = 10_000
const BACKOFF_MS = [5, 10, 20, 50, 100, 200, 500]
const TIMER_MS = 250

interface Pending {
  readonly id: number
  readonly bytes: Buffer
  readonly resolve: (outcomes: readonly Outcome[]) => void
  readonly reject: (failure: Error) => void
  deadlineMs: number
}

export class SocketCommitter implements Committer {
  readonly #path: string
  /** In the order they were sent on this connection. */
  readonly #sent = new Map<number, Pending>()
  #unsent: Pending[] = []
  #socket: Socket | undefined
  #connected = false
  #sending = false
  #attempts = 0
  #nextId = 1
  #timer: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #closing: (() => void) | undefined
  #closed = false
  #ending = false

  /** The path may be relative to the working directory, to stay below the 107 bytes that a socket's address may have. */
  constructor(path: string) {
    this.#path = path
    this.#connect()
  }

  commit(changes: readonly Change[]): Promise<readonly Outcome[]> {
    if (this.#closed) return Promise.reject(new CatalogUnavailable('The catalog is closed.'))
    if (this.#sent.size + this.#unsent.length >= PENDING_MAX) {
      return Promise.reject(new CatalogUnavailable('The catalog has too many commits waiting.'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<readonly Outcome[]>()
    const id = this.#nextId
    this.#nextId = (id % 0xffff_ffff) + 1
    try {
      const bytes = frame(id, writeCommit(changes))
      this.#unsent.push({ id, bytes, resolve, reject, deadlineMs: performance.now() + RECONNECT_WAIT_MS })
    } catch (failure) {
      reject(failure instanceof Error ? failure : new Error(String(failure)))
      return promise
    }
    this.#watch()
    // All commits of this turn of the event loop go out in one write.
    if (!this.#sending) {
      this.#sending = true
      setImmediate(() => this.#send())
    }
    return promise
  }

  close(): Promise<void> {
    this.#closed = true
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#closing = resolve
    this.#endWhenSettled()
    return promise
  }

  #connect(): void {
    const frames = new FrameReader()
    const socket = connect(this.#path)
    this.#socket = socket
    socket.on('connect', () => {
      this.#connected = true
      this.#attempts = 0
      this.#send()
    })
    socket.on('data', (piece) => {
      try {
        for (const { id, body } of frames.push(piece)) this.#answer(id, readAnswer(body))
      } catch (failure) {
        socket.destroy(failure instanceof Error ? failure : new Error(String(failure)))
      }
    })
    // What matters is that it closed; 'close' follows every error.
    socket.on('error', () => {})
    socket.on('close', () => this.#lost())
  }

  #send(): void {
    this.#sending = false
    const socket = this.#socket
    if (!this.#connected || socket === undefined || this.#unsent.length === 0) return
    const answerBy = performance.now() + ANSWER_WAIT_MS
    for (const pending of this.#unsent) {
      pending.deadlineMs = answerBy
      this.#sent.set(pending.id, pending)
    }
    socket.write(Buffer.concat(this.#unsent.map(({ bytes }) => bytes)))
    this.#unsent = []
  }

  #answer(id: number, settled: Settled): void {
    const pending = this.#sent.get(id)
    if (pending === undefined) return
    this.#sent.delete(id)
    if (settled instanceof Error) pending.reject(settled)
    else pending.resolve(settled)
    this.#endWhenSettled()
  }

  /** What was sent may have been done or not; what was not sent waits for the next connection. */
  #lost(): void {
    this.#connected = false
    this.#socket = undefined
    const lost = [...this.#sent.values()]
    this.#sent.clear()
    for (const { reject } of lost) reject(new CatalogUnavailable('The connection to the catalog writer was lost.'))
    if (this.#endWhenSettled()) return
    this.#retry = setTimeout(() => this.#connect(), BACKOFF_MS[Math.min(this.#attempts++, BACKOFF_MS.length - 1)])
  }

  /** Turns away commits whose time is up. One timer for all, only while there are any. */
  #watch(): void {
    this.#timer ??= setInterval(() => {
      const now = performance.now()
      for (const pending of this.#sent.values()) {
        if (pending.deadlineMs > now) break
        this.#sent.delete(pending.id)
        pending.reject(new CatalogUnavailable('The catalog writer did not answer in time.'))
      }
      while (this.#unsent[0] !== undefined && this.#unsent[0].deadlineMs <= now) {
        this.#unsent.shift()?.reject(new CatalogUnavailable('The catalog writer cannot be reached.'))
      }
      this.#endWhenSettled()
      if (this.#sent.size + this.#unsent.length > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }, TIMER_MS)
  }

  /** Whether it is over: closed, and nothing waits for an answer. */
  #endWhenSettled(): boolean {
    if (this.#closing === undefined || this.#sent.size + this.#unsent.length > 0) return false
    clearInterval(this.#timer)
    clearTimeout(this.#retry)
    const done = this.#closing
    if (this.#socket === undefined) {
      done()
    } else if (!this.#ending) {
      this.#ending = true
      this.#socket.once('close', () => done())
      this.#socket.destroySoon()
    }
    return true
  }
}
