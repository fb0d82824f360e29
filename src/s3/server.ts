import { createServer } from 'node:http'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { QosLedger } from '../core/qos-ledger.ts'
import type { Catalog } from '../ports/catalog.ts'
import type { System } from '../ports/system.ts'
import type { Volumes } from '../ports/volumes.ts'
import { answer } from './answer.ts'
import type { Endpoint, Log, Plane } from './answer.ts'
import { SigningKeys } from './auth/sigv4.ts'
import type { BucketControl } from './call.ts'
import { Counters } from './counters.ts'
import { s3Error } from './errors.ts'
import { idleMs } from './exchange.ts'
import { Listeners } from './listeners.ts'
import type { BoundListener, ListenPolicy } from './listeners.ts'
import { Pins } from './objects/pins.ts'
import type { Charge } from './qos/pace.ts'
import { Tenancy } from './tenancy.ts'
import { xmlErrorDocument } from './xml.ts'

/** First line and headers of a request together. Amazon takes 8 KiB; presigned URLs with metadata come near. */
export const headerBytesMax = 32 * 1024
export const headersMax = 200
/** From the first byte of a connection or request to the end of its headers. */
export const headersTimeoutMs = 30_000
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
  readonly charge?: Charge
}

export interface DataPlane {
  /** What is served where, with the ports that were really bound. */
  listeners(): readonly BoundListener[]
  /** Those of the blobs that answers in progress have yet to open: their files must stay. */
  stillReading(blobs: readonly string[]): string[]
  /** Stops accepting, lets requests finish for so long, and writes what was counted. */
  close(drainMs: number): Promise<void>
}

/** Serves the buckets of all SVMs to clients that speak S3. Listens to all addresses before it returns. */
export async function startDataPlane(parts: DataPlaneParts): Promise<DataPlane> {
  const { catalog, system, log } = parts
  let isDraining = false
  const pins = new Pins()
  const plane: Plane = {
    store: { catalog, system, pins },
    system,
    tenancy: new Tenancy(catalog, parts.unseal),
    volumesOf: parts.volumesOf,
    control: parts.control,
    counters: new Counters(catalog, system.clock),
    charge: parts.charge ?? alone(system),
    signingKeys: new SigningKeys(),
    log,
    isDraining: () => isDraining,
  }
  const listeners = new Listeners({
    catalog,
    clock: system.clock,
    log,
    policy: parts.listen,
    makeServer: (endpoint, { isSecure }) => makeServer(plane, endpoint, isSecure ? parts.tls : undefined),
  })
  await listeners.start()
  let closed: Promise<void> | undefined
  return {
    listeners: () => listeners.bound(),
    stillReading: (blobs) => pins.among(blobs),
    close(drainMs) {
      isDraining = true
      closed ??= listeners.close(drainMs).then(() => plane.counters.close())
      return closed
    },
  }
}

function alone({ clock }: System): Charge {
  const ledger = new QosLedger(clock)
  return (limits, cost, waitMsMax) => Promise.resolve(ledger.charge(limits, cost, waitMsMax))
}

function makeServer(plane: Plane, endpoint: Endpoint, tls: DataPlaneParts['tls'] | undefined): HttpServer {
  const options = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    // A 5 GiB upload may take as long as it moves: what bounds it is `idleMs`.
    requestTimeout: 0,
    // Answered as an error document, not as Node does.
    requireHostHeader: false,
    noDelay: true,
  }
  const server = tls === undefined ? createServer(options) : createSecureServer({ ...options, ...tls })
  server.maxHeadersCount = headersMax
  server.maxConnections = connectionsMax
  server.setTimeout(idleMs)
  server.on(
    'request',
    (request, response) => void answer(plane, endpoint, request, response, { awaitsContinue: false }),
  )
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    void answer(plane, endpoint, request, response, { awaitsContinue: true })
  })
  server.on('clientError', refuseUnreadable)
  return server
}

/** What is not HTTP is answered all the same, as far as it is worth it. */
function refuseUnreadable(failure: NodeJS.ErrnoException, socket: Duplex): void {
  if (failure.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const error =
    failure.code === 'HPE_HEADER_OVERFLOW'
      ? s3Error('RequestHeaderSectionTooLarge', { fields: { MaxSizeAllowed: String(headerBytesMax) } })
      : s3Error('InvalidRequest', { message: 'The request is not valid HTTP.' })
  const document = xmlErrorDocument(error, {})
  socket.end(
    `HTTP/1.1 ${error.status} Bad Request\r\nContent-Type: application/xml\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(document)}\r\n\r\n${document}`,
  )
}
