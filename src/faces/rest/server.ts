/** The management address: HTTPS with the REST interface, its documentation, and health. */
import { Readable } from 'node:stream'
import fastifyStatic from '@fastify/static'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Cluster } from '../../core/cluster.ts'
import type { System } from '../../ports/system.ts'
import { isServed } from '../../model/release.ts'
import { openApi } from '../openapi/document.ts'
import { answer, type RestFace, type RestReply } from './answer.ts'
import { SEED_BYTES_MAX } from '../../core/seed/document.ts'
import { BODY_BYTES_MAX } from './json.ts'
import { printJson } from './print.ts'
import { answerUnreadable, UNREADABLE } from './unreadable.ts'

export interface ManagementOptions {
  readonly key: string
  readonly cert: string
  readonly host: string
  readonly port: number
  /** The folder of the API browser's files. */
  readonly browserFolder: string
  readonly isReady: () => boolean
}

/** Requests in progress at once; further ones are asked to come back. */
export const IN_PROGRESS_MAX = 1024
const CONNECTIONS_MAX = 4096
const IDLE_MS = 75_000
const HEADERS_MS = 30_000
const BODY_MS = 60_000

export interface Management {
  readonly host: string
  readonly port: number
  /** Takes no new connection and lets requests in progress end. */
  close(): Promise<void>
}

export async function serveManagement(face: RestFace, options: ManagementOptions): Promise<Management> {
  const server = Fastify({
    https: { key: options.key, cert: options.cert, minVersion: 'TLSv1.2' },
    bodyLimit: BODY_BYTES_MAX,
    connectionTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    requestTimeout: BODY_MS,
    exposeHeadRoutes: false,
    routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, maxParamLength: 2048 },
    return503OnClosing: true,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerUnreadable,
    frameworkErrors(_failure, _request, reply) {
      const error = { message: 'The address cannot be understood.', code: UNREADABLE }
      void (reply as unknown as FastifyReply).code(400).send({ error })
    },
  }) as unknown as FastifyInstance
  server.server.headersTimeout = HEADERS_MS
  server.server.maxConnections = CONNECTIONS_MAX
  let inProgress = 0

  // Before the routes: each takes the handlers that are there when it is made.
  server.setNotFoundHandler((request, reply) => {
    const message = `Nothing is served at ${request.url.slice(0, 200)}.`
    return reply.code(404).send({ error: { message, code: 3 } })
  })
  server.setErrorHandler((failure: Error & { statusCode?: number; code?: string }, request, reply) => {
    const tooLarge = failure.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
    const status = tooLarge ? 413 : failure.statusCode !== undefined && failure.statusCode < 500 ? 400 : 500
    const message = tooLarge
      ? `The body is larger than ${request.routeOptions.bodyLimit} bytes.`
      : status === 400
        ? 'The request cannot be understood.'
        : 'The request could not be carried out. The log has the details.'
    if (status === 500) face.actions.cluster.log.error('A request failed.', { cause: failure.stack ?? failure.message })
    return reply.code(status).send({ error: { message, code: status === 500 ? 262145 : UNREADABLE } })
  })

  // Bodies come as text: the face reads JSON itself, within its own bounds.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body)
  })

  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { cluster } = face.actions
    if (inProgress >= IN_PROGRESS_MAX) return send(reply, cluster.system, tooBusy(cluster))
    inProgress++
    try {
      const body = typeof request.body === 'string' ? request.body : ''
      const headers = request.headers as Readonly<Record<string, string | undefined>>
      return await send(
        reply,
        cluster.system,
        await answer(face, { method: request.method, target: request.raw.url ?? '/', headers, body, from: request.ip }),
      )
    } finally {
      inProgress--
    }
  }
  // A whole configuration, as text in JSON.
  server.post('/api/private/imports', { bodyLimit: 2 * SEED_BYTES_MAX }, serve)
  server.all('/api', serve)
  server.all('/api/*', serve)

  server.get('/livez', (_request, reply) => reply.code(200).send({ status: 'live' }))
  server.get('/readyz', (_request, reply) =>
    options.isReady() ? reply.code(200).send({ status: 'ready' }) : reply.code(503).send({ status: 'not ready' }),
  )
  await documentation(server, face.actions.cluster, options.browserFolder)

  await server.listen({ host: options.host, port: options.port })
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  return { host: options.host, port, close: () => server.close() }
}

/** Long answers go out piece by piece, as the client takes them. */
async function send(reply: FastifyReply, system: System, answered: RestReply): Promise<FastifyReply> {
  const pieces = await printJson(system, answered.body)
  reply.code(answered.status).headers({ ...COMMON_HEADERS, ...answered.headers })
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return reply.send(only)
  reply.header(
    'content-length',
    pieces.reduce((sum, { length }) => sum + length, 0),
  )
  return reply.send(reply.request.method === 'HEAD' ? Buffer.concat(pieces) : Readable.from(pieces))
}

const COMMON_HEADERS = {
  'content-type': 'application/hal+json',
  'cache-control': 'no-cache,no-store,must-revalidate',
  'x-content-type-options': 'nosniff',
} as const

function tooBusy(cluster: Cluster): RestReply {
  cluster.log.warn('Requests were turned away.', { inProgress: IN_PROGRESS_MAX })
  return {
    status: 429,
    headers: { 'retry-after': '1' },
    body: { error: { message: 'Too many requests are in progress.', code: 262160 } },
  }
}

/** The API browser at both stated paths, from local files, over the document derived from the model. */
async function documentation(server: FastifyInstance, cluster: Cluster, browserFolder: string): Promise<void> {
  const document = JSON.stringify(openApi(cluster))
  server.get('/docs/api/openapi.json', (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(document),
  )
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
