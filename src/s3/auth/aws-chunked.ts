import { createHash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { algorithmName, hexSha256, scopeText, signatureOf } from './canonical.ts'
import type { Scope } from './canonical.ts'
import { emptySha256 } from './payload.ts'
import { sameSignature, signatureMismatch } from './sigv4.ts'

/** Longest line before a chunk: size and signature take 100 bytes. */
export const chunkLineBytesMax = 256
/** All trailer lines together, blank ones too. */
export const trailerBytesMax = 4096
export const trailersMax = 16

/** Where the signatures of chunks come from: each covers the one before it, the first that of the request. */
export interface ChunkSigning {
  readonly signingKey: KeyObject
  readonly seedSignature: string
  readonly timestamp: string
  readonly scope: Scope
}

export interface ChunkedOptions {
  /** `x-amz-decoded-content-length`. */
  readonly decodedBytes: number
  /** Absent: chunks carry no signatures. */
  readonly signing: ChunkSigning | undefined
  /** Names in `x-amz-trailer`, lower case: these must follow the last chunk, and no others. Absent: no trailer may. */
  readonly trailerNames: readonly string[] | undefined
}

/**
 * Takes the `aws-chunked` coding off a body:
 *
 *     400;chunk-signature=0055627c…\r\n      400;… without ";chunk-signature=…" where chunks are not signed
 *     <1024 bytes>\r\n
 *     0;chunk-signature=b6c6ea8a…\r\n        the last chunk is empty
 *     x-amz-checksum-crc32c:sOO8/Q==\r\n     trailers, if any
 *     x-amz-trailer-signature:d81f82fc…\r\n  if signed
 *     \r\n
 *
 * Push bytes in any pieces, get back slices of them: nothing is copied but lines that a piece cuts in two. A chunk may be
 * as large as the object, so its bytes are handed on as they come and its signature is checked at its end. Whoever takes
 * them may therefore store them but must not let them count before `end` has returned.
 *
 * Amazon's examples end trailer lines with `\n\r\n` and clients differ in how many blank lines follow, so blank lines are
 * passed over there. That lets nobody forge anything: a trailer is covered by its signature or is itself a checksum. The
 * last line must be blank: without it the body broke off.
 *
 * Errors are those of Amazon. Anything that is no longer this coding is `IncompleteBody`, as a decoder cannot tell a body
 * that lost bytes from one that never had them; `MalformedTrailerError` is for trailers that arrived and are not those
 * announced. An unsigned trailer line that cannot be read is malformed; in a signed body it hides the signature, so the
 * body is incomplete.
 */
export class ChunkedDecoder {
  readonly trailers: ReadonlyMap<string, string>
  readonly #trailers = new Map<string, string>()
  readonly #options: ChunkedOptions
  #state: 'line' | 'data' | 'data-end' | 'trailer' = 'line'
  #line = ''
  #bytesLeft: number
  #chunkLeft = 0
  #chunkHash: Hash | undefined
  #claimedSignature = ''
  #lastSignature: string
  #trailerBytes = 0
  #isTrailerSigned = false
  #endsBlank = false

  constructor(options: ChunkedOptions) {
    this.trailers = this.#trailers
    this.#options = options
    this.#bytesLeft = options.decodedBytes
    this.#lastSignature = options.signing?.seedSignature ?? ''
  }

  push(bytes: Buffer): Buffer[] {
    const slices: Buffer[] = []
    let at = 0
    while (at < bytes.length) {
      if (this.#state === 'data') {
        const slice = bytes.subarray(at, at + this.#chunkLeft)
        at += slice.length
        this.#chunkHash?.update(slice)
        this.#chunkLeft -= slice.length
        slices.push(slice)
        if (this.#chunkLeft === 0) this.#endOfChunk()
        continue
      }
      const lineEnd = bytes.indexOf(lineFeed, at)
      const end = lineEnd < 0 ? bytes.length : lineEnd + 1
      this.#checkLineBytes(end - at)
      this.#line += bytes.toString('latin1', at, end)
      at = end
      if (lineEnd < 0) break
      const line = this.#line
      this.#line = ''
      this.#readLine(line)
    }
    return slices
  }

  /** Call it when the body has ended. Only when it returns was the body complete and every signature right. */
  end(): void {
    if (this.#state !== 'trailer' || this.#line !== '') throw incomplete('The body ends in the middle of a chunk.')
    if (!this.#endsBlank) throw incomplete('The blank line that ends the body is missing.')
    const { trailerNames, signing } = this.#options
    if (trailerNames !== undefined && signing !== undefined && !this.#isTrailerSigned) {
      throw incomplete('The x-amz-trailer-signature is missing.')
    }
    for (const name of this.#trailers.keys()) {
      if (trailerNames?.includes(name) === true) continue
      throw badTrailer(`The trailer ${name} was not announced in x-amz-trailer.`)
    }
    for (const name of trailerNames ?? []) {
      if (!this.#trailers.has(name)) throw badTrailer(`The trailer ${name} is missing.`)
    }
  }

  #checkLineBytes(added: number): void {
    if (this.#state === 'trailer') {
      this.#trailerBytes += added
      if (this.#trailerBytes > trailerBytesMax) throw badTrailer(`Trailers are longer than ${trailerBytesMax} bytes.`)
    } else if (this.#line.length + added > chunkLineBytesMax) {
      throw incomplete('A line before a chunk is too long.')
    }
  }

  #readLine(line: string): void {
    switch (this.#state) {
      case 'line':
        this.#beginChunk(line)
        break
      case 'data-end':
        if (line !== '\r\n') throw incomplete('A chunk is longer than its size says.')
        this.#state = 'line'
        break
      case 'trailer':
        this.#readTrailer(line)
        break
      case 'data':
        break
    }
  }

  #beginChunk(line: string): void {
    const { signing, decodedBytes } = this.#options
    const match = (signing === undefined ? unsignedChunkLine : signedChunkLine).exec(line)
    if (match === null) throw incomplete('A chunk does not begin with its size and signature.')
    const size = Number.parseInt(match[1] ?? '', 16)
    if (size > this.#bytesLeft) throw incomplete(`The body is longer than the ${decodedBytes} bytes announced.`)
    this.#bytesLeft -= size
    this.#chunkLeft = size
    this.#claimedSignature = match[2] ?? ''
    if (signing !== undefined) this.#chunkHash = createHash('sha256')
    this.#state = 'data'
    if (size > 0) return
    this.#endOfChunk()
    if (this.#bytesLeft > 0) throw incomplete(`The body is shorter than the ${decodedBytes} bytes announced.`)
    this.#state = 'trailer'
  }

  #endOfChunk(): void {
    this.#state = 'data-end'
    const { signing } = this.#options
    if (signing === undefined || this.#chunkHash === undefined) return
    const text = chunkStringToSign(signing, this.#lastSignature, this.#chunkHash.digest('hex'))
    this.#checkSignature(signing, text, this.#claimedSignature)
  }

  #readTrailer(line: string): void {
    const { trailerNames, signing } = this.#options
    const text = line.trim()
    this.#endsBlank = text === ''
    if (this.#endsBlank) return
    if (trailerNames === undefined || this.#isTrailerSigned) throw incomplete('Something follows the end of the body.')
    const match = /^([A-Za-z0-9-]{1,100}):[ \t]*([\x20-\x7e]*)$/.exec(text)
    if (match === null) {
      const problem = 'A trailer is not of the form name:value.'
      throw signing === undefined ? badTrailer(problem) : incomplete(problem)
    }
    const [, name = '', value = ''] = match
    if (name.toLowerCase() === 'x-amz-trailer-signature' && signing !== undefined) {
      if (!/^[0-9a-f]{64}$/.test(value)) throw incomplete('The x-amz-trailer-signature is not 64 hex digits.')
      const trailers = [...this.#trailers].map(([name, value]) => `${name}:${value}\n`).join('')
      this.#checkSignature(signing, trailerStringToSign(signing, this.#lastSignature, trailers), value)
      this.#isTrailerSigned = true
      return
    }
    this.#addTrailer(name.toLowerCase(), value)
  }

  #addTrailer(name: string, value: string): void {
    if (this.#trailers.has(name)) throw badTrailer(`The trailer ${name} is there twice.`)
    if (this.#trailers.size === trailersMax) throw badTrailer(`There are more than ${trailersMax} trailers.`)
    this.#trailers.set(name, value)
  }

  #checkSignature(signing: ChunkSigning, text: string, claimed: string): void {
    const expected = signatureOf(signing.signingKey, text)
    if (!sameSignature(expected, claimed)) throw signatureMismatch({ StringToSign: text, SignatureProvided: claimed })
    this.#lastSignature = expected
  }
}

/** Decodes a stream; it fails with the last read when the body was not what it said. */
export async function* decodeChunked(source: AsyncIterable<Buffer>, decoder: ChunkedDecoder): AsyncGenerator<Buffer> {
  for await (const piece of source) yield* decoder.push(piece)
  decoder.end()
}

/** Encodes a body, for clients and tests. Trailers are given in order. */
export function* encodeChunked(
  chunks: Iterable<Buffer>,
  options: { readonly signing?: ChunkSigning; readonly trailers?: Readonly<Record<string, string>> },
): Generator<Buffer> {
  const { signing, trailers } = options
  let signature = signing?.seedSignature ?? ''
  const line = (data: Buffer): Buffer => {
    const size = data.length.toString(16)
    if (signing === undefined) return Buffer.from(`${size}\r\n`)
    signature = signatureOf(signing.signingKey, chunkStringToSign(signing, signature, hexSha256(data)))
    return Buffer.from(`${size};chunk-signature=${signature}\r\n`)
  }
  for (const chunk of chunks) {
    if (chunk.length === 0) continue
    yield line(chunk)
    yield chunk
    yield Buffer.from('\r\n')
  }
  yield line(Buffer.alloc(0))
  for (const [name, value] of Object.entries(trailers ?? {})) yield Buffer.from(`${name}:${value}\r\n`)
  if (trailers !== undefined && signing !== undefined) {
    const text = Object.entries(trailers)
      .map(([name, value]) => `${name}:${value}\n`)
      .join('')
    const trailerSignature = signatureOf(signing.signingKey, trailerStringToSign(signing, signature, text))
    yield Buffer.from(`x-amz-trailer-signature:${trailerSignature}\r\n`)
  }
  yield Buffer.from('\r\n')
}

const lineFeed = 0x0a
// Twelve hex digits are 2^48: more than any object, less than what numbers hold exactly.
const signedChunkLine = /^([0-9a-fA-F]{1,12});chunk-signature=([0-9a-f]{64})\r\n$/
const unsignedChunkLine = /^([0-9a-fA-F]{1,12})\r\n$/

function chunkStringToSign(signing: ChunkSigning, previous: string, dataSha256: string): string {
  return [
    `${algorithmName}-PAYLOAD`,
    signing.timestamp,
    scopeText(signing.scope),
    previous,
    emptySha256,
    dataSha256,
  ].join('\n')
}

function trailerStringToSign(signing: ChunkSigning, previous: string, trailers: string): string {
  const hash = hexSha256(Buffer.from(trailers, 'latin1'))
  return [`${algorithmName}-TRAILER`, signing.timestamp, scopeText(signing.scope), previous, hash].join('\n')
}

function badTrailer(message: string): S3Error {
  return s3Error('MalformedTrailerError', { message })
}

function incomplete(message: string): S3Error {
  return s3Error('IncompleteBody', { message: `The aws-chunked body is not complete. ${message}` })
}
