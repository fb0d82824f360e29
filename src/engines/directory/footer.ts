/**
 * The end of a blob's file, which makes it self-describing. Its bytes come first, so reading them never meets the rest:
 *
 *     bytes of the blob | label | 4: length of the label | 8: length of the blob | 4: crc | 8: 'HOLDBLB1'
 *
 * Numbers are big-endian; the crc is that of the label and the two lengths. A file without a whole footer was not
 * finished: its writer is still at work, or is gone.
 */
import { crc32 } from 'node:zlib'

export const LABEL_BYTES_MAX = 32 * 1024
export const FOOTER_BYTES = 24

const MAGIC = Buffer.from('HOLDBLB1', 'latin1')
const CRC_AT = 12
const MAGIC_AT = 16

export function footer(label: Uint8Array, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(FOOTER_BYTES)
  bytes.writeUInt32BE(label.length, 0)
  bytes.writeBigUInt64BE(BigInt(sizeBytes), 4)
  bytes.writeUInt32BE(checksum(label, bytes), CRC_AT)
  MAGIC.copy(bytes, MAGIC_AT)
  return bytes
}

/** What a footer says, or nothing when it does not belong to a file of this length. */
export function readFooter(bytes: Buffer, fileBytes: number): { sizeBytes: number; labelBytes: number } | undefined {
  if (bytes.length !== FOOTER_BYTES || !bytes.subarray(MAGIC_AT).equals(MAGIC)) return undefined
  const labelBytes = bytes.readUInt32BE(0)
  const sizeBytes = Number(bytes.readBigUInt64BE(4))
  return sizeBytes + labelBytes + FOOTER_BYTES === fileBytes ? { sizeBytes, labelBytes } : undefined
}

export function labelIsWhole(label: Uint8Array, footerBytes: Buffer): boolean {
  return checksum(label, footerBytes) === footerBytes.readUInt32BE(CRC_AT)
}

function checksum(label: Uint8Array, footerBytes: Buffer): number {
  return crc32(footerBytes.subarray(0, CRC_AT), crc32(label))
}
