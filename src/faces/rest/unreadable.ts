/** Requests that never become one: broken HTTP, too large headers, too slow. They get JSON too, written by hand. */
import { codeOf } from '../../model/failure.ts'
import type { Refusal, Unreadable } from '../../wire/http-server.ts'

const ANSWERS: Readonly<Record<Unreadable, readonly [status: string, message: string]>> = {
  'not-http': ['400 Bad Request', 'The request is not HTTP that can be understood.'],
  'headers-too-large': ['431 Request Header Fields Too Large', 'The headers or the address are too long.'],
  'too-slow': ['408 Request Timeout', 'The request did not arrive in time.'],
  connect: ['405 Method Not Allowed', 'Tunnels through the management address are not supported.'],
}

/** The code of a request that cannot be understood. */
export const UNREADABLE = codeOf('requestUnreadable')

export function refusalOf(why: Unreadable): Refusal {
  const [status, message] = ANSWERS[why]
  return {
    status,
    contentType: 'application/json',
    body: `${JSON.stringify({ error: { message, code: UNREADABLE } })}\n`,
  }
}
