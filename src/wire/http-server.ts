/** HTTP listeners that strangers reach: what a connection may hold, and for how long, is bounded here. */
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Clock } from '../ports/system.ts'
import type { Connections } from './connections.ts'
import { Pipeline } from './pipeline.ts'
import { secureOptions, type Tls } from './tls.ts'

/** First line and headers of a request together. Amazon takes 8 KiB; presigned URLs with metadata come near. */
export const headerBytesMax = 32 * 1024
/** Headers of one request. */
export const headersMax = 200
/** How long the handshake of TLS may take. */
export const handshakeMs = 10_000
/** From the first byte of a connection or request to the end of its headers. */
export const headersMs = 30_000
/** A connection without a request. Longer than clients keep theirs, so that they are the ones who close. */
export const keepAliveMs = 75_000
/** A client that was refused may read why for so long. Closing at once would reset the connection, and lose the answer. */
export const refusedLingerMs = 2000
/** How often at most Node looks for connections whose time is over. */
const checkMs = 5000

export interface HttpWaits {
  readonly handshakeMs: number
  readonly headersMs: number
  /** For a whole request with its body; 0: as long as bytes move. */
  readonly requestMs: number
  /** For the next byte, in either direction. What this means for answers that take long is up to `handle`. */
  readonly idleMs: number
}

/** Why a connection gets no answer of the application. */
export type Unreadable = 'not-http' | 'headers-too-large' | 'too-slow' | 'connect'

/** An answer without the help of HTTP's machinery. */
export interface Refusal {
  /** `400 Bad Request` */
  readonly status: string
  readonly contentType: string
  readonly body: string
}

export interface HttpServerParts {
  /** Only where it is secure. */
  readonly tls?: Tls | undefined
  readonly connections: Connections
  readonly clock: Clock
  readonly waits: HttpWaits
  readonly refusalOf: (why: Unreadable) => Refusal
  /** Answers a request. Those of one connection come one after another. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => void
}

export function makeHttpServer(parts: HttpServerParts): HttpServer {
  const { connections, clock, waits, tls } = parts
  const options = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: waits.headersMs,
    connectionsCheckingInterval: Math.min(waits.headersMs, checkMs),
    keepAliveTimeout: keepAliveMs,
    requestTimeout: waits.requestMs,
    // Applications answer it with an error of their own.
    requireHostHeader: false,
    noDelay: true,
  }
  const server =
    tls === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...secureOptions(tls), handshakeTimeout: waits.handshakeMs })
  connections.guard(server)
  // Node would drop those beyond a number, and go on: applications refuse the request.
  server.maxHeadersCount = 0
  server.setTimeout(waits.idleMs)

  const pipeline = new Pipeline()
  const take = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void => {
    const { socket } = request
    pipeline.take(request, response, () => {
      connections.begin(socket)
      response.on('close', () => connections.end(socket))
      parts.handle(request, response, awaitsContinue)
    })
  }
  server.on('request', (request, response) => take(request, response, false))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => take(request, response, true))
  // An expectation that is none of HTTP's changes nothing; Node would answer 417.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => take(request, response, false))

  const refused = new WeakSet<Duplex>()
  const refuse = (socket: Duplex, why: Unreadable): void => {
    refused.add(socket)
    endWith(socket, parts.refusalOf(why), clock)
  }
  server.on('clientError', (failure: NodeJS.ErrnoException, socket) => {
    // Of one that was refused, everything else that comes is nonsense too.
    if (refused.has(socket)) return
    const why = whyUnreadable(failure)
    // TLS that fails has no one to answer, like a connection that broke: what is written would wait for good.
    if (why === undefined || !socket.writable) socket.destroy()
    else pipeline.refuse(socket, () => refuse(socket, why))
  })
  // No tunnels. Node hands over the connection, with nobody who watches over it.
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    refuse(socket, 'connect')
  })
  return server
}

function whyUnreadable({ code }: NodeJS.ErrnoException): Unreadable | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers-too-large'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'too-slow'
  return code?.startsWith('HPE_') === true ? 'not-http' : undefined
}

/** Writes an answer and ends the connection, whether or not the client ends its side. */
function endWith(socket: Duplex, { status, contentType, body }: Refusal, clock: Clock): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${contentType}\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  void clock.sleep(refusedLingerMs, gone.signal).then(() => socket.destroy())
}
