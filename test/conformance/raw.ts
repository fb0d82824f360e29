/** Requests as they are on the wire, to the object store of a target. */
import { request } from 'node:https'
import { sign } from '../../src/s3/auth/sign.ts'
import type { Target } from './target.ts'

export interface Raw {
  /** 100 where the body was asked for; none of it is sent. */
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** A PUT that says how long its body is, and waits to be asked for it. */
export function announce(target: Target, path: string, bytes: number, rawQuery = ''): Promise<Raw> {
  const { host } = new URL(target.s3 ?? '')
  const identity = { accessKey: target.accessKey, secret: target.secretKey, region: 'us-east-1' }
  const headers = { host, 'content-length': String(bytes), expect: '100-continue' }
  const about = { method: 'PUT', rawPath: path, rawQuery, headers }
  const signed = sign(about, identity, new Date(), 'UNSIGNED-PAYLOAD')
  return send(target, 'PUT', rawQuery === '' ? path : `${path}?${rawQuery}`, signed.headers)
}

export function send(
  target: Target,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, target.s3), { method, headers, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        sent.destroy()
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, text: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('continue', () => {
      resolve({ status: 100, headers: {}, text: '' })
      sent.destroy()
    })
    sent.on('error', reject)
    if (headers['expect'] === undefined) sent.end()
    else sent.flushHeaders()
  })
}
