/**
 * The generator: one process, however many clients it plays, over keep-alive connections of plain node:http. The same
 * code drives the product and the reference servers, so its own cost is in every line of the table alike; what it can do
 * at most is the line of the bare server.
 *
 * Requests are signed with SigV4 over UNSIGNED-PAYLOAD: the signing key is kept, so a signature costs two hashes and the
 * generator does not read the bodies it sends.
 */
import { createHash, createHmac, randomFillSync } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import { BODY_BYTES_MAX, numbered, type Load, type Order } from './order.ts'

const REQUEST_MS_MAX = 60_000

let body: Buffer | undefined

process.on('message', (order: Order) => {
  run(order).then(
    (load) => process.send?.({ load }),
    (failure: unknown) => process.send?.({ failure: String(failure) }),
  )
})
process.on('disconnect', () => process.exit(0))

async function run(order: Order): Promise<Load> {
  const url = new URL(order.base)
  const plain = url.protocol === 'http:'
  const options = { keepAlive: true, maxSockets: order.clients, rejectUnauthorized: false, scheduling: 'fifo' as const }
  const agent = plain ? new http.Agent(options) : new https.Agent(options)
  const authorize = authorizer(order, url.host)
  const bytesOut = order.body !== undefined && 'bytes' in order.body ? order.body.bytes : 0
  if (bytesOut > 0) body ??= randomFillSync(Buffer.allocUnsafe(BODY_BYTES_MAX))

  const milliseconds: number[] = []
  const failures: Record<string, number> = {}
  let firstFailure = ''
  let bytes = 0
  let next = order.numbers.pick === 'next' ? order.numbers.from : 0
  let begun = 0
  const startMs = performance.now()
  const wanted = 'requests' in order.until ? order.until.requests : Infinity
  const endMs = 'seconds' in order.until ? startMs + order.until.seconds * 1000 : Infinity

  const client = async (me: number) => {
    do {
      if (begun >= wanted) return
      begun++
      const { numbers } = order
      const n =
        numbers.pick === 'client' ? me : numbers.pick === 'next' ? next++ : Math.floor(Math.random() * numbers.count)
      const sentMs = performance.now()
      const answer = await once(n)
      milliseconds.push(performance.now() - sentMs)
      if (answer.status >= 200 && answer.status < 300) bytes += answer.bytes + bytesOut
      else {
        failures[answer.status] = (failures[answer.status] ?? 0) + 1
        if (firstFailure === '') firstFailure = answer.text
      }
    } while (performance.now() < endMs)
  }

  const once = (n: number) =>
    new Promise<{ status: number; bytes: number; text: string }>((resolve) => {
      const path = numbered(order.target, n)
      const payload =
        order.body === undefined
          ? undefined
          : 'json' in order.body
            ? Buffer.from(numbered(order.body.json, n))
            : body?.subarray(0, order.body.bytes)
      const headers: Record<string, string> = authorize(path)
      if (payload !== undefined) headers['content-length'] = String(payload.length)
      if (order.body !== undefined && 'json' in order.body) headers['content-type'] = 'application/json'
      const call = (plain ? http : https).request(
        { agent, host: url.hostname, port: url.port, method: order.method, path, headers, timeout: REQUEST_MS_MAX },
        (reply) => {
          const status = reply.statusCode ?? 0
          let received = 0
          let text = ''
          reply.on('data', (piece: Buffer) => {
            received += piece.length
            if (status >= 300 && text.length < 500) text += piece.toString()
          })
          reply.on('end', () => resolve({ status, bytes: received, text: `${status} ${text}` }))
          reply.on('error', (failure) => resolve({ status: 0, bytes: 0, text: failure.message }))
        },
      )
      call.on('timeout', () => call.destroy(new Error('no answer in time')))
      call.on('error', (failure) => resolve({ status: 0, bytes: 0, text: failure.message }))
      call.end(payload)
    })

  await Promise.all(Array.from({ length: order.clients }, (_, me) => client(me)))
  const seconds = (performance.now() - startMs) / 1000
  agent.destroy()
  return { seconds, milliseconds: Float64Array.from(milliseconds), bytes, failures, firstFailure, next }
}

/** The headers that say who asks. */
function authorizer({ method, credentials }: Order, host: string): (path: string) => Record<string, string> {
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
  return (target) => {
    const [path = '', query = ''] = target.split('?')
    const time = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
    const canonical =
      `${method}\n${path}\n${query}\nhost:${host}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:${time}\n\n` +
      `host;x-amz-content-sha256;x-amz-date\nUNSIGNED-PAYLOAD`
    const digest = createHash('sha256').update(canonical).digest('hex')
    const signature = createHmac('sha256', key).update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`).digest('hex')
    return {
      host,
      'x-amz-date': time,
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    }
  }
}
