/**
 * The end of a blob's file, which makes it self-describing. What is stored of its bytes comes first, so reading them never
 * meets the rest. A plain blob, and one that is packed ([packing.ts](packing.ts)):
 *
 *     bytes of the blob | label |                                                 4: length of the label | 8: length of the blob | 4: crc | 8: 'HOLDBLB1'
 *     what is stored, with the index | label | 8: stored | 4: chunks | 4: crc of the index | 4: length of the label | 8: length of the blob | 4: crc | 8: 'HOLDBLB2'
 *
 * Numbers are big-endian; the crc is that of the label and of all numbers before it. A file without a whole footer was not
 * finished: its writer is still at work, or is gone.
 */
import { crc32 } from 'node:zlib'

export const LABEL_BYTES_MAX = 32 * 1024
/** The longest footer. */
export const FOOTER_BYTES_MAX = 40

const PLAIN = { magic: Buffer.from('HOLDBLB1', 'latin1'), bytes: 24 }
const PACKED = { magic: Buffer.from('HOLDBLB2', 'latin1'), bytes: FOOTER_BYTES_MAX }
const MAGIC_BYTES = 8
/** From the end: the crc, and before it the two lengths that every footer has. */
const CRC_AT = 12
const LENGTHS_AT = 24

/** How the bytes of a packed blob are stored. */
export interface Packed {
  /** Bytes of the file before its label: frames, what follows them as it is, and the index. */
  readonly storedBytes: number
  readonly chunks: number
  readonly indexCrc: number
}

export interface Footer {
  readonly sizeBytes: number
  readonly labelBytes: number
  /** The footer itself, by which the label is checked. */
  readonly bytes: Buffer
  /** Missing for a plain blob. */
  readonly packed?: Packed
}

export function footer(label: Uint8Array, sizeBytes: number, packed?: Packed): Buffer {
  const format = packed === undefined ? PLAIN : PACKED
  const bytes = Buffer.alloc(format.bytes)
  if (packed !== undefined) {
    bytes.writeBigUInt64BE(BigInt(packed.storedBytes), 0)
    bytes.writeUInt32BE(packed.chunks, 8)
    bytes.writeUInt32BE(packed.indexCrc, 12)
  }
  const lengthsAt = format.bytes - LENGTHS_AT
  bytes.writeUInt32BE(label.length, lengthsAt)
  bytes.writeBigUInt64BE(BigInt(sizeBytes), lengthsAt + 4)
  bytes.writeUInt32BE(checksum(label, bytes), format.bytes - CRC_AT)
  format.magic.copy(bytes, format.bytes - MAGIC_BYTES)
  return bytes
}

/** What the footer at the end of these bytes says, or nothing when it does not belong to a file of this length. */
export function readFooter(tail: Buffer, fileBytes: number): Footer | undefined {
  const magic = tail.subarray(-MAGIC_BYTES)
  const format = [PLAIN, PACKED].find((one) => one.magic.equals(magic))
  if (format === undefined || tail.length < format.bytes) return undefined
  const bytes = tail.subarray(-format.bytes)
  const lengthsAt = format.bytes - LENGTHS_AT
  const labelBytes = bytes.readUInt32BE(lengthsAt)
  const sizeBytes = Number(bytes.readBigUInt64BE(lengthsAt + 4))
  const packed =
    format === PLAIN
      ? undefined
      : {
          storedBytes: Number(bytes.readBigUInt64BE(0)),
          chunks: bytes.readUInt32BE(8),
          indexCrc: bytes.readUInt32BE(12),
        }
  if ((packed?.storedBytes ?? sizeBytes) + labelBytes + format.bytes !== fileBytes) return undefined
  return { sizeBytes, labelBytes, bytes, ...(packed === undefined ? {} : { packed }) }
}

export function labelIsWhole(label: Uint8Array, { bytes }: Footer): boolean {
  return checksum(label, bytes) === bytes.readUInt32BE(bytes.length - CRC_AT)
}

function checksum(label: Uint8Array, footerBytes: Buffer): number {
  return crc32(footerBytes.subarray(0, footerBytes.length - CRC_AT), crc32(label))
}
