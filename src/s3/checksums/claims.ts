import { s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { decodeChecksum, findChecksumAlgorithm } from './algorithms.ts'
import type { ChecksumAlgorithm } from './algorithms.ts'

/** A checksum that a client promises for its body. Without a value it comes with the trailer. */
export interface ChecksumClaim {
  readonly algorithm: ChecksumAlgorithm
  readonly value: Buffer | undefined
}

/** What the names of headers and trailers begin with that carry a checksum. */
export const checksumPrefix = 'x-amz-checksum-'
const notChecksums = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type'])

/** The one checksum of a request, from its headers or announced for its trailer. */
export function readChecksumClaim(headers: RequestHeaders, trailerNames: readonly string[]): ChecksumClaim | undefined {
  const name = onlyChecksum(headers, trailerNames)
  const named = headerValue(headers, 'x-amz-sdk-checksum-algorithm')?.toUpperCase()
  if (name === undefined) {
    if (named === undefined) return undefined
    throw invalidRequest(
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    )
  }
  const algorithm = checksumAlgorithmOf(name)
  if (named !== undefined && named !== algorithm) {
    throw invalidRequest('Value for x-amz-sdk-checksum-algorithm header is invalid.')
  }
  const text = headerValue(headers, name)
  if (text === undefined) return { algorithm, value: undefined }
  const value = decodeChecksum(algorithm, text)
  if (value === undefined) throw invalidRequest(`Value for ${name} header is invalid.`)
  return { algorithm, value }
}

/**
 * The checksum in the headers of CompleteMultipartUpload, which is one of the object that is made and not of the body. Its
 * value may end with the number of parts.
 */
export function readObjectChecksum(
  headers: RequestHeaders,
): { readonly algorithm: ChecksumAlgorithm; readonly value: string } | undefined {
  const name = onlyChecksum(headers, [])
  if (name === undefined) return undefined
  const algorithm = checksumAlgorithmOf(name)
  const value = headerValue(headers, name) ?? ''
  if (decodeChecksum(algorithm, value.replace(/-\d{1,5}$/, '')) === undefined) {
    throw invalidRequest(`Value for ${name} header is invalid.`)
  }
  return { algorithm, value }
}

/** What is left of the headers where those of checksums are not about the body. */
export function withoutChecksums(headers: RequestHeaders): RequestHeaders {
  return new Map([...headers].filter(([name]) => !name.startsWith(checksumPrefix)))
}

function onlyChecksum(headers: RequestHeaders, trailerNames: readonly string[]): string | undefined {
  const sent = [...headers.keys()].filter((name) => name.startsWith(checksumPrefix) && !notChecksums.has(name))
  const [name, ...more] = [...sent, ...trailerNames]
  if (more.length === 0) return name
  throw invalidRequest('Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.')
}

function checksumAlgorithmOf(header: string): ChecksumAlgorithm {
  const algorithm = findChecksumAlgorithm(header.slice(checksumPrefix.length))
  if (algorithm === undefined) throw invalidRequest(`The algorithm of ${header} is not known.`)
  return algorithm
}

function invalidRequest(message: string): Error {
  return s3Error('InvalidRequest', { message })
}
