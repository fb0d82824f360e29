import { STATUS_CODES } from 'node:http'
import type { Server as HttpServer } from 'node:http'
import { Sparingly } from '../core/time/sparingly.ts'
import { Readiness } from '../core/readiness.ts'
import type { Catalog } from '../ports/catalog.ts'
import type { System } from '../ports/system.ts'
import type { Volumes } from '../ports/volumes.ts'
import { Connections } from '../wire/connections.ts'
import type { ConnectionBounds } from '../wire/connections.ts'
import { handshakeMs, headerBytesMax, headersMs, makeHttpServer } from '../wire/http-server.ts'
import type { HttpWaits, Refusal, Unreadable } from '../wire/http-server.ts'
import type { Tls } from '../wire/tls.ts'
import { answer } from './exchange/answer.ts'
import type { Endpoint, Log, Plane } from './plane.ts'
import { SigningKeys } from './auth/sigv4.ts'
import type { BucketControl } from './exchange/call.ts'
import { Counters } from './counters.ts'
import { s3Error } from './errors.ts'
import type { S3Error } from './errors.ts'
import { idleMs } from './exchange/exchange.ts'
import { Listeners } from './listeners.ts'
import type { BoundListener, ListenPolicy } from './listeners.ts'
import { tellingOnce } from './objects/damage.ts'
import type { TellDamage } from './objects/damage.ts'
import type { Grow } from './objects/growth.ts'
import { PieceBuffers } from './objects/piece-buffers.ts'
import { Pins } from './objects/pins.ts'
import { TreeUses } from './objects/tree-uses.ts'
import { FloorMeter } from './qos/floor-meter.ts'
import { ownShaper } from './qos/shaper.ts'
import type { Shaper } from './qos/shaper.ts'
import { RequestIds } from './exchange/request-ids.ts'
import { shownCertificate } from './shown-certificate.ts'
import { Tenancy } from './tenancy/tenancy.ts'
import { Transfers } from './body/transfers.ts'
import type { Collecting, TransferBounds } from './body/transfers.ts'
import { xmlErrorDocument } from './xml/xml.ts'

/** Of all listeners of one process. The kernel deals the connections of a shared port out to the processes. */
export const connectionBounds: ConnectionBounds = { connectionsMax: 10_000, perAddressMax: 2500 }

export interface DataPlaneParts {
  readonly catalog: Catalog
  readonly system: System
  /** The engine that holds the blobs of an aggregate. */
  readonly volumesOf: (aggregate: string) => Promise<Volumes>
  /** Recovers the secret key of a user from its record. */
  readonly unseal: (sealed: string) => string
  readonly control: BucketControl
  readonly log: Log
  readonly tls: Tls
  readonly listen: ListenPolicy
  /** Without it, this process is the only one that serves. */
  readonly shaper?: Shaper
  /** Without it, volumes do not grow when a write was refused. */
  readonly grow?: Grow
  /** Told what reads find damaged. Without it, only the log is. */
  readonly onDamage?: TellDamage
  /** Told which of the addresses that the environment gives are not served, whenever that changes. */
  readonly onUnbound?: (addresses: readonly string[]) => void
  /** What bodies may hold here. Without it, as much as for a process that has the machine to itself. */
  readonly memory?: TransferBounds & { readonly piecesBytesMax: number; readonly gatheredBytesMax: number } & {
    readonly collecting?: Collecting
  }
  /** Shorter waits, for tests. */
  readonly waits?: Partial<HttpWaits>
  /** Fewer connections, for tests. */
  readonly connections?: ConnectionBounds
}

export interface DataPlane {
  /** What is served where, with the ports that were really bound. */
  listeners(): readonly BoundListener[]
  /** Those of the blobs that answers in progress have yet to open: their files must stay. */
  stillReading(blobs: readonly string[]): string[]
  /** Begins no write of a volume to this tree any more. Tells whether one is still under way. */
  leaveTree(volume: string, tree: string): boolean
  /** Gives back memory that nobody uses just now. */
  trim(): void
  /** Stops accepting, lets requests finish for so long, and writes what was counted. */
  close(drainMs: number): Promise<void>
}

/** Of failed requests, so many are logged in each minute. */
const failuresLogged = { everyMs: 60_000, atOnce: 100 }

/** Serves the buckets of all SVMs to clients that speak S3. Listens to all addresses before it returns. */
export async function startDataPlane(parts: DataPlaneParts): Promise<DataPlane> {
  const { catalog, system, log } = parts
  let isDraining = false
  const pins = new Pins()
  const buffers = new PieceBuffers(parts.memory?.piecesBytesMax)
  const bodyBuffers = PieceBuffers.forBodies(parts.memory?.gatheredBytesMax)
  const transfers = new Transfers(parts.memory, parts.memory?.collecting)
  const trees = new TreeUses()
  const shaper = parts.shaper ?? ownShaper(system.clock)
  const counters = new Counters(catalog, system.clock)
  const plane: Plane = {
    store: {
      catalog,
      system,
      pins,
      buffers,
      bodyBuffers,
      transfers,
      trees,
      grow: parts.grow ?? (() => Promise.resolve(false)),
      tellDamage: tellingOnce(parts.onDamage ?? (() => undefined), () => system.clock.elapsed()),
      countCompression: (volume, isSmaller) => counters.compressed(volume, isSmaller),
    },
    system,
    tenancy: new Tenancy(catalog, parts.unseal),
    volumesOf: parts.volumesOf,
    control: parts.control,
    counters,
    shaper,
    meter: new FloorMeter(system.clock, (samples) => shaper.report(samples)),
    signingKeys: new SigningKeys(),
    requestIds: new RequestIds(system.random),
    log,
    failures: new Sparingly(system.clock, failuresLogged),
    isDraining: () => isDraining,
    isReady: async () => listeners.unbound().length === 0 && (await readiness.canCommit()),
  }
  const connections = new Connections({ ...(parts.connections ?? connectionBounds), clock: system.clock, log })
  const readiness = new Readiness(catalog, system.clock)
  const listeners = new Listeners({
    catalog,
    clock: system.clock,
    log,
    policy: parts.listen,
    onUnbound: parts.onUnbound ?? (() => undefined),
    tlsOf: async (certificate) => (await shownCertificate(parts, certificate)) ?? parts.tls,
    makeServer: (endpoint, tls) =>
      makeServer(plane, endpoint, { tls, connections, waits: { ...usualWaits, ...parts.waits } }),
  })
  await listeners.start()
  let closed: Promise<void> | undefined
  return {
    listeners: () => listeners.bound(),
    stillReading: (blobs) => pins.among(blobs),
    leaveTree: (volume, tree) => trees.leave(volume, tree),
    trim() {
      buffers.trim()
      bodyBuffers.trim()
    },
    close(drainMs) {
      isDraining = true
      closed ??= listeners.close(drainMs).then(() => plane.counters.close())
      return closed
    },
  }
}

/** A 5 GiB upload may take as long as it moves: what bounds it is `idleMs`. */
const usualWaits: HttpWaits = { idleMs, headersMs, handshakeMs, requestMs: 0 }

function makeServer(
  plane: Plane,
  endpoint: Endpoint,
  parts: { readonly tls: Tls | undefined; readonly connections: Connections; readonly waits: HttpWaits },
): HttpServer {
  const { svm } = endpoint
  const server = makeHttpServer({
    ...parts,
    clock: plane.system.clock,
    refusalOf(why) {
      if (why === 'not-http' || why === 'headers-too-large') plane.counters.note(svm, 'request_parse_errors')
      plane.counters.note(svm, 'server_connection_close')
      return refusalOf(why)
    },
    handle: (request, response, awaitsContinue) => void answer(plane, endpoint, request, response, { awaitsContinue }),
  })
  server.on(parts.tls === undefined ? 'connection' : 'secureConnection', () => plane.counters.note(svm, 'connections'))
  return server
}

function refusalOf(why: Unreadable): Refusal {
  const error = explain(why)
  return {
    status: `${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    contentType: 'application/xml',
    body: xmlErrorDocument(error, {}),
  }
}

function explain(why: Unreadable): S3Error {
  switch (why) {
    case 'headers-too-large':
      return s3Error('RequestHeaderSectionTooLarge', { fields: { MaxSizeAllowed: String(headerBytesMax) } })
    case 'too-slow':
      return s3Error('RequestTimeout')
    case 'connect':
      return s3Error('MethodNotAllowed', { fields: { Method: 'CONNECT' } })
    case 'not-http':
      return s3Error('InvalidRequest', { message: 'The request is not valid HTTP.' })
  }
}
