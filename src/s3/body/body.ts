import { ChunkedDecoder, decodeChunked } from '../auth/aws-chunked.ts'
import type { ChunkSigning } from '../auth/aws-chunked.ts'
import type { Payload } from '../auth/payload.ts'
import {
  checksumAlgorithms,
  decodeBase64,
  decodeChecksum,
  defaultChecksumAlgorithm,
  hashDigest,
} from '../checksums/algorithms.ts'
import type { ChecksumAlgorithm, ChecksumType, Digest } from '../checksums/algorithms.ts'
import { checksumPrefix, readChecksumClaim } from '../checksums/claims.ts'
import type { ChecksumClaim } from '../checksums/claims.ts'
import { entityTooLarge, invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'

export interface BodyRequest {
  readonly headers: RequestHeaders
  /** From the verified request. */
  readonly payload: Payload
  /** From the verified request; needed when the payload is in signed chunks. */
  readonly signing?: ChunkSigning
  /** Most bytes the decoded body may have. */
  readonly maxBytes: number
  /** What to compute when the client sends no checksum, such as the algorithm of a multipart upload. */
  readonly fallbackAlgorithm?: ChecksumAlgorithm
  /** Nobody says beforehand how long it is, as with the file of a form: it ends where its source does. */
  readonly isOpenEnded?: boolean
}

export interface BodyOutcome {
  readonly sizeBytes: number
  readonly md5: Buffer
  readonly checksum: {
    readonly algorithm: ChecksumAlgorithm
    readonly type: ChecksumType
    /** Base64. */
    readonly value: string
  }
}

/**
 * What a request says about its body, checked as far as headers go, so that a bad request is refused before its body is
 * asked for (`Expect: 100-continue`). Then one pass over the body computes every digest that is wanted and compares:
 *
 *     length                   Content-Length, or x-amz-decoded-content-length    IncompleteBody, EntityTooLarge
 *     Content-MD5              always computed, as it is also the ETag            BadDigest
 *     x-amz-content-sha256     when it is a hash                                  XAmzContentSHA256Mismatch
 *     x-amz-checksum-…         as a header, or as a trailer of aws-chunked        BadDigest
 */
export function planBody(request: BodyRequest): BodyPlan {
  return new BodyPlan(request)
}

export class BodyPlan {
  /** Size of the decoded body; of one with an open end, the most it may have. */
  readonly sizeBytes: number
  /** The algorithm of the checksum that will be kept. */
  readonly algorithm: ChecksumAlgorithm
  /** That of the checksum which the client sends, in a header or a trailer. */
  readonly sentAlgorithm: ChecksumAlgorithm | undefined
  /** Whether the client sent Content-MD5 or a checksum. Some operations demand one. */
  readonly hasIntegrity: boolean
  readonly #payload: Payload
  readonly #signing: ChunkSigning | undefined
  readonly #contentMd5: Buffer | undefined
  readonly #checksum: ChecksumClaim | undefined
  readonly #trailerNames: readonly string[]
  readonly #isOpenEnded: boolean
  #outcome: BodyOutcome | undefined

  constructor(request: BodyRequest) {
    const { headers, payload, signing, maxBytes } = request
    this.#isOpenEnded = request.isOpenEnded === true
    this.sizeBytes = this.#isOpenEnded ? maxBytes : readSize(headers, payload)
    if (this.sizeBytes > maxBytes) throw entityTooLarge(this.sizeBytes, maxBytes)
    if (payload.kind === 'chunked' && payload.isSigned && signing === undefined) {
      throw s3Error('InvalidRequest', { message: 'A body in signed chunks needs a signed request.' })
    }
    this.#payload = payload
    this.#signing = payload.kind === 'chunked' && payload.isSigned ? signing : undefined
    this.#contentMd5 = readContentMd5(headers)
    this.#trailerNames = readTrailerNames(headers, payload)
    this.#checksum = readChecksumClaim(headers, this.#trailerNames)
    this.sentAlgorithm = this.#checksum?.algorithm
    this.algorithm = this.sentAlgorithm ?? request.fallbackAlgorithm ?? defaultChecksumAlgorithm
    this.hasIntegrity = this.#contentMd5 !== undefined || this.#checksum !== undefined
  }

  /**
   * The decoded bytes of the body. They may be stored as they come, but they count only when this has ended without an
   * error: lengths, digests and signatures are known at the end.
   */
  async *receive(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const md5 = hashDigest('md5')
    const sha256 = this.#payload.kind === 'sha256' ? hashDigest('sha256') : undefined
    const checksum = checksumAlgorithms[this.algorithm].begin()
    const decoder = this.#decoder()
    let sizeBytes = 0
    for await (const piece of decoder === undefined ? source : decodeChunked(source, decoder)) {
      sizeBytes += piece.length
      if (sizeBytes > this.sizeBytes) {
        throw this.#isOpenEnded ? entityTooLarge(sizeBytes, this.sizeBytes) : incomplete(this.sizeBytes, sizeBytes)
      }
      md5.update(piece)
      sha256?.update(piece)
      checksum.update(piece)
      yield piece
    }
    if (!this.#isOpenEnded && sizeBytes !== this.sizeBytes) throw incomplete(this.sizeBytes, sizeBytes)
    this.#checkSha256(sha256)
    this.#outcome = {
      sizeBytes,
      md5: this.#checkMd5(md5),
      checksum: {
        algorithm: this.algorithm,
        type: 'FULL_OBJECT',
        value: this.#checkChecksum(checksum, decoder).toString('base64'),
      },
    }
  }

  /** A small body in one piece, such as a document. */
  async receiveAll(source: AsyncIterable<Buffer>): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.receive(source)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  /** Whether the bytes of the body are others than those that travel. If not, pieces come as they were received. */
  get isDecoded(): boolean {
    return this.#payload.kind === 'chunked'
  }

  /** What was received. Throws before `receive` has ended well. */
  outcome(): BodyOutcome {
    if (this.#outcome === undefined) throw new Error('The body was not received.')
    return this.#outcome
  }

  #decoder(): ChunkedDecoder | undefined {
    if (this.#payload.kind !== 'chunked') return undefined
    return new ChunkedDecoder({
      decodedBytes: this.sizeBytes,
      signing: this.#signing,
      trailerNames: this.#payload.hasTrailer ? this.#trailerNames : undefined,
    })
  }

  #checkMd5(digest: Digest): Buffer {
    const value = digest.value()
    const expected = this.#contentMd5
    if (expected === undefined || expected.equals(value)) return value
    throw s3Error('BadDigest', {
      message: 'The Content-MD5 you specified did not match what we received.',
      fields: { ExpectedDigest: expected.toString('base64'), CalculatedDigest: value.toString('base64') },
    })
  }

  #checkSha256(digest: Digest | undefined): void {
    if (this.#payload.kind !== 'sha256' || digest === undefined) return
    const value = digest.value().toString('hex')
    if (this.#payload.sha256 === value) return
    throw s3Error('XAmzContentSHA256Mismatch', {
      fields: { ClientComputedContentSHA256: this.#payload.sha256, S3ComputedContentSHA256: value },
    })
  }

  #checkChecksum(digest: Digest, decoder: ChunkedDecoder | undefined): Buffer {
    const value = digest.value()
    const claim = this.#checksum
    if (claim === undefined) return value
    const { header } = checksumAlgorithms[claim.algorithm]
    const expected = claim.value ?? decodeChecksum(claim.algorithm, decoder?.trailers.get(header) ?? '')
    if (expected === undefined) throw invalidRequest(`Value for ${header} trailing header is invalid.`)
    if (expected.equals(value)) return value
    throw s3Error('BadDigest', {
      message: `The ${claim.algorithm} you specified did not match the calculated checksum.`,
    })
  }
}

/**
 * The length that counts is that of the decoded body. `Transfer-Encoding: chunked` around `aws-chunked`, as streams of the
 * JavaScript SDK have it, therefore needs no Content-Length.
 */
function readSize(headers: RequestHeaders, payload: Payload): number {
  const name = payload.kind === 'chunked' ? 'x-amz-decoded-content-length' : 'content-length'
  const value = headerValue(headers, name)
  const isNumber = /^\d{1,15}$/.test(value ?? '')
  // Amazon takes a decoded length that is no number for none.
  if (value === undefined || (payload.kind === 'chunked' && !isNumber)) throw s3Error('MissingContentLength')
  if (!isNumber) throw invalidArgument(`${name} must be a number of bytes.`, name, value)
  return Number(value)
}

function readContentMd5(headers: RequestHeaders): Buffer | undefined {
  const value = headerValue(headers, 'content-md5')
  if (value === undefined) return undefined
  const md5 = decodeBase64(value, 16)
  if (md5 === undefined) throw s3Error('InvalidDigest', { fields: { 'Content-MD5': value } })
  return md5
}

function readTrailerNames(headers: RequestHeaders, payload: Payload): readonly string[] {
  const value = headerValue(headers, 'x-amz-trailer')
  if (value === undefined) return []
  if (payload.kind !== 'chunked' || !payload.hasTrailer) {
    throw invalidRequest('x-amz-trailer is given, but x-amz-content-sha256 does not announce a trailer.')
  }
  const names = value.split(',').map((name) => name.trim().toLowerCase())
  const kept = names.filter((name) => name !== '')
  for (const name of kept) {
    if (!name.startsWith(checksumPrefix))
      throw invalidRequest('The value specified in the x-amz-trailer header is not supported')
  }
  return kept
}

function invalidRequest(message: string): Error {
  return s3Error('InvalidRequest', { message })
}

function incomplete(expected: number, received: number): Error {
  return s3Error('IncompleteBody', {
    message: 'The request body does not have the number of bytes that its headers announce.',
    fields: { NumberBytesExpected: String(expected), NumberBytesProvided: String(received) },
  })
}
