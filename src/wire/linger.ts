import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../ports/system.ts'

/** How long, and how much of, a body that nobody wants is read. */
export const lingerMs = 2000
export const lingerBytesMax = 64 * 1024 * 1024

/**
 * Reads and drops the rest of a body. Many clients send all of it before they read the answer; a connection that is
 * closed while they send loses the answer for them.
 */
export async function linger(request: IncomingMessage, clock: Clock): Promise<void> {
  const stop = new AbortController()
  let seen = 0
  request.on('data', (piece: Buffer) => {
    seen += piece.length
    if (seen > lingerBytesMax) stop.abort()
  })
  request.resume()
  const { signal } = stop
  const ended = [once(request, 'end', { signal }), once(request, 'close', { signal })]
  await Promise.race([...ended, clock.sleep(lingerMs, signal)]).catch(() => {})
  stop.abort()
}
