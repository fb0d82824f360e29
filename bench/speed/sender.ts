/**
 * The sender of the speed table: a process that plays all clients over bare sockets. It prepares an order first and tells
 * so; told to go, it sends. Each client has one connection and one request under way.
 */
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import type { SpeedLoad, SpeedOrder } from './order.ts'
import { prepare, type Prepared } from './requests.ts'

let order: SpeedOrder | undefined
let prepared: Prepared[] = []

process.on('disconnect', () => process.exit(0))
process.on('message', (message: SpeedOrder | 'go') => {
  if (message !== 'go') {
    order = message
    prepared = prepare(order)
    process.send?.({ load: undefined })
    return
  }
  if (order === undefined) return
  send(order, prepared).then(
    (load) => process.send?.({ load }),
    (failure: unknown) => process.send?.({ failure: String(failure) }),
  )
})

async function send({ base, clients, cycles }: SpeedOrder, requests: readonly Prepared[]): Promise<SpeedLoad> {
  const took = new Map<string, number[]>(requests.map(({ kind }) => [kind, []]))
  const total = requests.length * cycles
  let [next, failed, firstFailure, bytes] = [0, 0, '', 0]
  const url = new URL(base)
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(url)))
  const client = async (opened: Connection) => {
    let connection = opened
    while (next < total) {
      const request = requests[next++ % requests.length]
      if (request === undefined) break
      const sentMs = performance.now()
      if (connection.isClosed) connection = await Connection.open(url)
      const { status, bodyBytes, text } = await connection.send(request)
      took.get(request.kind)?.push(performance.now() - sentMs)
      bytes += bodyBytes + (request.body?.length ?? 0)
      if (status >= 200 && status < 300) continue
      failed++
      firstFailure ||= `${status} ${text}`
    }
    connection.end()
  }
  const guarded = async (connection: Connection) => {
    try {
      await client(connection)
    } catch (failure) {
      next = total
      connection.end()
      throw failure
    }
  }
  const used = process.cpuUsage()
  const startedMs = performance.now()
  // When one breaks the others end too: nothing may be sent any more when the next server is measured.
  const settled = await Promise.allSettled(connections.map(guarded))
  const broken = settled.find(({ status }) => status === 'rejected')
  if (broken?.status === 'rejected') throw broken.reason
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(used)
  const milliseconds = Object.fromEntries([...took].map(([kind, each]) => [kind, Float64Array.from(each)]))
  return { requests: total, failed, firstFailure, bytes, seconds, senderSeconds: (user + system) / 1e6, milliseconds }
}

interface Answer {
  readonly status: number
  readonly bodyBytes: number
  /** The beginning of the answer, where it is a failure. */
  readonly text: string
}

const HEAD_END = Buffer.from('\r\n\r\n')
/** The last chunk of a body that comes in chunks. No document that is listed has this within it. */
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')
const TEXT_BYTES_MAX = 1000
/** A server that hangs is not waited for. */
const SILENCE_MS = 60_000

/** Reads as much of HTTP as servers of objects write: a head, and a body whose length it says or that comes in chunks. */
class Connection {
  readonly #socket: Socket
  #waiting: PromiseWithResolvers<Answer> | undefined
  #isHead = false
  /** Of an answer whose head has not come whole, or whose body comes in chunks. */
  #pending: Buffer | undefined
  #answer: Answer | undefined
  #bytesLeft = 0
  #isChunked = false
  #isLast = false

  static open(url: URL): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const port = Number(url.port)
    const ready = () => resolve(new Connection(socket))
    const socket: Socket =
      url.protocol === 'https:'
        ? connectSecurely({ host: url.hostname, port, rejectUnauthorized: false }, ready)
        : connect({ host: url.hostname, port }, ready)
    socket.setNoDelay(true)
    socket.once('error', reject)
    return promise
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (piece: Buffer) => {
      try {
        this.#take(piece)
      } catch (failure) {
        this.#waiting?.reject(failure)
        this.end()
      }
    })
    socket.setTimeout(SILENCE_MS, () => {
      this.#waiting?.reject(new Error(`The server was silent for ${SILENCE_MS / 1000} s.`))
      socket.destroy()
    })
    socket.on('close', () => {
      this.#isLast = true
      this.#waiting?.reject(new Error('The server closed a connection.'))
    })
  }

  /** Whether the server takes no more requests on it. */
  get isClosed(): boolean {
    return this.#isLast
  }

  send({ head, body, isHead }: Prepared): Promise<Answer> {
    this.#waiting = Promise.withResolvers<Answer>()
    this.#isHead = isHead
    if (body !== undefined) this.#socket.cork()
    this.#socket.write(head)
    if (body !== undefined) {
      this.#socket.write(body)
      this.#socket.uncork()
    }
    return this.#waiting.promise
  }

  end(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    if (this.#answer === undefined) {
      const bytes = this.#pending === undefined ? piece : Buffer.concat([this.#pending, piece])
      const end = bytes.indexOf(HEAD_END)
      this.#pending = end < 0 ? bytes : undefined
      if (end < 0) return
      const bodyBytes = this.#readHead(bytes, end)
      // With the end of the head, as a body may be nothing but the last chunk.
      if (this.#isChunked) this.#pending = bytes.subarray(end + 2)
      else this.#bytesLeft = bodyBytes - (bytes.length - end - HEAD_END.length)
    } else if (this.#isChunked) this.#pending = Buffer.concat([this.#pending ?? Buffer.alloc(0), piece])
    else this.#bytesLeft -= piece.length
    const isWhole = this.#isChunked
      ? this.#pending?.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      : this.#bytesLeft <= 0
    if (isWhole !== true || this.#answer === undefined) return
    const answer = this.#isChunked ? { ...this.#answer, bodyBytes: this.#pending?.length ?? 0 } : this.#answer
    this.#pending = undefined
    this.#answer = undefined
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(answer)
  }

  /** Bytes of the body that follows, where it says so. */
  #readHead(bytes: Buffer, end: number): number {
    const head = bytes.toString('latin1', 0, end)
    const status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#isLast ||= /\r\nconnection: *close/i.test(head)
    this.#isChunked = !this.#isHead && length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
    if (length === undefined && status !== 204 && !this.#isHead && !this.#isChunked)
      throw new Error(`The answer does not say how long it is: ${head}`)
    const bodyBytes = this.#isHead ? 0 : Number(length ?? 0)
    this.#answer = { status, bodyBytes, text: status < 300 ? '' : bytes.toString('latin1', 0, TEXT_BYTES_MAX) }
    return bodyBytes
  }
}
