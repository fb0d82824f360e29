import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Requests that wait for those before them, of one connection. What comes behind is not read until there are fewer. */
export const pipelinedMax = 8

/**
 * Answers the requests of a connection one after another. A client may send the next before it has the answer to the last
 * (RFC 9112, 9.3.2), and Node hands out all that have come: one connection could have thousands under way, each with its
 * file and its buffers, and a GET could overtake the PUT before it.
 */
export class Pipeline {
  readonly #lines = new WeakMap<Duplex, Line>()

  /** Calls `begin` when everything before it on its connection is answered; never, when the connection is over by then. */
  take(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const { socket } = request
    const line = this.#lines.get(socket) ?? { current: undefined, waiting: [], isBroken: false }
    this.#lines.set(socket, line)
    const start = (): void => {
      line.current = { request, response }
      response.on('close', () => goOn(socket, line))
      begin()
    }
    if (line.current === undefined) start()
    else wait(socket, line, start)
  }

  /**
   * Refuses what comes on a connection and is no request, in its turn: `refuse` writes to the connection and ends it. What
   * breaks the body of the request that is being answered ends that answer.
   */
  refuse(socket: Duplex, refuse: () => void): void {
    const line = this.#lines.get(socket)
    if (line?.isBroken === true) return
    if (line?.current === undefined) {
      refuse()
      return
    }
    line.isBroken = true
    const { request, response } = line.current
    if (request.complete) wait(socket, line, refuse)
    else if (response.headersSent) socket.destroy()
    else refuse()
  }
}

interface Line {
  current: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined
  readonly waiting: (() => void)[]
  /** Nothing on it can be understood any more. */
  isBroken: boolean
}

function wait(socket: Duplex, line: Line, start: () => void): void {
  line.waiting.push(start)
  if (line.isBroken || line.waiting.length >= pipelinedMax) socket.pause()
}

function goOn(socket: Duplex, line: Line): void {
  line.current = undefined
  if (!socket.writable) line.waiting.length = 0
  const start = line.waiting.shift()
  if (line.waiting.length === pipelinedMax - 1) socket.resume()
  start?.()
}
