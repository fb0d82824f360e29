import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { s3Error } from '../errors.ts'
import { crcOf } from './crc.ts'
import type { Crc } from './crc.ts'
import { xxhashDigests } from './xxhash.ts'

/**
 * The checksums an object may carry. Everything that differs between algorithms is one row of this table, so another
 * algorithm is another row.
 */
export const checksumAlgorithms: Readonly<Record<ChecksumAlgorithm, Checksum>> = {
  CRC32: crcChecksum('CRC32', ['COMPOSITE', 'FULL_OBJECT'], 32, 0xedb88320n, [1927, 2181, 4018]),
  CRC32C: crcChecksum('CRC32C', ['COMPOSITE', 'FULL_OBJECT'], 32, 0x82f63b78n, [1747, 2830, 5321]),
  CRC64NVME: crcChecksum(
    'CRC64NVME',
    ['FULL_OBJECT'],
    64,
    0x9a6c9329ac4bc9b5n,
    [1515, 1785, 2032, 2340, 3273, 3400, 3533],
  ),
  SHA1: hashChecksum('SHA1', 'sha1', 20),
  SHA256: hashChecksum('SHA256', 'sha256', 32),
  SHA512: hashChecksum('SHA512', 'sha512', 64),
  MD5: hashChecksum('MD5', 'md5', 16),
  XXHASH64: xxhashChecksum('XXHASH64', 8),
  XXHASH3: xxhashChecksum('XXHASH3', 8),
  XXHASH128: xxhashChecksum('XXHASH128', 16),
}

export type ChecksumAlgorithm =
  | 'CRC32'
  | 'CRC32C'
  | 'CRC64NVME'
  | 'SHA1'
  | 'SHA256'
  | 'SHA512'
  | 'MD5'
  | 'XXHASH64'
  | 'XXHASH3'
  | 'XXHASH128'

/** FULL_OBJECT: over all bytes. COMPOSITE: over the checksums of the parts. An object put at once is FULL_OBJECT. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE'

/** What the server computes when a client sends no checksum, as Amazon does since 2024-12. */
export const defaultChecksumAlgorithm: ChecksumAlgorithm = 'CRC64NVME'

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm
  /** Request and response header, lower case. */
  readonly header: string
  /** XML element. */
  readonly element: string
  readonly sizeBytes: number
  /** Types a multipart upload may have, the default first. */
  readonly multipartTypes: readonly ChecksumType[]
  readonly begin: () => Digest
  /** The checksum of two byte strings one after the other. Only CRCs have it. */
  readonly combine?: (first: Buffer, second: Buffer, secondBytes: number) => Buffer
}

/** A checksum or hash that grows with the bytes. `value` ends it. */
export interface Digest {
  update(chunk: Uint8Array): void
  value(): Buffer
}

export function findChecksumAlgorithm(name: string): ChecksumAlgorithm | undefined {
  const upper = name.toUpperCase()
  return Object.hasOwn(checksumAlgorithms, upper) ? (upper as ChecksumAlgorithm) : undefined
}

/** The bytes of a base64 value, or nothing when it is not the base64 of a value of this algorithm. */
export function decodeChecksum(algorithm: ChecksumAlgorithm, text: string): Buffer | undefined {
  return decodeBase64(text, checksumAlgorithms[algorithm].sizeBytes)
}

/** Strict: Node skips characters that are not base64, so a value counts only when it reads back the same. */
export function decodeBase64(text: string, sizeBytes: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === sizeBytes && bytes.toString('base64') === text ? bytes : undefined
}

/** `<base64 of the checksum of the parts' checksums>-<number of parts>`. */
export function compositeChecksum(algorithm: ChecksumAlgorithm, parts: readonly Buffer[]): string {
  const digest = checksumAlgorithms[algorithm].begin()
  for (const part of parts) digest.update(part)
  return `${digest.value().toString('base64')}-${parts.length}`
}

/** The CRC over all parts one after the other, without reading them again. Nothing for algorithms that cannot. */
export function fullObjectChecksum(
  algorithm: ChecksumAlgorithm,
  parts: readonly { readonly value: Buffer; readonly sizeBytes: number }[],
): Buffer | undefined {
  const { combine, begin } = checksumAlgorithms[algorithm]
  if (combine === undefined) return undefined
  return parts.reduce((whole, part) => combine(whole, part.value, part.sizeBytes), begin().value())
}

/** Algorithm and type of a multipart upload, from the headers of CreateMultipartUpload. */
export function multipartChecksum(
  algorithmHeader: string | undefined,
  typeHeader: string | undefined,
): { readonly algorithm: ChecksumAlgorithm; readonly type: ChecksumType } {
  if (algorithmHeader === undefined && typeHeader !== undefined) {
    throw s3Error('InvalidRequest', {
      message: 'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
    })
  }
  const algorithm = findChecksumAlgorithm(algorithmHeader ?? defaultChecksumAlgorithm)
  if (algorithm === undefined) {
    const known = Object.keys(checksumAlgorithms).join(', ')
    throw s3Error('InvalidRequest', {
      message: `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${known}]`,
    })
  }
  const { multipartTypes } = checksumAlgorithms[algorithm]
  const type = typeHeader?.toUpperCase() ?? multipartTypes[0]
  if (type !== 'FULL_OBJECT' && type !== 'COMPOSITE') {
    throw s3Error('InvalidRequest', { message: 'Value for x-amz-checksum-type header is invalid.' })
  }
  if (!multipartTypes.includes(type)) {
    throw s3Error('InvalidRequest', {
      message: `The ${type} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
    })
  }
  return { algorithm, type }
}

function crcChecksum(
  algorithm: ChecksumAlgorithm,
  multipartTypes: readonly ChecksumType[],
  width: 32 | 64,
  polynomial: bigint,
  distances: readonly number[],
): Checksum {
  // Tables take a few milliseconds, so they are made when first wanted.
  let made: Crc | undefined
  const crc = (): Crc => (made ??= crcOf(width, polynomial, distances))
  return {
    ...named(algorithm),
    sizeBytes: width / 8,
    multipartTypes,
    begin: () => (algorithm === 'CRC32' ? crc32Digest(crc()) : crcDigest(crc(), width / 8)),
    combine: (first, second, secondBytes) =>
      bigEndian(crc().combine(numberOf(first), numberOf(second), secondBytes), width / 8),
  }
}

function hashChecksum(algorithm: ChecksumAlgorithm, hashName: string, sizeBytes: number): Checksum {
  return { ...named(algorithm), sizeBytes, multipartTypes: ['COMPOSITE'], begin: () => hashDigest(hashName) }
}

function xxhashChecksum(algorithm: keyof typeof xxhashDigests, sizeBytes: number): Checksum {
  return { ...named(algorithm), sizeBytes, multipartTypes: ['COMPOSITE'], begin: xxhashDigests[algorithm] }
}

function named(algorithm: ChecksumAlgorithm): Pick<Checksum, 'algorithm' | 'header' | 'element'> {
  return { algorithm, header: `x-amz-checksum-${algorithm.toLowerCase()}`, element: `Checksum${algorithm}` }
}

export function hashDigest(hashName: string): Digest {
  const hash = createHash(hashName)
  return { update: (chunk) => void hash.update(chunk), value: () => hash.digest() }
}

/** zlib's own CRC32 uses the processor's carry-less multiplication: on shorter pieces it is quicker than ours. */
function crc32Digest(crc: Crc): Digest {
  let state = 0
  return {
    update(chunk) {
      state = chunk.length < longPieceBytes ? crc32(chunk, state) : Number(crc.update(BigInt(state), chunk))
    },
    value: () => bigEndian(BigInt(state), 4),
  }
}

const longPieceBytes = 65_536

function crcDigest(crc: Crc, sizeBytes: number): Digest {
  let state = 0n
  return {
    update(chunk) {
      state = crc.update(state, chunk)
    },
    value: () => bigEndian(state, sizeBytes),
  }
}

function bigEndian(value: bigint, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes.subarray(8 - sizeBytes)
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}
