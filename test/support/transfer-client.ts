/** Clients with large bodies, which send again what they were asked to send later; and clients that say nothing. */
import { once } from 'node:events'
import { request as plainRequest, type IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import { unsignedPayload } from '../../src/s3/auth/payload.ts'
import { sign } from '../../src/s3/auth/sign.ts'
import type { Product } from './product.ts'

const MIB = 2 ** 20
const PIECE_BYTES = 256 * 1024
const PART_BYTES = 16 * MIB
const TRIES_MAX = 20

export interface Answer {
  readonly status: number
  readonly body: string
}

/** A piece of an object: another one in each object and at each place, and known to whoever reads it back. */
function pieceOf(object: number, piece: number): Buffer {
  const bytes = Buffer.alloc(PIECE_BYTES, `holdfast ${object} `)
  bytes.writeUInt32BE(piece, 0)
  return bytes
}

export class TransferClient {
  readonly #base: URL
  readonly #product: Product
  /** Answers that asked to come back later. */
  slowDowns = 0

  constructor(product: Product, isSecure: boolean) {
    this.#base = new URL((isSecure ? product.s3 : product.s3Http) ?? '')
    this.#product = product
  }

  async put(path: string, object: number, bytes: number, from = 0): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#put(path, object, bytes, from)
      const isToBeTried = answer.status === 503 || answer.status === 0
      if (!isToBeTried || tries === TRIES_MAX) return answer
      this.slowDowns++
      await wait(200)
    }
  }

  async #put(path: string, object: number, bytes: number, from: number): Promise<Answer> {
    const request = this.#request('PUT', path, { 'content-length': String(bytes) })
    const answered = answerTo(request)
    answered.catch(() => undefined)
    for (let at = 0; at < bytes && !request.destroyed; at += PIECE_BYTES) {
      const piece = pieceOf(object, (from + at) / PIECE_BYTES)
      if (request.write(at + PIECE_BYTES > bytes ? piece.subarray(0, bytes - at) : piece)) continue
      const early = await Promise.race([once(request, 'drain').catch(() => undefined), answered.catch(() => 'failed')])
      if (!Array.isArray(early)) break
    }
    request.end()
    return answered.catch((failure: unknown) => ({ status: 0, body: String(failure) }))
  }

  async putInParts(path: string, object: number, bytes: number): Promise<Answer> {
    const begun = await this.send('POST', `${path}?uploads`)
    const upload = /<UploadId>([^<]+)/.exec(begun.body)?.[1] ?? ''
    const parts: string[] = []
    for (let at = 0; at < bytes; at += PART_BYTES) {
      const number = at / PART_BYTES + 1
      const query = `partNumber=${number}&uploadId=${encodeURIComponent(upload)}`
      const answer = await this.put(`${path}?${query}`, object, Math.min(PART_BYTES, bytes - at), at)
      if (answer.status !== 200) return answer
      parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${answer.body}</ETag></Part>`)
    }
    const document = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    return this.send('POST', `${path}?uploadId=${encodeURIComponent(upload)}`, document)
  }

  async send(method: string, path: string, body = ''): Promise<Answer> {
    const request = this.#request(method, path, { 'content-length': String(Buffer.byteLength(body)) })
    request.end(body)
    return answerTo(request).catch((failure: unknown) => ({ status: 0, body: String(failure) }))
  }

  /** Reads an object at no more than so many bytes in a second, and tells whether its bytes are right. */
  async get(path: string, object: number, bytes: number, bytesPerSecond = Infinity): Promise<boolean> {
    for (let tries = 1; tries < TRIES_MAX; tries++) {
      const request = this.#request('GET', path, {})
      request.end()
      // On a busy machine a handshake may take too long.
      const [response] = (await once(request, 'response').catch(() => [])) as [IncomingMessage?]
      if (response === undefined) continue
      if (response.statusCode === 200) return isRight(response, object, bytes, bytesPerSecond)
      response.resume()
      if (response.statusCode !== 503) return false
      this.slowDowns++
      await wait(200)
    }
    return false
  }

  #request(method: string, target: string, given: Readonly<Record<string, string>>) {
    const [rawPath = '', rawQuery = ''] = target.split('?')
    const { accessKey, secretKey: secret } = this.#product
    const { headers } = sign(
      { method, rawPath, rawQuery, headers: { host: this.#base.host, ...given } },
      { accessKey, secret, region: 'us-east-1' },
      new Date(),
      unsignedPayload,
    )
    const send = this.#base.protocol === 'https:' ? secureRequest : plainRequest
    return send(new URL(target, this.#base), { method, headers, agent: false, rejectUnauthorized: false })
  }
}

async function isRight(response: IncomingMessage, object: number, bytes: number, bytesPerSecond: number) {
  let at = 0
  let right = true
  let expected = pieceOf(object, 0)
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let done = 0; done < chunk.length;) {
      const inPiece = (at + done) % PIECE_BYTES
      if (inPiece === 0) expected = pieceOf(object, (at + done) / PIECE_BYTES)
      const length = Math.min(chunk.length - done, PIECE_BYTES - inPiece)
      right &&= chunk.subarray(done, done + length).equals(expected.subarray(inPiece, inPiece + length))
      done += length
    }
    at += chunk.length
    if (bytesPerSecond !== Infinity) await wait((chunk.length / bytesPerSecond) * 1000)
  }
  return right && at === bytes
}

function answerTo(request: ReturnType<typeof plainRequest>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('error', reject)
      response.on('end', () => {
        const etag = response.headers.etag
        resolve({ status: response.statusCode ?? 0, body: body === '' && etag !== undefined ? etag : body })
      })
    })
  })
}

/** Connections that say nothing. */
export async function silentConnections(places: readonly string[], count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = []
  const opened: Promise<unknown>[] = []
  for (let at = 0; at < count; at++) {
    const { protocol, hostname: host, port } = new URL(places[at % places.length] ?? '')
    const isSecure = protocol === 'https:'
    const to = { host, port: Number(port) }
    const socket = isSecure ? connectSecurely({ ...to, rejectUnauthorized: false }) : connect(to)
    socket.on('error', () => undefined)
    sockets.push(socket)
    opened.push(once(socket, isSecure ? 'secureConnect' : 'connect').catch(() => undefined))
    if (at % 50 === 49) await Promise.all(opened.splice(0))
  }
  await Promise.all(opened)
  return sockets
}
