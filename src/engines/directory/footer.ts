/**
 * The end of a blob's file, which makes it self-describing and says how its bytes are verified. What is stored of its
 * bytes comes first, so a read never meets the rest:
 *
 *     stored bytes | checksums of blocks | label | footer
 *
 * The stored bytes are those of the blob as they are, or frames of some of them and the others as they are
 * ([packing.ts](packing.ts)); then the index of the frames is the last of them. Each frame has its CRC-32 in the index.
 * Bytes stored as they are make blocks of 64 KiB, and each has its CRC-32 (4 bytes) in the table behind them. A blob
 * that is one such block and nothing else has no table: its content CRC is that of the block.
 *
 *     8: bytes of the blob | 8: stored bytes | 4: frames | 4: CRC of the index | 4: content CRC
 *       | 4: bytes of the label | 4: CRC of the label | 4: CRC of the numbers before | 8: 'HOLDBLB3'
 *
 * Numbers are big-endian. The content CRC is the CRC-32 of the blob's bytes as clients see them. The catalog knows it as
 * well, so the file of another blob and an older copy of this one are found when they are opened. The table has no
 * checksum of its own, as it is read in pieces: where it is wrong, it does not fit its blocks.
 *
 * A file without a whole footer was not finished: its writer is still at work, or is gone. What earlier releases wrote
 * is in [old-footers.ts](old-footers.ts).
 */
import { crc32 } from 'node:zlib'
import { readOldFooter } from './old-footers.ts'

export const LABEL_BYTES_MAX = 32 * 1024
/** What has one checksum, and is read and verified as a whole. Large enough that all of a small blob is one block. */
export const BLOCK_BYTES = 64 * 1024
export const CRC_BYTES = 4
/** The longest footer. */
export const FOOTER_BYTES_MAX = 48

const MAGIC = Buffer.from('HOLDBLB3', 'latin1')
const MAGIC_BYTES = MAGIC.length
/** Where each of the numbers is. */
const AT = {
  size: 0,
  stored: 8,
  chunks: 16,
  indexCrc: 20,
  crc: 24,
  labelBytes: 28,
  labelCrc: 32,
  numbersCrc: 36,
} as const

/** How the bytes of a packed blob are stored. */
export interface Packed {
  /** Bytes of the file before the table of blocks: frames, what follows them as it is, and the index. */
  readonly storedBytes: number
  readonly chunks: number
  readonly indexCrc: number
}

export interface Footer {
  readonly sizeBytes: number
  readonly labelAt: number
  readonly labelBytes: number
  readonly isLabel: (label: Uint8Array) => boolean
  /** Missing for a plain blob. */
  readonly packed?: Packed
  /** How the bytes that are stored as they are can be verified. Missing in files of earlier releases, which cannot. */
  readonly sums?: Sums
}

export interface Sums {
  /** Of all bytes of the blob, as clients see them. */
  readonly crc: number
  /** Where the table is in the file. */
  readonly tableAt: number
}

export interface Draft {
  readonly sizeBytes: number
  readonly crc: number
  readonly packed?: Packed
}

export function footer(label: Uint8Array, { sizeBytes, crc, packed }: Draft): Buffer {
  const bytes = Buffer.alloc(FOOTER_BYTES_MAX)
  bytes.writeBigUInt64BE(BigInt(sizeBytes), AT.size)
  bytes.writeBigUInt64BE(BigInt(packed?.storedBytes ?? sizeBytes), AT.stored)
  bytes.writeUInt32BE(packed?.chunks ?? 0, AT.chunks)
  bytes.writeUInt32BE(packed?.indexCrc ?? 0, AT.indexCrc)
  bytes.writeUInt32BE(crc, AT.crc)
  bytes.writeUInt32BE(label.length, AT.labelBytes)
  bytes.writeUInt32BE(crc32(label), AT.labelCrc)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, AT.numbersCrc)), AT.numbersCrc)
  MAGIC.copy(bytes, FOOTER_BYTES_MAX - MAGIC_BYTES)
  return bytes
}

/** What the footer at the end of these bytes says, or nothing when it does not belong to a file of this length. */
export function readFooter(tail: Buffer, fileBytes: number): Footer | undefined {
  if (!tail.subarray(-MAGIC_BYTES).equals(MAGIC)) return readOldFooter(tail, fileBytes)
  if (tail.length < FOOTER_BYTES_MAX) return undefined
  const bytes = tail.subarray(-FOOTER_BYTES_MAX)
  if (crc32(bytes.subarray(0, AT.numbersCrc)) !== bytes.readUInt32BE(AT.numbersCrc)) return undefined
  const sizeBytes = Number(bytes.readBigUInt64BE(AT.size))
  const storedBytes = Number(bytes.readBigUInt64BE(AT.stored))
  const chunks = bytes.readUInt32BE(AT.chunks)
  const labelAt = storedBytes + tableBytes(sizeBytes, chunks)
  const labelBytes = bytes.readUInt32BE(AT.labelBytes)
  const labelCrc = bytes.readUInt32BE(AT.labelCrc)
  if (labelAt + labelBytes + FOOTER_BYTES_MAX !== fileBytes) return undefined
  return {
    sizeBytes,
    labelAt,
    labelBytes,
    isLabel: (label) => crc32(label) === labelCrc,
    sums: { crc: bytes.readUInt32BE(AT.crc), tableAt: storedBytes },
    ...(chunks === 0 ? {} : { packed: { storedBytes, chunks, indexCrc: bytes.readUInt32BE(AT.indexCrc) } }),
  }
}

/** Bytes of the table of a blob with so many frames. */
function tableBytes(sizeBytes: number, chunks: number): number {
  const asTheyAre = Math.max(0, sizeBytes - chunks * BLOCK_BYTES)
  return chunks === 0 && asTheyAre <= BLOCK_BYTES ? 0 : Math.ceil(asTheyAre / BLOCK_BYTES) * CRC_BYTES
}

/** The number in the magic of a file that a later release wrote, as far as this one can tell. */
export function laterFormat(tail: Buffer): number | undefined {
  const [, digit] = /^HOLDBLB([4-9])$/.exec(tail.subarray(-MAGIC_BYTES).toString('latin1')) ?? []
  return digit === undefined ? undefined : Number(digit)
}
