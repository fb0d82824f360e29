/**
 * Reference line 1: a node:http server that does nothing but HTTP. A PUT is received and forgotten; a GET of
 * `/anything/<bytes>/…` is answered with so many bytes from memory. With a certificate it speaks TLS too, once more with
 * the routes and handlers of Fastify.
 */
import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import Fastify from 'fastify'
import { BODY_BYTES_MAX } from './order.ts'

export interface BareOrder {
  readonly key: string
  readonly cert: string
}

export interface BareAddresses {
  readonly pid: number
  /** HTTP, HTTPS, and HTTPS with Fastify. */
  readonly plain: string
  readonly tls: string
  readonly framework: string
}

const body = randomFillSync(Buffer.allocUnsafe(BODY_BYTES_MAX))

const serve: http.RequestListener = (request, response) => {
  if (request.method === 'PUT') {
    request.on('end', () => response.writeHead(200, { 'content-length': 0 }).end()).resume()
    return
  }
  const bytes = Number(request.url?.split('/', 3)[2] ?? 0)
  response.writeHead(200, { 'content-length': bytes }).end(body.subarray(0, bytes))
}

process.on('disconnect', () => process.exit(0))
process.once('message', ({ key, cert }: BareOrder) => {
  void listen({ key, cert }).then((addresses) => process.send?.(addresses))
})

async function listen(tls: BareOrder): Promise<BareAddresses> {
  const [plain, secure] = [http.createServer(serve), https.createServer(tls, serve)]
  for (const server of [plain, secure]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const framework = Fastify({ serverFactory: (handle) => https.createServer(tls, handle) })
  framework.get<{ Params: { bytes: string } }>('/:any/:bytes/*', (request, reply) => {
    const bytes = Number(request.params.bytes)
    return reply.send(body.subarray(0, bytes))
  })
  await framework.listen({ port: 0, host: '127.0.0.1' })
  return {
    pid: process.pid,
    plain: `http://127.0.0.1:${portOf(plain)}`,
    tls: `https://127.0.0.1:${portOf(secure)}`,
    framework: `https://127.0.0.1:${portOf(framework.server)}`,
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
