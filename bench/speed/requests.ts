/**
 * Requests as the bytes that go over the wire, signed ahead of time: while a server is measured, the sender only copies
 * bytes, and what it costs to sign is nowhere in the measurement.
 */
import { createHash, createHmac, randomFillSync } from 'node:crypto'
import type { PayloadSigning, SpeedOrder, SpeedRequest } from './order.ts'

export interface Prepared {
  readonly head: Buffer
  readonly body: Buffer | undefined
  readonly isHead: boolean
  readonly kind: string
}

const EMPTY = createHash('sha256').digest('hex')
/** Small bodies are cut from one random block, each at another place. */
const BLOCK_BYTES = 8 * 2 ** 20
const LARGE_BYTES = 2 ** 20
/** Large bodies differ in every piece of this size, so that a server that stores equal pieces once stores all of them. */
const STAMP_EVERY_BYTES = 2 ** 16

/** In a random order, so that neighbouring keys do not come one after the other. */
export function prepare(order: SpeedOrder): Prepared[] {
  const sign = signer(order)
  const bodyOf = bodies()
  const prepared: Prepared[] = []
  for (const request of order.requests) {
    for (let round = 0; round < (request.times ?? 1); round++) {
      for (let n = request.from; n < request.from + request.count; n++) {
        const body = request.bytes === undefined ? undefined : bodyOf(request.bytes)
        const { method, kind = '' } = request
        prepared.push({ head: sign(request, n, body), body, isHead: method === 'HEAD', kind })
      }
    }
  }
  for (let at = prepared.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1))
    const [a, b] = [prepared[at], prepared[other]]
    if (a !== undefined && b !== undefined) [prepared[at], prepared[other]] = [b, a]
  }
  return prepared
}

function bodies(): (bytes: number) => Buffer {
  const block = randomFillSync(Buffer.allocUnsafe(BLOCK_BYTES + LARGE_BYTES))
  let large: Buffer | undefined
  let made = 0
  return (bytes) => {
    if (bytes <= LARGE_BYTES) {
      const at = Math.floor(Math.random() * BLOCK_BYTES)
      return block.subarray(at, at + bytes)
    }
    large ??= randomFillSync(Buffer.allocUnsafe(bytes))
    const own = Buffer.from(large)
    made++
    for (let at = 0; at < bytes; at += STAMP_EVERY_BYTES) own.writeUInt32BE(made, at)
    return own
  }
}

function signer({ base, accessKey, secretKey, region, payload }: SpeedOrder) {
  const { host } = new URL(base)
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretKey}`, time.slice(0, 8)))
  const names = 'host;x-amz-content-sha256;x-amz-date'
  return ({ method, target }: SpeedRequest, n: number, body: Buffer | undefined): Buffer => {
    const [path = '', query = ''] = target.replaceAll('{n}', String(n).padStart(8, '0')).split('?')
    const digest = digestOf(payload, body)
    const headers = `host:${host}\nx-amz-content-sha256:${digest}\nx-amz-date:${time}\n`
    const canonical = `${method}\n${path}\n${query}\n${headers}\n${names}\n${digest}`
    const hashed = createHash('sha256').update(canonical).digest('hex')
    const signature = createHmac('sha256', key).update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${hashed}`).digest('hex')
    const credential = `Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`
    return Buffer.from(
      `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1\r\nHost: ${host}\r\n` +
        `User-Agent: holdfast-bench\r\nx-amz-content-sha256: ${digest}\r\nx-amz-date: ${time}\r\n` +
        `Authorization: AWS4-HMAC-SHA256 ${credential}\r\n` +
        `${body === undefined ? '' : `Content-Length: ${body.length}\r\n`}\r\n`,
    )
  }
}

function digestOf(payload: PayloadSigning, body: Buffer | undefined): string {
  if (payload === 'unsigned') return 'UNSIGNED-PAYLOAD'
  return body === undefined ? EMPTY : createHash('sha256').update(body).digest('hex')
}
