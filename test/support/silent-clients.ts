/** Clients that keep a listener busy with nothing. They end no connection by themselves. */
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'

export interface Place {
  readonly port: number
  readonly isSecure: boolean
}

export const SILENT_KINDS = [
  'silent',
  'after the handshake',
  'half a header',
  'a byte now and then',
  'half closed',
] as const
export type SilentKind = (typeof SILENT_KINDS)[number]

const TRICKLE_MS = 100

export class SilentClient {
  readonly socket: Socket
  isClosed = false
  isEnded = false
  received = ''

  constructor({ port, isSecure }: Place, kind: SilentKind, localAddress: string) {
    const raw = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
    raw.on('error', () => undefined)
    this.socket = isSecure && kind !== 'silent' ? connectSecure({ socket: raw, rejectUnauthorized: false }) : raw
    this.socket.on('error', () => undefined)
    this.socket.on('data', (piece: Buffer) => (this.received += piece.toString('latin1')))
    this.socket.on('end', () => (this.isEnded = true))
    this.socket.on('close', () => (this.isClosed = true))
    if (kind === 'half a header') this.socket.write('GET /livez HTTP/1.1\r\nHos')
    if (kind === 'half closed') this.socket.end('GET /livez HTTP/1.1\r\nHost: x\r\n')
    if (kind === 'a byte now and then') this.#trickle()
  }

  #trickle(): void {
    this.socket.write('GET /livez HTTP/1.1\r\nHost: ')
    const timer = setInterval(() => this.socket.write('x'), TRICKLE_MS)
    this.socket.on('close', () => clearInterval(timer))
    this.socket.on('end', () => clearInterval(timer))
    this.socket.on('error', () => clearInterval(timer))
  }

  /** Whether the other side is done with it. */
  get isLetGo(): boolean {
    return this.isEnded || this.isClosed
  }
}

/** Fills a listener from one address with silent clients of all kinds; others have to be served all the while. */
export async function proveSilenceIsBounded(
  place: Place,
  options: {
    /** How many connections the listener has from one address. */
    readonly perAddressMax: number
    /** How many clients come from it. */
    readonly clients: number
    /** Within this time all of them are let go. */
    readonly withinMs: number
    /** Settles when a client from 127.0.0.2 was served. */
    readonly serveAnother: () => Promise<void>
  },
): Promise<void> {
  const before = openFiles()
  const kinds = place.isSecure ? SILENT_KINDS : SILENT_KINDS.filter((kind) => kind !== 'after the handshake')
  const clients = Array.from(
    { length: options.clients },
    (_, at) => new SilentClient(place, kinds[at % kinds.length] ?? 'silent', '127.0.0.1'),
  )
  try {
    await options.serveAnother()
    const refused = options.clients - options.perAddressMax
    await eventually(
      'those beyond the bound are let go',
      () => clients.filter(({ isLetGo }) => isLetGo).length >= refused,
    )
    await options.serveAnother()
    await eventually('all are let go', () => clients.every(({ isLetGo }) => isLetGo), options.withinMs)
    await options.serveAnother()
    // Clients that have not closed their side hold nothing of ours.
    const own = () => clients.filter(({ socket }) => !socket.destroyed).length
    await eventually('the files of all connections are free', () => openFiles() - own() <= before + SLACK_FILES)
  } finally {
    for (const { socket } of clients) socket.destroy()
  }
}

/** A connection that was kept for the next request. */
const SLACK_FILES = 4

/** What comes back for these bytes until the other side closes, and whether it does. */
export function exchangeRaw(
  { port, isSecure }: Place,
  text: string,
  withinMs = 60_000,
): Promise<{ answer: string; isClosed: boolean }> {
  const socket = isSecure
    ? connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  socket.write(text)
  let answer = ''
  socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')))
  const { promise, resolve } = Promise.withResolvers<{ answer: string; isClosed: boolean }>()
  const timer = setTimeout(() => {
    resolve({ answer, isClosed: false })
    socket.destroy()
  }, withinMs)
  socket.on('close', () => {
    clearTimeout(timer)
    resolve({ answer, isClosed: true })
  })
  return promise
}

function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}

async function eventually(what: string, isTrue: () => boolean, withinMs = 60_000): Promise<void> {
  const endMs = performance.now() + withinMs
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error(`Not within ${withinMs} ms: ${what}.`)
    await wait(20)
  }
}
