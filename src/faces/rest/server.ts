/** The management address: HTTPS with the REST interface, its documentation, and health. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import fastifyStatic from '@fastify/static'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Cluster } from '../../core/cluster.ts'
import type { Clock, System } from '../../ports/system.ts'
import { hasMethod } from '../../model/access.ts'
import { codeOf, failure } from '../../model/failure.ts'
import { isServed } from '../../model/release.ts'
import { printOpenApi } from '../openapi/document.ts'
import { answer, type RestFace, type RestReply, type RestRequest } from './answer.ts'
import { chooseDialect, type Dialect } from './dialects.ts'
import { failed } from './failed.ts'
import { SEED_BYTES_MAX } from '../../core/seed/document.ts'
import { BODY_BYTES_MAX } from './json.ts'
import { printJson } from './print.ts'
import { linger } from '../../wire/linger.ts'
import { Connections, type ConnectionBounds } from '../../wire/connections.ts'
import { handshakeMs, headersMax, headersMs, makeHttpServer, type HttpWaits } from '../../wire/http-server.ts'
import { refusalOf, UNREADABLE } from './unreadable.ts'

export interface ManagementOptions {
  readonly key: string
  readonly cert: string
  readonly host: string
  readonly port: number
  /** The folder of the API browser's files. */
  readonly browserFolder: string
  readonly isReady: () => Promise<boolean>
  /** Shorter waits, for tests. */
  readonly waits?: Partial<HttpWaits>
  /** Fewer connections, for tests. */
  readonly connections?: ConnectionBounds
}

const TELL_BUSY_EVERY_MS = 60_000
/** Larger bodies are read only from those who can log in. */
export const BODY_BEFORE_LOGIN_BYTES_MAX = 64 * 1024
/** Requests in progress at once; further ones are asked to come back. */
export const IN_PROGRESS_MAX = 1024
export const CONNECTION_BOUNDS: ConnectionBounds = { connectionsMax: 4096, perAddressMax: 1024 }
const WAITS: HttpWaits = { handshakeMs, headersMs, requestMs: 60_000, idleMs: 75_000 }

export interface Management {
  readonly host: string
  readonly port: number
  /** Takes no new connection and lets requests in progress end. */
  close(): Promise<void>
}

export async function serveManagement(face: RestFace, options: ManagementOptions): Promise<Management> {
  const { cluster } = face.actions
  const { clock } = cluster.system
  const connections = new Connections({ ...(options.connections ?? CONNECTION_BOUNDS), clock, log: cluster.log })
  const waits = { ...WAITS, ...options.waits }
  const server = Fastify({
    serverFactory: (handle) =>
      makeHttpServer({
        tls: options,
        connections,
        clock,
        waits,
        refusalOf,
        handle(request, response) {
          endWithSilentClient(request, response)
          handle(request, response)
        },
      }),
    // The server that was made above answers what is no request.
    clientErrorHandler: () => undefined,
    rewriteUrl: ({ url = '/' }) => originForm(url),
    bodyLimit: BODY_BYTES_MAX,
    exposeHeadRoutes: false,
    routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, maxParamLength: 2048 },
    return503OnClosing: true,
    forceCloseConnections: 'idle',
    frameworkErrors(_failure, _request, reply) {
      const error = { message: 'The address cannot be understood.', code: UNREADABLE }
      void (reply as unknown as FastifyReply).code(400).send({ error })
    },
  }) as unknown as FastifyInstance
  let inProgress = 0
  let toldBusyMs: number | undefined

  // Before the routes: each takes the handlers that are there when it is made.
  server.addHook('onRequest', async (request, reply) => {
    const problem = problemOfHead(request.raw)
    if (problem === undefined) return undefined
    const error = { message: problem, code: UNREADABLE }
    return reply.code(400).header('connection', 'close').send({ error })
  })
  server.setNotFoundHandler((request, reply) => {
    if (!hasMethod(request.method) && request.method !== 'OPTIONS') {
      const error = { message: `The method ${request.method} is not supported.`, code: UNREADABLE }
      return reply.code(405).header('allow', 'GET, HEAD, OPTIONS, POST, PATCH, DELETE').send({ error })
    }
    const message = `Nothing is served at ${request.url.slice(0, 200)}.`
    return reply.code(404).send({ error: { message, code: codeOf('apiNotFound') } })
  })
  server.setErrorHandler(async (failure: Error & { statusCode?: number; code?: string }, request, reply) => {
    const tooLarge = failure.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
    const status = tooLarge ? 413 : failure.statusCode !== undefined && failure.statusCode < 500 ? 400 : 500
    const message = tooLarge
      ? `The body is larger than ${request.routeOptions.bodyLimit} bytes.`
      : status === 400
        ? 'The request cannot be understood.'
        : 'The request could not be carried out. The log has the details.'
    if (status === 500) face.actions.cluster.log.error('A request failed.', { cause: failure.stack ?? failure.message })
    const body = { error: { message, code: status === 500 ? codeOf('internalError') : UNREADABLE } }
    return tooLarge ? refuseBody(reply, clock, { status, headers: {}, body }) : reply.code(status).send(body)
  })

  // Bodies come as text: the face reads JSON itself, within its own bounds.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body)
  })

  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    if (inProgress >= IN_PROGRESS_MAX) {
      const nowMs = clock.elapsed()
      // Whoever sends too many requests must not fill the log with them.
      if (toldBusyMs === undefined || nowMs - toldBusyMs > TELL_BUSY_EVERY_MS) {
        toldBusyMs = nowMs
        cluster.log.warn('Requests were turned away.', { inProgress: IN_PROGRESS_MAX })
      }
      return send(reply, cluster.system, TOO_BUSY)
    }
    inProgress++
    try {
      return await send(reply, cluster.system, await answer(face, asRestRequest(request)))
    } finally {
      inProgress--
    }
  }
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers, ip } = request
    const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity
    if (bytes <= BODY_BEFORE_LOGIN_BYTES_MAX) return undefined
    try {
      await face.authenticate(headers.authorization, ip)
      return undefined
    } catch (failure) {
      return refuseBody(reply, clock, failed(face, asRestRequest(request), dialectOf(request), failure))
    }
  }
  // A whole configuration, as text in JSON.
  server.post('/api/private/imports', { bodyLimit: 2 * SEED_BYTES_MAX, onRequest }, serve)
  server.all('/api', { onRequest }, serve)
  server.all('/api/*', { onRequest }, serve)

  server.get('/livez', (_request, reply) => reply.code(200).send({ status: 'live' }))
  server.get('/readyz', async (_request, reply) =>
    (await options.isReady())
      ? reply.code(200).send({ status: 'ready' })
      : reply.code(503).send({ status: 'not ready' }),
  )
  await documentation(server, face.actions.cluster, options.browserFolder)

  await server.listen({ host: options.host, port: options.port })
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  return { host: options.host, port, close: () => server.close() }
}

function asRestRequest({ method, raw, headers, body, ip }: FastifyRequest): RestRequest {
  return {
    method,
    target: raw.url ?? '/',
    headers: headers as RestRequest['headers'],
    body: typeof body === 'string' ? body : '',
    from: ip,
  }
}

function dialectOf({ headers }: FastifyRequest): Dialect {
  return chooseDialect('auto', asText(headers['x-dot-client-app']), headers['user-agent'])
}

const asText = (header: string | string[] | undefined) => (typeof header === 'string' ? header : undefined)

/** A client that neither sends nor reads loses its connection. While an answer is being made, the silence is ours. */
function endWithSilentClient(request: IncomingMessage, response: ServerResponse): void {
  response.on('timeout', () => {
    const { socket } = request
    const isOurs = request.complete && !response.headersSent && socket.writableLength === 0
    if (isOurs) socket.setTimeout(socket.timeout ?? WAITS.idleMs)
    else socket.destroy()
  })
}

/** A proxy may send the whole URL (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  const authority = /^https?:\/\/[^/?]*/i.exec(target)?.[0]
  if (authority === undefined) return target
  const rest = target.slice(authority.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** What a proxy in front might read in another way (RFC 9112, 3.2). */
function problemOfHead({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (rawHeaders.length > 2 * headersMax) return `A request has at most ${headersMax} headers.`
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1) return 'A request has one Host header.'
  return hosts === 0 && httpVersion === '1.1' ? 'A request of HTTP/1.1 has a Host header.' : undefined
}

/** Long answers go out piece by piece, as the client takes them. */
async function send(reply: FastifyReply, system: System, answered: RestReply): Promise<FastifyReply> {
  reply.code(answered.status).headers({ ...COMMON_HEADERS, ...answered.headers })
  if (answered.text !== undefined) return reply.send(`${answered.text}\n`)
  const pieces = await printJson(system, answered.body)
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return reply.send(only)
  reply.header(
    'content-length',
    pieces.reduce((sum, { length }) => sum + length, 0),
  )
  return reply.send(reply.request.method === 'HEAD' ? Buffer.concat(pieces) : Readable.from(pieces))
}

/** Answers a request whose body is not read. A client that sends all of it before it reads still gets the answer. */
async function refuseBody(
  reply: FastifyReply,
  clock: Clock,
  { status, headers, body }: RestReply,
): Promise<FastifyReply> {
  reply.hijack()
  const { raw, request } = reply
  const text = JSON.stringify(body)
  const length = { connection: 'close', 'content-length': Buffer.byteLength(text) }
  raw.writeHead(status, { ...COMMON_HEADERS, ...headers, ...length })
  raw.write(text)
  await linger(request.raw, clock)
  raw.end()
  return reply
}

const COMMON_HEADERS = {
  'content-type': 'application/hal+json',
  'cache-control': 'no-cache,no-store,must-revalidate',
  'x-content-type-options': 'nosniff',
} as const

const TOO_MANY = failure('tooManyRequests')

const TOO_BUSY: RestReply = {
  status: 429,
  headers: { 'retry-after': '1' },
  body: { error: { message: TOO_MANY.message, code: TOO_MANY.code } },
}

/** The API browser at both stated paths, from local files, over the document derived from the model. */
async function documentation(server: FastifyInstance, cluster: Cluster, browserFolder: string): Promise<void> {
  // Few starts of a cluster see anybody who reads it.
  let document: Promise<Buffer> | undefined
  server.get('/docs/api/openapi.json', async (_request, reply) => {
    document ??= printOpenApi(cluster)
    return reply.header('content-type', 'application/json; charset=utf-8').send(await document)
  })
  const page = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header('content-type', 'text/html; charset=utf-8').header('content-security-policy', POLICY).send(PAGE)
  const newer = isServed('9.9', cluster.release) ? ['/docs/swagger-ui', '/docs/swagger-ui/index.html'] : []
  for (const path of ['/docs', '/docs/api', '/docs/api/index.html', ...newer]) server.get(path, page)
  server.get('/docs/swagger-ui/start.js', (_request, reply) =>
    reply.header('content-type', 'text/javascript; charset=utf-8').send(START),
  )
  await server.register(fastifyStatic, {
    root: browserFolder,
    prefix: '/docs/swagger-ui/files/',
    index: false,
    decorateReply: false,
  })
}

const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Holdfast: management interface</title>
    <link rel="stylesheet" href="/docs/swagger-ui/files/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/swagger-ui/files/favicon-32x32.png">
  </head>
  <body>
    <div id="browser"></div>
    <script src="/docs/swagger-ui/files/swagger-ui-bundle.js"></script>
    <script src="/docs/swagger-ui/start.js"></script>
  </body>
</html>
`

const START = `SwaggerUIBundle({ url: '/docs/api/openapi.json', dom_id: '#browser', deepLinking: true, docExpansion: 'none', filter: true })\n`
