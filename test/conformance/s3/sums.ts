/** Digests as headers carry them, in base64, and values that are published, to check the rest by. */
import { createHash } from 'node:crypto'
import { crc32 as zlibCrc32 } from 'node:zlib'

type Data = string | Buffer

const digest = (algorithm: string) => (data: Data) => createHash(algorithm).update(data).digest('base64')

export const md5 = digest('md5')
export const sha1 = digest('sha1')
export const sha256 = digest('sha256')
export const sha512 = digest('sha512')
export const md5Hex = (data: Data) => createHash('md5').update(data).digest('hex')

export function crc32(data: Data): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(zlibCrc32(data))
  return bytes.toString('base64')
}

export const crc32c = (data: Data) => reflected(data, 0x82f63b78n, 32n)
export const crc64nvme = (data: Data) => reflected(data, 0x9a6c9329ac4bc9b5n, 64n)

/** A CRC bit by bit, as its definition says: slow, and nothing to get wrong. For some kilobytes. */
function reflected(data: Data, polynomial: bigint, bits: bigint): string {
  const ones = (1n << bits) - 1n
  let crc = ones
  for (const byte of Buffer.from(data)) {
    crc ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1n) === 1n ? (crc >> 1n) ^ polynomial : crc >> 1n
  }
  return Buffer.from((crc ^ ones).toString(16).padStart(Number(bits) / 4, '0'), 'hex').toString('base64')
}

/** The checksum of parts' checksums, without `-N`. */
export function composite(of: (data: Data) => string, parts: readonly string[]): string {
  return of(Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))))
}

/** XXH64, XXH3-64 and XXH3-128 of the text 123456789 with the seed 0, as `xxhsum -H1`, `-H3` and `-H2` print them. */
export const xxhash64of123456789 = Buffer.from('8cb841db40e6ae83', 'hex').toString('base64')
export const xxhash3of123456789 = Buffer.from('72dcb18b67a17dff', 'hex').toString('base64')
export const xxhash128of123456789 = Buffer.from('33119477ede5dcd5e9716427681d5860', 'hex').toString('base64')
