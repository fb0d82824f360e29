/**
 * Bodies in `aws-chunked` pieces: Amazon S3 API Reference, "Signature calculations for the Authorization header:
 * Transferring payload in multiple chunks" and "… with trailing headers". Written here once more than in the product, so
 * that a misreading there does not agree with itself.
 *
 *     5;chunk-signature=<64 hex>\r\nhello\r\n
 *     0;chunk-signature=<64 hex>\r\n
 *     x-amz-checksum-crc32:NhCmhg==\r\n
 *     x-amz-trailer-signature:<64 hex>\r\n\r\n
 */
import { createHash, createHmac } from 'node:crypto'
import type { Signature } from '../../../src/s3/auth/sign.ts'

export interface Chunked {
  /** Of all pieces but the last. Amazon wants at least 8 KiB. */
  readonly chunkBytes?: number
  /** Names are to be lower case. */
  readonly trailer?: Readonly<Record<string, string>>
  /** What x-amz-decoded-content-length says, if it is not the truth. */
  readonly decodedLength?: number
  /** Sends another signature for this piece, counted from 0. */
  readonly forgedChunk?: number
  readonly isTrailerForged?: boolean
}

const forged = 'f'.repeat(64)
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

export function signedChunks(body: Buffer, signature: Signature, options: Chunked): Buffer {
  const { timestamp, scope, signingKey, seedSignature } = signature
  const scopeLine = `${scope.date}/${scope.region}/s3/aws4_request`
  const hmac = (lines: readonly string[]) => createHmac('sha256', signingKey).update(lines.join('\n')).digest('hex')
  let previous = seedSignature
  const out: Buffer[] = []
  for (const [at, piece] of [...pieces(body, options), Buffer.alloc(0)].entries()) {
    previous = hmac(['AWS4-HMAC-SHA256-PAYLOAD', timestamp, scopeLine, previous, sha256(''), sha256(piece)])
    const shown = at === options.forgedChunk ? forged : previous
    out.push(Buffer.from(`${piece.length.toString(16)};chunk-signature=${shown}\r\n`), piece)
    if (piece.length > 0) out.push(Buffer.from('\r\n'))
  }
  if (options.trailer === undefined) return Buffer.concat([...out, Buffer.from('\r\n')])
  const lines = Object.entries(options.trailer).map(([name, value]) => `${name}:${value}`)
  const trailer = hmac([
    'AWS4-HMAC-SHA256-TRAILER',
    timestamp,
    scopeLine,
    previous,
    sha256(lines.map((line) => `${line}\n`).join('')),
  ])
  lines.push(`x-amz-trailer-signature:${options.isTrailerForged === true ? forged : trailer}`)
  return Buffer.concat([...out, Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)])
}

export function unsignedChunks(body: Buffer, options: Chunked): Buffer {
  const out = pieces(body, options).flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from('\r\n'),
  ])
  const lines = Object.entries(options.trailer ?? {}).map(([name, value]) => `${name}:${value}\r\n`)
  return Buffer.concat([...out, Buffer.from(`0\r\n${lines.join('')}\r\n`)])
}

function pieces(body: Buffer, { chunkBytes = 64 * 1024 }: Chunked): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < body.length; at += chunkBytes) found.push(body.subarray(at, at + chunkBytes))
  return found
}
