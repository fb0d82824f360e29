/** Requests that never become one: broken HTTP, too large headers, too slow. They get JSON too, written by hand. */
import type { Socket } from 'node:net'

const ANSWERS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers or the address are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
}
const BROKEN = ['400 Bad Request', 'The request is not HTTP that can be understood.'] as const

/** The code of a request that cannot be understood. */
export const UNREADABLE = 262199

export function answerUnreadable(failure: Error & { readonly code?: string }, socket: Socket): void {
  if (failure.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] = ANSWERS[failure.code ?? ''] ?? BROKEN
  const body = `${JSON.stringify({ error: { message, code: UNREADABLE } })}\n`
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  socket.end(`${head}Connection: close\r\n\r\n${body}`)
}
