/**
 * Footers of files that earlier releases wrote: format 1 of a plain blob, format 2 of a packed one. Both are read until
 * the file is upgraded; nothing writes them any more. The bytes of the blob have no checksums, but for frames in the
 * index; the CRC is that of the label and of all numbers before it.
 *
 *     bytes of the blob | label | 4: length of the label | 8: length of the blob | 4: crc | 8: 'HOLDBLB1'
 *     stored bytes | label | 8: stored | 4: frames | 4: crc of the index
 *       | 4: length of the label | 8: length of the blob | 4: crc | 8: 'HOLDBLB2'
 */
import { crc32 } from 'node:zlib'
import type { Footer } from './footer.ts'

const PLAIN = { magic: Buffer.from('HOLDBLB1', 'latin1'), bytes: 24 }
const PACKED = { magic: Buffer.from('HOLDBLB2', 'latin1'), bytes: 40 }
const MAGIC_BYTES = 8
/** From the end: the CRC, and before it the two lengths that every footer has. */
const CRC_AT = 12
const LENGTHS_AT = 24

export function readOldFooter(tail: Buffer, fileBytes: number): Footer | undefined {
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
  const labelAt = packed?.storedBytes ?? sizeBytes
  if (labelAt + labelBytes + format.bytes !== fileBytes) return undefined
  const numbers = bytes.subarray(0, bytes.length - CRC_AT)
  const crc = bytes.readUInt32BE(bytes.length - CRC_AT)
  const isLabel = (label: Uint8Array) => crc32(numbers, crc32(label)) === crc
  return { sizeBytes, labelAt, labelBytes, isLabel, ...(packed === undefined ? {} : { packed }) }
}
