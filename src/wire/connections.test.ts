import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server, Socket } from 'node:net'
import { test } from 'node:test'
import { realSystem } from '../engines/system.ts'
import { Connections } from './connections.ts'

class FakeSocket extends EventEmitter {
  destroyed = false
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress = '192.0.2.1'
  readonly localPort = 443

  constructor(remoteAddress: string, remotePort: number) {
    super()
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

function guarded(connectionsMax: number, perAddressMax: number) {
  const told: unknown[] = []
  const log = { warn: (_message: string, details?: unknown) => void told.push(details) }
  const connections = new Connections({ connectionsMax, perAddressMax, clock: realSystem.clock, log })
  const server = new EventEmitter()
  const served: FakeSocket[] = []
  server.on('connection', (socket: FakeSocket) => served.push(socket))
  connections.guard(server as Server)
  let port = 1024
  const connect = (address: string): FakeSocket => {
    const socket = new FakeSocket(address, ++port)
    server.emit('connection', socket)
    return socket
  }
  return { connections, served, told, connect }
}

const asSocket = (socket: FakeSocket): Socket => socket as unknown as Socket

test('an address has so many connections, and gets new ones when old ones end', () => {
  const { connections, served, told, connect } = guarded(10, 2)
  const [first, second, third] = [connect('192.0.2.9'), connect('192.0.2.9'), connect('192.0.2.9')]
  assert.deepEqual([first.destroyed, second.destroyed, third.destroyed], [false, false, true])
  assert.equal(served.length, 2, 'nothing is kept for a connection that is refused')
  assert.equal(connect('192.0.2.10').destroyed, false)
  first.destroy()
  assert.equal(connect('192.0.2.9').destroyed, false)
  assert.equal(connections.count, 3)
  assert.deepEqual(told, [{ address: '192.0.2.9', ofAddress: 2, connections: 2 }], 'the log is told once a minute')
})

test('when all places are taken, who has most makes room with the oldest that is idle', () => {
  const { connections, connect } = guarded(4, 3)
  const [oldest, second, third] = [connect('192.0.2.9'), connect('192.0.2.9'), connect('192.0.2.9')]
  connections.begin(asSocket(oldest))
  connect('192.0.2.10')
  const newcomer = connect('192.0.2.11')
  assert.deepEqual(
    [oldest, second, third, newcomer].map(({ destroyed }) => destroyed),
    [false, true, false, false],
    'a connection with a request is kept',
  )
  assert.equal(connections.count, 4)
  assert.equal(connect('192.0.2.11').destroyed, true, 'who would have as many as the other gets no place')
  connections.end(asSocket(oldest))
  assert.equal(connect('192.0.2.12').destroyed, false)
  assert.equal(oldest.destroyed, true)
})

test('when all connections have a request under way, a newcomer is refused', () => {
  const { connections, connect } = guarded(3, 3)
  for (const address of ['192.0.2.9', '192.0.2.9', '192.0.2.9']) connections.begin(asSocket(connect(address)))
  assert.equal(connect('192.0.2.10').destroyed, true)
  assert.equal(connections.count, 3)
})

test('what was counted is forgotten when it ends', () => {
  const { connections, connect } = guarded(100, 100)
  const sockets = Array.from({ length: 90 }, (_, at) => connect(`192.0.2.${at}`))
  assert.equal(connections.count, 90)
  for (const socket of sockets) socket.destroy()
  assert.equal(connections.count, 0)
})
