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

async function send({ base, clients }: SpeedOrder, requests: readonly Prepared[]): Promise<SpeedLoad> {
  const milliseconds: number[] = []
  let [next, failed, firstFailure, bytes] = [0, 0, '', 0]
  const url = new URL(base)
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(url)))
  const client = async (connection: Connection) => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const sentMs = performance.now()
      const { status, bodyBytes, text } = await connection.send(request)
      milliseconds.push(performance.now() - sentMs)
      bytes += bodyBytes + (request.body?.length ?? 0)
      if (status >= 200 && status < 300) continue
      failed++
      firstFailure ||= `${status} ${text}`
    }
  }
  const startedMs = performance.now()
  await Promise.all(connections.map(client))
  const seconds = (performance.now() - startedMs) / 1000
  for (const connection of connections) connection.end()
  const sorted = Float64Array.from(milliseconds).toSorted()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { requests: sorted.length, failed, firstFailure, bytes, seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

interface Answer {
  readonly status: number
  readonly bodyBytes: number
  /** The beginning of the answer, where it is a failure. */
  readonly text: string
}

const HEAD_END = Buffer.from('\r\n\r\n')
const TEXT_BYTES_MAX = 1000

/** Reads as much of HTTP as servers of objects write: a head, and a body whose length it says. */
class Connection {
  readonly #socket: Socket
  #waiting: PromiseWithResolvers<Answer> | undefined
  #isHead = false
  /** Of an answer whose head has not come whole. */
  #pending: Buffer | undefined
  #answer: Answer | undefined
  #bytesLeft = 0

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
    socket.on('data', (piece: Buffer) => this.#take(piece))
    socket.on('close', () => this.#waiting?.reject(new Error('The server closed a connection.')))
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
      this.#bytesLeft = this.#readHead(bytes, end) - (bytes.length - end - HEAD_END.length)
    } else this.#bytesLeft -= piece.length
    if (this.#bytesLeft > 0 || this.#answer === undefined) return
    const answer: Answer = this.#answer
    this.#answer = undefined
    this.#waiting?.resolve(answer)
  }

  /** Bytes of the body that follows. */
  #readHead(bytes: Buffer, end: number): number {
    const head = bytes.toString('latin1', 0, end)
    const status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined && status !== 204) throw new Error(`The answer does not say how long it is: ${head}`)
    const bodyBytes = this.#isHead ? 0 : Number(length ?? 0)
    this.#answer = { status, bodyBytes, text: status < 300 ? '' : bytes.toString('latin1', 0, TEXT_BYTES_MAX) }
    return bodyBytes
  }
}
