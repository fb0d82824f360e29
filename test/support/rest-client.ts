/** A plain HTTPS client for the management interface, that takes the self-signed certificate and hides nothing. */
import { Agent, request } from 'node:https'
import type { Body } from './body.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The JSON of the text; undefined where it is not JSON. */
  readonly body: Body
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is; `undefined` in `body` sends none. */
  readonly raw?: string
}

export class RestClient {
  readonly base: URL
  readonly authorization: string | undefined
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 8 })

  constructor(base: string, authorization: string | undefined) {
    this.base = new URL(base)
    this.authorization = authorization
  }

  as(authorization: string | undefined): RestClient {
    return new RestClient(this.base.origin, authorization)
  }

  async call(method: string, target: string, body?: unknown, options: RequestOptions = {}): Promise<Reply> {
    const payload = options.raw ?? (body === undefined ? undefined : JSON.stringify(body))
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent: this.#agent,
          host: this.base.hostname,
          port: this.base.port,
          method,
          path: target,
          headers: {
            ...(this.authorization === undefined ? {} : { authorization: this.authorization }),
            ...(payload === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
            ...options.headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            const headers = Object.fromEntries(
              Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
            )
            resolve({ status: response.statusCode ?? 0, headers, text, body: parsed(text) })
          })
        },
      )
      sent.on('error', reject)
      sent.end(payload)
    })
  }

  get(target: string, options?: RequestOptions): Promise<Reply> {
    return this.call('GET', target, undefined, options)
  }

  close(): void {
    this.#agent.destroy()
  }
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return undefined as unknown as Body
  }
}
