/** Requests as they are on the wire, signed in every way there is, and answers to look into. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import { presign, sign, type Signature } from '../../../src/s3/auth/sign.ts'
import { percentEncode } from '../../../src/s3/request/percent.ts'
import { signedChunks, unsignedChunks, type Chunked } from './chunks.ts'
import type { Identity, Settings } from './target.ts'
import { Xml } from './xml.ts'

/**
 * How a request is signed: `header` and `unsigned` with an Authorization header, over the body's SHA-256 or over
 * UNSIGNED-PAYLOAD; `presigned` in the query; the `chunked` ones with the body in aws-chunked pieces; `anonymous` not.
 */
export type Signing =
  | 'header'
  | 'unsigned'
  | 'presigned'
  | 'anonymous'
  | 'chunked-signed'
  | 'chunked-signed-trailer'
  | 'chunked-unsigned-trailer'

export interface Request {
  readonly bucket?: string
  readonly key?: string | Buffer
  /** Parameters with an empty value are sent as the name alone. A string is sent as it is. */
  readonly query?: string | Readonly<Record<string, string | number>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly signing?: Signing
  /** Without it, the owner. */
  readonly as?: Identity
  readonly now?: Date
  readonly region?: string
  readonly expiresSeconds?: number
  /** In place of what the body's hash is. */
  readonly contentSha256?: string
  readonly chunked?: Chunked
  /** Changes what is sent after it was signed. */
  readonly tamper?: (sent: Sent) => Sent
  /** The Host header, in place of that of the endpoint. */
  readonly host?: string
  /** In place of bucket and key, percent-encoded. */
  readonly rawPath?: string
}

export interface Sent {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Keeps its connections until it is closed. */
export class Connection {
  readonly settings: Settings
  readonly #agent: HttpAgent

  constructor(settings: Settings) {
    this.settings = settings
    const isSecure = settings.url.startsWith('https:')
    this.#agent = isSecure
      ? new HttpsAgent({ keepAlive: true, rejectUnauthorized: !settings.isInsecure })
      : new HttpAgent({ keepAlive: true })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** What goes over the wire for a request. */
  prepare(method: string, request: Request): Sent {
    const { settings } = this
    const rawPath = request.rawPath ?? pathOf(settings, request)
    const rawQuery = queryOf(request.query)
    const plain = request.body === undefined ? undefined : Buffer.from(request.body)
    const given: Record<string, string> = { host: hostOf(settings, request), ...lowered(request.headers) }
    if (plain !== undefined && given['transfer-encoding'] === undefined)
      given['content-length'] ??= String(plain.length)
    const signed = signedRequest({ method, rawPath, rawQuery, headers: given }, plain, request, settings)
    const path = signed.query === '' ? rawPath : `${rawPath}?${signed.query}`
    const sent = { path, headers: signed.headers, body: signed.body ?? Buffer.alloc(0) }
    return request.tamper?.(sent) ?? sent
  }

  send(method: string, request: Request): Promise<Answer> {
    const { path, headers, body } = this.prepare(method, request)
    const { protocol, hostname, port } = new URL(this.settings.url)
    const start = protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve, reject) => {
      const asked = start({ hostname, port, method, path, headers, agent: this.#agent }, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          resolve(new Answer(response.statusCode ?? 0, response.headers, Buffer.concat(pieces)))
        })
      })
      asked.on('error', reject)
      if (headers['expect'] !== '100-continue') return void asked.end(body)
      // The body waits to be asked for; an answer that comes instead is all there is.
      asked.on('continue', () => asked.end(body))
      asked.on('response', (response) => response.on('end', () => asked.writableEnded || asked.destroy()))
      asked.flushHeaders()
    })
  }
}

export class Answer extends Xml {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer

  constructor(status: number, headers: IncomingHttpHeaders, body: Buffer) {
    super(body.toString('utf8'))
    this.status = status
    this.headers = headers
    this.body = body
  }

  /** For people: the status, and what an error says. */
  get summary(): string {
    const [code, message] = [this.element('Code'), this.element('Message')]
    return code === undefined ? `${this.status} ${this.text.slice(0, 200)}` : `${this.status} ${code} (${message})`
  }

  /** A header, or nothing. */
  header(name: string): string | undefined {
    const value = this.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** A header that must be there. */
  must(name: string): string {
    const value = this.header(name)
    assert.ok(value !== undefined, `the header ${name} is there`)
    return value
  }
}

/** The answer, which must have this status, or one of these where Amazon's documents say both. */
export async function succeeds(answer: Promise<Answer>, status: number | readonly number[] = 200): Promise<Answer> {
  const given = await answer
  const wanted = typeof status === 'number' ? [status] : status
  assert.ok(wanted.includes(given.status), `answered ${given.summary}, not ${wanted.join(' or ')}`)
  return given
}

/** The answer, which must be this error. HEAD has no body to say the code in. */
export async function fails(answer: Promise<Answer>, status: number, code?: string): Promise<Answer> {
  const given = await answer
  const isRight = given.status === status && (code === undefined || given.element('Code') === code)
  assert.ok(isRight, `answered ${given.summary}, not ${status} ${code ?? ''}`)
  return given
}

const SETTLING_MS_MAX = 60_000

/** For what takes a moment to reach every connection, as a changed policy may: asks again until it holds. */
export async function eventually(holds: () => Promise<unknown>): Promise<void> {
  for (const untilMs = Date.now() + SETTLING_MS_MAX; ; await wait(50)) {
    try {
      await holds()
      return
    } catch (failure) {
      if (Date.now() > untilMs) throw failure
    }
  }
}

interface Plain {
  readonly method: string
  readonly rawPath: string
  readonly rawQuery: string
  readonly headers: Readonly<Record<string, string>>
}

interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly query: string
  readonly body: Buffer | undefined
}

function signedRequest(
  plain: Plain,
  body: Buffer | undefined,
  request: Request,
  { owner, region }: Settings,
): SignedRequest {
  const { signing = 'header', now = new Date(), as = owner, chunked = {} } = request
  const identity = { ...as, region: request.region ?? region }
  const whole = body ?? Buffer.alloc(0)
  const withHeader = (payload: string): SignedRequest => {
    const { headers } = sign(plain, identity, now, request.contentSha256 ?? payload)
    return { headers, query: plain.rawQuery, body }
  }
  const inChunks = (payload: string, encode: (signature: Signature) => Buffer): SignedRequest => {
    const trailer = chunked.trailer === undefined ? {} : { 'x-amz-trailer': Object.keys(chunked.trailer).join(',') }
    const headers = {
      ...plain.headers,
      ...trailer,
      'content-encoding': plain.headers['content-encoding'] ?? 'aws-chunked',
      'x-amz-decoded-content-length': String(chunked.decodedLength ?? whole.length),
    }
    const signed = (more: Readonly<Record<string, string>>) =>
      sign({ ...plain, headers: { ...headers, ...more } }, identity, now, payload)
    // How long the pieces are does not depend on their signatures, so a first round tells.
    const length = String(encode(signed({})).length)
    const signature = signed('transfer-encoding' in headers ? {} : { 'content-length': length })
    return { headers: signature.headers, query: plain.rawQuery, body: encode(signature) }
  }
  switch (signing) {
    case 'header':
      return withHeader(createHash('sha256').update(whole).digest('hex'))
    case 'unsigned':
      return withHeader('UNSIGNED-PAYLOAD')
    case 'anonymous':
      return { headers: plain.headers, query: plain.rawQuery, body }
    case 'presigned': {
      const query = presign(plain, identity, { now, expiresSeconds: request.expiresSeconds ?? 60 })
      return { headers: plain.headers, query, body }
    }
    case 'chunked-signed':
      return inChunks('STREAMING-AWS4-HMAC-SHA256-PAYLOAD', (signature) => signedChunks(whole, signature, chunked))
    case 'chunked-signed-trailer':
      return inChunks('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', (signature) =>
        signedChunks(whole, signature, chunked),
      )
    case 'chunked-unsigned-trailer':
      return inChunks('STREAMING-UNSIGNED-PAYLOAD-TRAILER', () => unsignedChunks(whole, chunked))
  }
}

function hostOf(settings: Settings, { bucket, host }: Request): string {
  if (host !== undefined) return host
  return settings.isVirtualHosted && bucket !== undefined ? `${bucket}.${settings.domain}` : new URL(settings.url).host
}

function pathOf(settings: Settings, { bucket, key }: Request): string {
  const folder = bucket === undefined || settings.isVirtualHosted ? '' : `/${bucket}`
  if (key === undefined) return folder === '' ? '/' : folder
  return `${folder}/${percentEncode(Buffer.from(key), { keepSlash: true })}`
}

function queryOf(query: Request['query'] = ''): string {
  if (typeof query === 'string') return query
  return Object.entries(query)
    .map(([name, value]) => (value === '' ? encoded(name) : `${encoded(name)}=${encoded(String(value))}`))
    .join('&')
}

function encoded(text: string): string {
  return percentEncode(Buffer.from(text), { keepSlash: false })
}

function lowered(headers: Request['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
