import { invalidArgument } from '../errors.ts'

/** How the body travels and what vouches for it, as `x-amz-content-sha256` says. */
export type Payload =
  /** Nothing vouches for the bytes but the transport, and checksums if there are any. */
  | { readonly kind: 'unsigned' }
  /** The hash of the body in hex, which the signature covers. Without a signature, whatever the client put there. */
  | { readonly kind: 'sha256'; readonly sha256: string }
  /** `aws-chunked`: see aws-chunked.ts. */
  | { readonly kind: 'chunked'; readonly isSigned: boolean; readonly hasTrailer: boolean }

export const unsignedPayload = 'UNSIGNED-PAYLOAD'
export const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export const signedChunks = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
export const signedChunksWithTrailer = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'
export const unsignedChunksWithTrailer = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

export function readPayload(value: string): Payload {
  const known = findPayload(value)
  if (known !== undefined) return known
  if (/^[0-9a-f]{64}$/.test(value)) return { kind: 'sha256', sha256: value }
  throw invalidArgument(
    `x-amz-content-sha256 must be ${unsignedPayload}, ${unsignedChunksWithTrailer}, ${signedChunks}, ` +
      `${signedChunksWithTrailer} or a valid sha256 value.`,
    'x-amz-content-sha256',
    value,
  )
}

/** Where nothing is signed, Amazon does not look at the form of the hash: it compares it with that of the body. */
export function readAnonymousPayload(value: string): Payload {
  return findPayload(value) ?? { kind: 'sha256', sha256: value }
}

function findPayload(value: string): Payload | undefined {
  if (value === unsignedPayload) return { kind: 'unsigned' }
  if (value === signedChunks) return { kind: 'chunked', isSigned: true, hasTrailer: false }
  if (value === signedChunksWithTrailer) return { kind: 'chunked', isSigned: true, hasTrailer: true }
  if (value === unsignedChunksWithTrailer) return { kind: 'chunked', isSigned: false, hasTrailer: true }
  return undefined
}
