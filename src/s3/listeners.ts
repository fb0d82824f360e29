import type { Server as HttpServer } from 'node:http'
import { Server as SecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Records } from '../ports/catalog.ts'
import type { Clock } from '../ports/system.ts'
import { secureOptions } from '../wire/tls.ts'
import type { Tls } from '../wire/tls.ts'
import type { Endpoint, Log } from './plane.ts'
import { is, storedRow, text } from '../records/stored.ts'
import { findRows } from './tenancy/stored-rows.ts'
import { readServer, recordTypes } from './tenancy/records.ts'
import type { Server } from './tenancy/records.ts'

/** How often the records are looked at for changes. */
export const reconcileMs = 500
/** How long after a failure an address is tried again. */
const retryMs = 5000
/** Ports below are often not for us: then port p is served at 9000 + p. */
const lowPortsEnd = 1024
const lowPortShift = 9000
/** Connections of a listener that goes may finish what they do for so long. */
const removedDrainMs = 30_000

export interface ListenPolicy {
  readonly canBindLowPorts: boolean
  /** Where the interface of the first SVM is served, in place of what the records say. `off`: not at all. */
  readonly first?: {
    readonly interface: string
    readonly http?: Address | 'off'
    readonly https?: Address | 'off'
  }
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** What is served where. */
export interface BoundListener extends Address {
  readonly isSecure: boolean
  readonly svm: string
  /** The network interface whose address it is. */
  readonly interface: string
  readonly servers: readonly string[]
}

export interface ListenerParts {
  readonly catalog: Records
  readonly clock: Clock
  readonly log: Log
  readonly policy: ListenPolicy
  /** How an address shows who it is, by the UUID of a certificate; without one, or if that cannot be shown, as the cluster. */
  readonly tlsOf: (certificate: string) => Promise<Tls>
  /** `tls` only where it is secure. */
  readonly makeServer: (endpoint: Endpoint, tls: Tls | undefined) => HttpServer
  /** Told what `unbound` gives, whenever that changes. */
  readonly onUnbound?: (addresses: readonly string[]) => void
}

/**
 * Keeps what is listened to in step with the records: every interface of an SVM, every server of it, every port. Servers
 * that are disabled are listened to as well: requests to them are answered with 503, on connections that are kept too,
 * and no client sees a connection end because somebody disables a server.
 */
export class Listeners {
  readonly #parts: ListenerParts
  readonly #stop = new AbortController()
  readonly #open = new Map<string, OpenListener>()
  readonly #failed = new Map<string, { readonly message: string; readonly retryAtMs: number }>()
  readonly #going = new Set<Promise<void>>()
  #running: Promise<void> = Promise.resolve()
  #revision = -1
  #unbound: readonly string[] = []

  constructor(parts: ListenerParts) {
    this.#parts = parts
  }

  /** Listens to all there is before it returns, and from then on follows the records. */
  async start(): Promise<void> {
    await this.#reconcileIfNeeded()
    this.#running = this.#run()
  }

  bound(): readonly BoundListener[] {
    return [...this.#open.values()].map(({ wanted, server }) => {
      const address = server.address() as AddressInfo | null
      const { isSecure, svm, servers } = wanted
      return {
        host: wanted.host,
        port: address?.port ?? wanted.port,
        isSecure,
        svm,
        interface: wanted.interface,
        servers,
      }
    })
  }

  /** Those of the addresses that the environment gives which should be served and are not. */
  unbound(): readonly string[] {
    return this.#unbound
  }

  /** Stops accepting at once; connections may finish what they do. */
  async close(drainMs: number): Promise<void> {
    this.#stop.abort()
    await this.#running
    for (const [name, listener] of this.#open) this.#remove(name, listener, drainMs)
    await Promise.all(this.#going)
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts
    const { signal } = this.#stop
    while (!signal.aborted) {
      await clock.sleep(reconcileMs, signal)
      if (signal.aborted) return
      try {
        await this.#reconcileIfNeeded()
      } catch (failure) {
        log.warn('The addresses to listen on could not be read.', { failure })
      }
    }
  }

  async #reconcileIfNeeded(): Promise<void> {
    const { catalog, clock } = this.#parts
    const revision = await catalog.revision()
    const isRetryDue = [...this.#failed.values()].some(({ retryAtMs }) => retryAtMs <= clock.elapsed())
    if (revision === this.#revision && !isRetryDue) return
    await this.#reconcile(await this.#wanted())
    this.#revision = revision
  }

  async #reconcile(wanted: ReadonlyMap<string, Wanted>): Promise<void> {
    for (const [name, listener] of this.#open) {
      const still = wanted.get(name)
      if (still === undefined) this.#remove(name, listener, removedDrainMs)
      else {
        listener.wanted = still
        await this.#show(name, listener)
      }
    }
    for (const name of this.#failed.keys()) if (!wanted.has(name)) this.#failed.delete(name)
    for (const [name, one] of wanted) {
      const failed = this.#failed.get(name)
      const isDue = failed === undefined || failed.retryAtMs <= this.#parts.clock.elapsed()
      if (!this.#open.has(name) && isDue) await this.#listen(name, one)
    }
    this.#tellUnbound([...wanted].filter(([name, one]) => this.#isGiven(one) && !this.#open.has(name)))
  }

  #isGiven(wanted: Wanted): boolean {
    return wanted.interface === this.#parts.policy.first?.interface
  }

  #tellUnbound(unbound: readonly (readonly [name: string, one: Wanted])[]): void {
    const names = unbound.map(([name]) => name)
    const isSame = names.join(' ') === this.#unbound.join(' ')
    this.#unbound = names
    if (!isSame) this.#parts.onUnbound?.(names)
  }

  async #wanted(): Promise<Map<string, Wanted>> {
    const { catalog, policy } = this.#parts
    const wanted = new Map<string, Wanted>()
    const servers = (await findRows(catalog, recordTypes.servers)).map(readServer)
    const interfaces = (await catalog.records(recordTypes.interfaces))
      .map(({ key, body }) => ({ key, row: storedRow(recordTypes.interfaces, body) }))
      .filter(({ row }) => !is(row, 'enabled', false) && !is(row, 'scope', 'cluster'))
    // A disabled server keeps its address, so that its clients are told, but never from one that is enabled.
    for (const isEnabled of [true, false]) {
      const serversOf = Map.groupBy(
        servers.filter((server) => server.isEnabled === isEnabled),
        (server) => server.svm,
      )
      for (const { key, row } of interfaces) {
        const [host, svm] = [text(row, 'ip.address'), text(row, 'svm.uuid')]
        for (const server of (serversOf.get(svm) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
          for (const isSecure of [false, true]) {
            const address = addressOf(policy, key, host, isSecure ? server.httpsPort : server.httpPort, isSecure)
            if (address !== undefined)
              this.#want(
                wanted,
                { ...address, isSecure, svm, interface: key, servers: [server.uuid], certificate: server.certificate },
                server,
              )
          }
        }
      }
    }
    return wanted
  }

  /** Servers of one SVM share an address; what else would meet at one is refused and told. */
  #want(wanted: Map<string, Wanted>, one: Wanted, server: Server): void {
    // Any number of listeners may ask for any free port.
    const place =
      one.port === 0 ? `${one.host}:0:${one.isSecure ? 'https' : 'http'}:${one.interface}` : `${one.host}:${one.port}`
    const there = wanted.get(place)
    if (there === undefined) {
      wanted.set(place, one)
    } else if (there.svm === one.svm && there.isSecure === one.isSecure) {
      const certificate = there.certificate === '' ? one.certificate : there.certificate
      wanted.set(place, { ...there, certificate, servers: [...new Set([...there.servers, server.uuid])] })
    } else if (server.isEnabled) {
      const message = 'An object store server is not served: its address and port are taken by another.'
      this.#fail(`${place} ${server.uuid}`, message, { host: one.host, port: one.port, server: server.name })
    }
  }

  async #listen(name: string, wanted: Wanted): Promise<void> {
    const { log, makeServer, tlsOf } = this.#parts
    const listener: Omit<OpenListener, 'server'> = { wanted, isClosing: false, shown: wanted.certificate }
    const endpoint: Endpoint = {
      get svm() {
        return listener.wanted.svm
      },
      get servers() {
        return listener.wanted.servers
      },
      get interface() {
        return listener.wanted.interface
      },
      get isClosing() {
        return listener.isClosing
      },
    }
    try {
      // Several processes share the port. Where the system cannot, each listens plainly and the first has it.
      const tls = wanted.isSecure ? await tlsOf(wanted.certificate) : undefined
      const server = await bind(() => makeServer(endpoint, tls), wanted)
      server.on('error', (failure) => log.warn('A listener of the object store failed.', { ...wanted, failure }))
      this.#open.set(name, Object.assign(listener, { server }))
      this.#failed.delete(name)
      const { host, isSecure } = wanted
      log.debug('The object store listens.', { host, port: (server.address() as AddressInfo).port, isSecure })
    } catch (failure) {
      this.#fail(name, 'The object store cannot listen on an address. It tries again.', {
        host: wanted.host,
        port: wanted.port,
        failure: failure instanceof Error ? failure.message : String(failure),
      })
    }
  }

  /** Connections that are open go on with the certificate that they began with. */
  async #show(name: string, listener: OpenListener): Promise<void> {
    const { wanted, server } = listener
    if (wanted.certificate === listener.shown || !(server instanceof SecureServer)) return
    server.setSecureContext(secureOptions(await this.#parts.tlsOf(wanted.certificate)))
    listener.shown = wanted.certificate
    this.#parts.log.debug('The object store shows another certificate.', { address: name })
  }

  /** Says what is wrong with an address when it is new, and remembers to try again. */
  #fail(name: string, message: string, details: Readonly<Record<string, unknown>>): void {
    const { clock, log } = this.#parts
    if (this.#failed.get(name)?.message !== message) log.warn(message, details)
    this.#failed.set(name, { message, retryAtMs: clock.elapsed() + retryMs })
  }

  #remove(name: string, listener: OpenListener, drainMs: number): void {
    this.#open.delete(name)
    listener.isClosing = true
    const { promise, resolve } = Promise.withResolvers<void>()
    const { server } = listener
    server.close(() => resolve())
    server.closeIdleConnections()
    const stop = new AbortController()
    const force = this.#parts.clock.sleep(drainMs, stop.signal).then(() => {
      if (!stop.signal.aborted) server.closeAllConnections()
    })
    const gone = promise.then(async () => {
      stop.abort()
      await force
      this.#going.delete(gone)
    })
    this.#going.add(gone)
  }
}

interface Wanted extends BoundListener {
  /** UUID of the certificate that it shows; '' for that of the cluster. */
  readonly certificate: string
}

interface OpenListener {
  wanted: Wanted
  isClosing: boolean
  /** UUID of the certificate that it shows now. */
  shown: string
  readonly server: HttpServer
}

function addressOf(
  policy: ListenPolicy,
  networkInterface: string,
  host: string,
  port: number | undefined,
  isSecure: boolean,
): Address | undefined {
  if (port === undefined) return undefined
  if (policy.first?.interface === networkInterface) {
    const given = isSecure ? policy.first.https : policy.first.http
    if (given === 'off') return undefined
    if (given !== undefined) return given
  }
  return { host, port: port < lowPortsEnd && !policy.canBindLowPorts ? lowPortShift + port : port }
}

async function bind(makeServer: () => HttpServer, { host, port }: Address): Promise<HttpServer> {
  try {
    return await listen(makeServer(), { host, port, reusePort: true })
  } catch (failure) {
    if (!['ENOTSUP', 'ENOSYS', 'EINVAL', 'ENOPROTOOPT'].includes((failure as NodeJS.ErrnoException).code ?? ''))
      throw failure
    return listen(makeServer(), { host, port })
  }
}

function listen(
  server: HttpServer,
  options: { readonly host: string; readonly port: number; readonly reusePort?: boolean },
): Promise<HttpServer> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...options }, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}
