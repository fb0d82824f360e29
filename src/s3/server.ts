import { createServer } from 'node:http'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Catalog } from '../ports/catalog.ts'
import type { System } from '../ports/system.ts'
import type { Volumes } from '../ports/volumes.ts'
import { answer } from './answer.ts'
import type { Endpoint, Log, Plane } from './answer.ts'
import { SigningKeys } from './auth/sigv4.ts'
import type { BucketControl } from './call.ts'
import { Counters } from './counters.ts'
import { s3Error } from './errors.ts'
import type { S3Error } from './errors.ts'
import { idleMs, lingerMs } from './exchange.ts'
import { Listeners } from './listeners.ts'
import type { BoundListener, ListenPolicy } from './listeners.ts'
import type { Grow } from './objects/growth.ts'
import { Pins } from './objects/pins.ts'
import { TreeUses } from './objects/tree-uses.ts'
import { Pipeline } from './pipeline.ts'
import { FloorMeter } from './qos/floor-meter.ts'
import { ownShaper } from './qos/shaper.ts'
import type { Shaper } from './qos/shaper.ts'
import { shownCertificate } from './shown-certificate.ts'
import { Tenancy } from './tenancy.ts'
import { xmlErrorDocument } from './xml.ts'

/** First line and headers of a request together. Amazon takes 8 KiB; presigned URLs with metadata come near. */
export const headerBytesMax = 32 * 1024
/** From the first byte of a connection or request to the end of its headers; for the handshake of TLS as much again. */
export const headersTimeoutMs = 30_000
/** How often Node looks for connections that took longer. */
const headersCheckMs = 5000
/** A connection without a request. Longer than clients keep theirs, so that they are the ones who close. */
export const keepAliveMs = 75_000
/** Connections of one listener in one process. */
export const connectionsMax = 10_000

export interface DataPlaneParts {
  readonly catalog: Catalog
  readonly system: System
  /** The engine that holds the blobs of an aggregate. */
  readonly volumesOf: (aggregate: string) => Promise<Volumes>
  /** Recovers the secret key of a user from its record. */
  readonly unseal: (sealed: string) => string
  readonly control: BucketControl
  readonly log: Log
  readonly tls: { readonly key: string; readonly cert: string }
  readonly listen: ListenPolicy
  /** Without it, this process is the only one that serves. */
  readonly shaper?: Shaper
  /** Without it, volumes do not grow when a write was refused. */
  readonly grow?: Grow
  /** Shorter waits, for tests. */
  readonly waits?: Partial<Waits>
}

/** How long a connection may keep us waiting: within a request or an answer, for the headers of a request. */
export interface Waits {
  readonly idleMs: number
  readonly headersMs: number
}

export interface DataPlane {
  /** What is served where, with the ports that were really bound. */
  listeners(): readonly BoundListener[]
  /** Those of the blobs that answers in progress have yet to open: their files must stay. */
  stillReading(blobs: readonly string[]): string[]
  /** Begins no write of a volume to this tree any more. Tells whether one is still under way. */
  leaveTree(volume: string, tree: string): boolean
  /** Stops accepting, lets requests finish for so long, and writes what was counted. */
  close(drainMs: number): Promise<void>
}

/** Serves the buckets of all SVMs to clients that speak S3. Listens to all addresses before it returns. */
export async function startDataPlane(parts: DataPlaneParts): Promise<DataPlane> {
  const { catalog, system, log } = parts
  let isDraining = false
  const pins = new Pins()
  const trees = new TreeUses()
  const shaper = parts.shaper ?? ownShaper(system.clock)
  const plane: Plane = {
    store: { catalog, system, pins, trees, grow: parts.grow ?? (() => Promise.resolve(false)) },
    system,
    tenancy: new Tenancy(catalog, parts.unseal),
    volumesOf: parts.volumesOf,
    control: parts.control,
    counters: new Counters(catalog, system.clock),
    shaper,
    meter: new FloorMeter(system.clock, (samples) => shaper.report(samples)),
    signingKeys: new SigningKeys(),
    log,
    isDraining: () => isDraining,
  }
  const listeners = new Listeners({
    catalog,
    clock: system.clock,
    log,
    policy: parts.listen,
    tlsOf: async (certificate) => (await shownCertificate(parts, certificate)) ?? parts.tls,
    makeServer: (endpoint, tls) => makeServer(plane, endpoint, tls, { ...usualWaits, ...parts.waits }),
  })
  await listeners.start()
  let closed: Promise<void> | undefined
  return {
    listeners: () => listeners.bound(),
    stillReading: (blobs) => pins.among(blobs),
    leaveTree: (volume, tree) => trees.leave(volume, tree),
    close(drainMs) {
      isDraining = true
      closed ??= listeners.close(drainMs).then(() => plane.counters.close())
      return closed
    },
  }
}

const usualWaits: Waits = { idleMs, headersMs: headersTimeoutMs }

function makeServer(
  plane: Plane,
  endpoint: Endpoint,
  tls: DataPlaneParts['tls'] | undefined,
  waits: Waits,
): HttpServer {
  const options = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: waits.headersMs,
    connectionsCheckingInterval: Math.min(waits.headersMs, headersCheckMs),
    keepAliveTimeout: keepAliveMs,
    // A 5 GiB upload may take as long as it moves: what bounds it is `idleMs`.
    requestTimeout: 0,
    // Answered as an error document, not as Node does.
    requireHostHeader: false,
    noDelay: true,
  }
  const server =
    tls === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...tls, handshakeTimeout: waits.headersMs })
  // Node would drop those beyond a number, and go on: `answer` refuses the request.
  server.maxHeadersCount = 0
  server.maxConnections = connectionsMax
  server.setTimeout(waits.idleMs)
  const pipeline = new Pipeline()
  const take = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void =>
    pipeline.take(request, response, () => void answer(plane, endpoint, request, response, { awaitsContinue }))
  server.on('request', (request, response) => take(request, response, false))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => take(request, response, true))
  // An expectation that is none of HTTP's changes nothing; Node would answer 417.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => take(request, response, false))
  server.on('clientError', (failure: NodeJS.ErrnoException, socket) => {
    // TLS that fails has no one to answer, like a connection that broke.
    const isOfHttp = failure.code?.startsWith('HPE_') === true || failure.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    if (!isOfHttp || !socket.writable) socket.destroy()
    else pipeline.refuse(socket, () => refuseUnreadable(failure, socket))
  })
  return server
}

/** What is not HTTP is answered all the same, as far as it is worth it. */
function refuseUnreadable(failure: NodeJS.ErrnoException, socket: Duplex): void {
  const error = explainUnreadable(failure)
  const document = xmlErrorDocument(error, {})
  socket.end(
    `HTTP/1.1 ${error.status} Bad Request\r\nContent-Type: application/xml\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(document)}\r\n\r\n${document}`,
  )
  // A client that has not gone by then has read it, or does not want to.
  if (socket instanceof Socket) socket.setTimeout(lingerMs, () => socket.destroy())
}

function explainUnreadable({ code }: NodeJS.ErrnoException): S3Error {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return s3Error('RequestHeaderSectionTooLarge', { fields: { MaxSizeAllowed: String(headerBytesMax) } })
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return s3Error('RequestTimeout')
  return s3Error('InvalidRequest', { message: 'The request is not valid HTTP.' })
}
