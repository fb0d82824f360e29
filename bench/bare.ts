/**
 * Reference line 1: a node:http server that does nothing but HTTP. A PUT is received and forgotten; a GET of
 * `/anything/<bytes>/…` is answered with so many bytes from memory. With a certificate it speaks TLS too.
 */
import { randomFillSync } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { BODY_BYTES_MAX } from './order.ts'

export interface BareOrder {
  readonly key: string
  readonly cert: string
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
  const servers = [http.createServer(serve), https.createServer({ key, cert }, serve)]
  let listening = 0
  for (const server of servers) {
    server.listen(0, '127.0.0.1', () => {
      if (++listening === servers.length) {
        const [plain, tls] = servers.map((each) => (each.address() as AddressInfo).port)
        process.send?.({ plain: `http://127.0.0.1:${plain}`, tls: `https://127.0.0.1:${tls}` })
      }
    })
  }
})
