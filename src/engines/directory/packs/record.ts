/**
 * What is in a file of a pack: a header, and records one behind the other, each of which says itself what it is.
 *
 *     8: 'HOLDPCK1' | 1: flags | 3: 0 | 12: pack | 8: when the file was made, in milliseconds | 4: CRC of all but the flags
 *     4: 'HFR1' | 1: flags | 1: how it is stored | 2: bytes of the label | 4: offset | 4: bytes of the blob | 4: stored bytes
 *       | 4: content CRC | 4: CRC of the label | 4: CRC of the header without the flags | label | stored bytes
 *
 * Numbers are big-endian. The flags are the only bytes that ever change. The offset is where the record was in the first
 * file of its pack, which is what its blob is named by. The content CRC is the CRC-32 of the blob's bytes as clients see
 * them. That of the header begins with the name of the pack, which nobody outside knows: so no bytes of a client are ever
 * taken for a record.
 */
import { crc32 } from 'node:zlib'

export const FILE_HEADER_BYTES = 36
export const RECORD_HEADER_BYTES = 32
/** Where its flags are in a header. */
export const FILE_FLAGS_AT = 8
export const RECORD_FLAGS_AT = 4

/** Nobody appends to the file any more. */
export const SEALED = 1
/** Nothing needs the record any more. */
export const DEAD = 1
/** Another copy of the record was written in its stead. */
export const VOID = 2

const FILE_MAGIC = Buffer.from('HOLDPCK1', 'latin1')
const RECORD_MAGIC = 0x48_46_52_31
const [PLAIN, FRAME] = [0, 1]

export interface RecordHeader {
  readonly flags: number
  /** One frame of zstd, and not the bytes as they are. */
  readonly isFrame: boolean
  readonly labelBytes: number
  readonly offset: number
  readonly sizeBytes: number
  readonly storedBytes: number
  readonly crc: number
  readonly labelCrc: number
}

export type RecordDraft = Omit<RecordHeader, 'flags' | 'offset' | 'labelBytes' | 'labelCrc'>

/** What the checksums of a pack's headers begin with. */
export function seedOf(pack: string): number {
  return crc32(Buffer.from(pack, 'hex'))
}

export function fileHeader(pack: string, nowMs: number): Buffer {
  const bytes = Buffer.alloc(FILE_HEADER_BYTES)
  FILE_MAGIC.copy(bytes)
  bytes.write(pack, 12, 'hex')
  bytes.writeBigUInt64BE(BigInt(nowMs), 24)
  bytes.writeUInt32BE(fileCrc(bytes), 32)
  return bytes
}

/** The flags of a file, or nothing when these bytes are not the beginning of one of the pack. */
export function readFileHeader(bytes: Buffer, pack: string): number | undefined {
  if (bytes.length < FILE_HEADER_BYTES || !bytes.subarray(0, 8).equals(FILE_MAGIC)) return undefined
  if (bytes.toString('hex', 12, 24) !== pack || bytes.readUInt32BE(32) !== fileCrc(bytes)) return undefined
  return bytes[FILE_FLAGS_AT]
}

function fileCrc(bytes: Buffer): number {
  return crc32(bytes.subarray(9, 32), crc32(bytes.subarray(0, 8)))
}

/** The header of a record and its label, without the offset. */
export function recordHead(label: Uint8Array, draft: RecordDraft): Buffer {
  const bytes = Buffer.allocUnsafe(RECORD_HEADER_BYTES + label.length)
  bytes.writeUInt32BE(RECORD_MAGIC, 0)
  bytes[RECORD_FLAGS_AT] = 0
  bytes[5] = draft.isFrame ? FRAME : PLAIN
  bytes.writeUInt16BE(label.length, 6)
  bytes.writeUInt32BE(draft.sizeBytes, 12)
  bytes.writeUInt32BE(draft.storedBytes, 16)
  bytes.writeUInt32BE(draft.crc, 20)
  bytes.writeUInt32BE(crc32(label), 24)
  bytes.set(label, RECORD_HEADER_BYTES)
  return bytes
}

/** Gives the record its place, once that is known. */
export function placeRecord(head: Buffer, offset: number, seed: number): void {
  head.writeUInt32BE(offset, 8)
  head.writeUInt32BE(headCrc(head, 0, seed), 28)
}

/** What the header at a place says. Nothing when there is none of this pack. */
export function readRecordHeader(bytes: Buffer, at: number, seed: number): RecordHeader | undefined {
  if (at + RECORD_HEADER_BYTES > bytes.length || bytes.readUInt32BE(at) !== RECORD_MAGIC) return undefined
  const how = bytes[at + 5]
  if (bytes.readUInt32BE(at + 28) !== headCrc(bytes, at, seed) || (how !== PLAIN && how !== FRAME)) return undefined
  return {
    flags: bytes[at + RECORD_FLAGS_AT] ?? 0,
    isFrame: how === FRAME,
    labelBytes: bytes.readUInt16BE(at + 6),
    offset: bytes.readUInt32BE(at + 8),
    sizeBytes: bytes.readUInt32BE(at + 12),
    storedBytes: bytes.readUInt32BE(at + 16),
    crc: bytes.readUInt32BE(at + 20),
    labelCrc: bytes.readUInt32BE(at + 24),
  }
}

export function recordBytes({ labelBytes, storedBytes }: RecordHeader): number {
  return RECORD_HEADER_BYTES + labelBytes + storedBytes
}

/** Where the next bytes are from `at` on that a record may begin with; -1 when there are none. */
export function nextMagic(bytes: Buffer, at: number): number {
  return bytes.indexOf(MAGIC_BYTES, at)
}

const MAGIC_BYTES = Buffer.from('HFR1', 'latin1')

function headCrc(bytes: Buffer, at: number, seed: number): number {
  return crc32(bytes.subarray(at + 5, at + 28), crc32(bytes.subarray(at, at + 4), seed))
}
