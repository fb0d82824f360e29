/**
 * Sends requests over keep-alive connections of plain node:http and tells what came back. Requests are signed with SigV4
 * over UNSIGNED-PAYLOAD: the signing key is kept, so a signature costs two hashes and nobody reads the bodies sent.
 */
import { createHash, createHmac } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import type { Order } from './order.ts'

const REQUEST_MS_MAX = 60_000

export type Destination = Pick<Order, 'base' | 'credentials'>

export interface Request {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly payload?: Buffer | undefined
  /** Names in lower case. Those that begin with `x-amz-` are signed. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  /** 0 when the connection broke. */
  readonly status: number
  readonly bytes: number
  /** The beginning of the body, where it was asked for or is an error's; or why there is none. */
  readonly text: string
  readonly etag: string
}

const TEXT_LENGTH_MAX = 2000

export class Sender {
  readonly #url: URL
  readonly #agent: http.Agent
  readonly #authorize: (request: Request) => Record<string, string>

  constructor({ base, credentials }: Destination, clients: number) {
    this.#url = new URL(base)
    const options = { keepAlive: true, maxSockets: clients, rejectUnauthorized: false, scheduling: 'fifo' as const }
    this.#agent = this.#isPlain ? new http.Agent(options) : new https.Agent(options)
    this.#authorize = authorizer(credentials, this.#url.host)
  }

  get #isPlain(): boolean {
    return this.#url.protocol === 'http:'
  }

  send(request: Request, keepText = false): Promise<Answer> {
    const { method, path, payload } = request
    const headers = { ...this.#authorize(request), ...request.headers }
    if (payload !== undefined) headers['content-length'] = String(payload.length)
    const { hostname: host, port } = this.#url
    return new Promise((resolve) => {
      const broken = (failure: Error) => resolve({ status: 0, bytes: 0, text: failure.message, etag: '' })
      const call = (this.#isPlain ? http : https).request(
        { agent: this.#agent, host, port, method, path, headers, timeout: REQUEST_MS_MAX },
        (reply) => {
          const status = reply.statusCode ?? 0
          let bytes = 0
          let text = ''
          reply.on('data', (piece: Buffer) => {
            bytes += piece.length
            if ((keepText || status >= 300) && text.length < TEXT_LENGTH_MAX) text += piece.toString()
          })
          reply.on('end', () => resolve({ status, bytes, text, etag: reply.headers.etag ?? '' }))
          reply.on('error', broken)
        },
      )
      call.on('timeout', () => call.destroy(new Error('no answer in time')))
      call.on('error', broken)
      call.end(payload)
    })
  }

  end(): void {
    this.#agent.destroy()
  }
}

/** The headers that say who asks. */
function authorizer(credentials: Order['credentials'], host: string): (request: Request) => Record<string, string> {
  if (credentials === undefined) return () => ({ host })
  if ('user' in credentials) {
    const authorization = `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`
    return () => ({ host, authorization })
  }
  const { accessKey, secretKey } = credentials
  const date = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  const scope = `${date}/us-east-1/s3/aws4_request`
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = ['us-east-1', 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretKey}`, date))
  return ({ method, path: target, headers = {} }) => {
    const [path = '', query = ''] = target.split('?')
    const time = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
    const amazons = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-'))
    const signed = {
      host,
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amz-date': time,
      ...Object.fromEntries(amazons),
    }
    const entries = Object.entries(signed).toSorted(([a], [b]) => (a < b ? -1 : 1))
    const names = entries.map(([name]) => name).join(';')
    const lines = entries.map(([name, value]) => `${name}:${value}\n`).join('')
    const canonical = `${method}\n${path}\n${query}\n${lines}\n${names}\nUNSIGNED-PAYLOAD`
    const digest = createHash('sha256').update(canonical).digest('hex')
    const signature = createHmac('sha256', key).update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`).digest('hex')
    return {
      ...signed,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    }
  }
}
