import type { Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { addressGroup } from '../model/address-group.ts'
import type { Clock } from '../ports/system.ts'

export interface ConnectionBounds {
  /** Of all listeners together that share these bounds. */
  readonly connectionsMax: number
  /** From one address. Of IPv6, from one network of 64 bits: a single machine has all of its addresses. */
  readonly perAddressMax: number
}

export interface ConnectionParts extends ConnectionBounds {
  readonly clock: Clock
  readonly log: { warn(message: string, details?: Readonly<Record<string, unknown>>): void }
}

/** How often at most the log says that connections are refused. */
const TELL_EVERY_MS = 60_000

/**
 * Counts the connections of a process and refuses those beyond its bounds, before anything is kept for them: no TLS, no
 * parser. When all places are taken, an address that has fewer connections than another gets the place of the oldest
 * idle one of the address that has most, so that no address shuts out the others.
 */
export class Connections {
  readonly #parts: ConnectionParts
  /** In the order in which they came. */
  readonly #ofAddress = new Map<string, Set<Connection>>()
  readonly #ofPeer = new Map<string, Connection>()
  readonly #ofSocket = new WeakMap<Duplex, Connection>()
  #toldAtMs: number | undefined

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  get count(): number {
    return this.#ofPeer.size
  }

  /** Sees each connection of the server before the server does. To be called before it listens. */
  guard(server: Server): void {
    const takers = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      if (!this.#admit(socket)) socket.destroy()
      else for (const take of takers) Reflect.apply(take, server, [socket])
    })
    // Requests name the socket of TLS, which lies over the one that was admitted.
    server.on('secureConnection', (socket: Socket) => {
      const connection = this.#ofPeer.get(peerOf(socket))
      if (connection !== undefined) this.#ofSocket.set(socket, connection)
    })
  }

  /** From here on a request of the connection is being answered: nobody else gets its place. */
  begin(socket: Duplex): void {
    const connection = this.#ofSocket.get(socket)
    if (connection !== undefined) connection.isAnswered = true
  }

  end(socket: Duplex): void {
    const connection = this.#ofSocket.get(socket)
    if (connection !== undefined) connection.isAnswered = false
  }

  #admit(socket: Socket): boolean {
    const { connectionsMax, perAddressMax } = this.#parts
    // It went before it was looked at.
    if (socket.remoteAddress === undefined) return false
    const address = addressGroup(socket.remoteAddress)
    const there = this.#ofAddress.get(address)?.size ?? 0
    if (there >= perAddressMax || (this.count >= connectionsMax && !this.#makeRoom(there + 1))) {
      this.#tell({ address, ofAddress: there, connections: this.count })
      return false
    }
    const connection: Connection = { socket, address, peer: peerOf(socket), isAnswered: false }
    const siblings = this.#ofAddress.get(address) ?? new Set()
    this.#ofAddress.set(address, siblings.add(connection))
    this.#ofPeer.set(connection.peer, connection)
    this.#ofSocket.set(socket, connection)
    socket.once('close', () => this.#forget(connection))
    return true
  }

  /** Ends an idle connection of the address that has most, if these are more than so many. */
  #makeRoom(fewer: number): boolean {
    let most: ReadonlySet<Connection> = new Set()
    for (const some of this.#ofAddress.values()) if (some.size > most.size) most = some
    if (most.size <= fewer) return false
    for (const connection of most) {
      if (connection.isAnswered) continue
      this.#forget(connection)
      connection.socket.destroy()
      return true
    }
    return false
  }

  #forget(connection: Connection): void {
    const { address, peer } = connection
    if (this.#ofPeer.get(peer) === connection) this.#ofPeer.delete(peer)
    const siblings = this.#ofAddress.get(address)
    siblings?.delete(connection)
    if (siblings?.size === 0) this.#ofAddress.delete(address)
  }

  #tell(details: Readonly<Record<string, unknown>>): void {
    const nowMs = this.#parts.clock.elapsed()
    if (this.#toldAtMs !== undefined && nowMs - this.#toldAtMs < TELL_EVERY_MS) return
    this.#toldAtMs = nowMs
    this.#parts.log.warn('Connections are refused: their address has too many, or all clients together have.', details)
  }
}

interface Connection {
  readonly socket: Socket
  readonly address: string
  readonly peer: string
  isAnswered: boolean
}

function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
