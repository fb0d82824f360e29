/**
 * What is in a file of a pack: a header, and records one behind the other, each of which says itself what it is.
 *
 *     8: 'HOLDPCK2' | 4: state | 12: pack | 8: when the file was made, in milliseconds | 4: CRC of all but the state
 *     4: 'HFR2' | 4: state | 1: how it is stored | 1: 0 | 2: bytes of the label | 4: offset | 4: length in the name
 *       | 4: bytes of the blob | 4: stored bytes | 4: content CRC | 4: CRC of label and zeros
 *       | 4: CRC of the header without the state | label | 0 to 3 zeros | stored bytes
 *
 * Numbers are big-endian. Offset and length are what its blob is named by: where the record was in the first file of its
 * pack, and how long; a copy may be elsewhere and of another length. The content CRC is the CRC-32 of the blob's bytes as
 * clients see them. That of the header begins with the name of the pack, which nobody outside knows: so no bytes of a
 * client are ever taken for a record.
 *
 * The states are the only bytes that ever change. They have no checksum, as they are written in place; instead, each is
 * a word that no few flipped bits make of another. A word that is none of them means `damaged`: the record is needed, the
 * file is open. Records begin at multiples of 4, so that no state lies across two sectors and is written by half.
 *
 * Format 1 is in [old-records.ts](old-records.ts).
 */
import { crc32 } from 'node:zlib'
import { OLD_RECORD_HEADER_BYTES, oldState, readOldFileHeader, readOldRecordHeader } from './old-records.ts'

export const FILE_HEADER_BYTES = 36
export const RECORD_HEADER_BYTES = 40
/** The least that a header of a record has, in any format. */
export const RECORD_HEADER_BYTES_MIN = OLD_RECORD_HEADER_BYTES
/** Where the state is in a header. */
export const FILE_STATE_AT = 8
export const RECORD_STATE_AT = 4

/** `sealed`: nobody appends to the file any more. */
export type FileState = 'open' | 'sealed' | 'damaged'
/** `dead`: nothing needs the record any more. `void`: another copy of it was written in its stead. */
export type RecordState = 'live' | 'dead' | 'void' | 'damaged'

/** Any two differ in 16 bits at least, and in each byte. */
const WORDS = { first: 0x0f_0f_0f_0f, second: 0xf0_f0_f0_f0, third: 0x33_cc_55_aa } as const
const FILE_STATES = new Map<number, FileState>([
  [WORDS.first, 'open'],
  [WORDS.second, 'sealed'],
])
const RECORD_STATES = new Map<number, RecordState>([
  [WORDS.first, 'live'],
  [WORDS.second, 'dead'],
  [WORDS.third, 'void'],
])
/** What a file is sealed by. */
export const SEALED = word(WORDS.second)

const FILE_MAGIC = Buffer.from('HOLDPCK2', 'latin1')
const LATER_FILE_MAGIC = /^HOLDPCK([3-9])$/
const RECORD_MAGIC = 0x48_46_52_32
const [PLAIN, FRAME] = [0, 1]
const ALIGNED = 4
const ZEROS = Buffer.alloc(ALIGNED)

export type PackFormat = 1 | 2
/** What is written. */
export const PACK_FORMAT = 2

export interface FileHeader {
  readonly format: PackFormat
  readonly state: FileState
}

export interface RecordHeader {
  readonly format: PackFormat
  readonly state: RecordState
  /** One frame of zstd, and not the bytes as they are. */
  readonly isFrame: boolean
  readonly offset: number
  /** The length in its name. */
  readonly nameBytes: number
  readonly sizeBytes: number
  readonly storedBytes: number
  readonly crc: number
  readonly labelCrc: number
  readonly labelBytes: number
  /** From the beginning of the record: where its label is, where its stored bytes are, and where it ends. */
  readonly labelAt: number
  readonly storedAt: number
  readonly bytes: number
}

export type RecordDraft = Pick<RecordHeader, 'isFrame' | 'sizeBytes' | 'storedBytes' | 'crc'>

/** What the checksums of a pack's headers begin with. */
export function seedOf(pack: string): number {
  return crc32(Buffer.from(pack, 'hex'))
}

export function fileHeader(pack: string, nowMs: number): Buffer {
  const bytes = Buffer.alloc(FILE_HEADER_BYTES)
  FILE_MAGIC.copy(bytes)
  bytes.writeUInt32BE(WORDS.first, FILE_STATE_AT)
  bytes.write(pack, 12, 'hex')
  bytes.writeBigUInt64BE(BigInt(nowMs), 24)
  bytes.writeUInt32BE(fileCrc(bytes), 32)
  return bytes
}

/** Nothing when these bytes are not the beginning of a file of the pack. */
export function readFileHeader(bytes: Buffer, pack: string): FileHeader | undefined {
  if (bytes.length < FILE_HEADER_BYTES || bytes.toString('hex', 12, 24) !== pack) return undefined
  if (!bytes.subarray(0, 8).equals(FILE_MAGIC)) return readOldFileHeader(bytes)
  if (bytes.readUInt32BE(32) !== fileCrc(bytes)) return undefined
  return { format: 2, state: FILE_STATES.get(bytes.readUInt32BE(FILE_STATE_AT)) ?? 'damaged' }
}

/** The number of a format that a later release wrote, as far as this one can tell: one digit may have been 2. */
export function laterPackFormat(header: Buffer): number | undefined {
  const [, digit] = LATER_FILE_MAGIC.exec(header.toString('latin1', 0, 8)) ?? []
  const isPresent = header.length >= FILE_HEADER_BYTES && header.readUInt32BE(32) === fileCrc(header)
  return digit === undefined || isPresent ? undefined : Number(digit)
}

/** With the bytes that the file should begin with. */
function fileCrc(bytes: Buffer): number {
  return crc32(bytes.subarray(12, 32), crc32(FILE_MAGIC))
}

/** All of a record before its stored bytes, without offset and name. */
export function recordHead(label: Uint8Array, draft: RecordDraft): Buffer {
  return head(label, crc32(label), draft)
}

function head(label: Uint8Array, labelCrc: number, draft: RecordDraft): Buffer {
  const labelEnd = RECORD_HEADER_BYTES + label.length
  const zeros = -(labelEnd + draft.storedBytes) & (ALIGNED - 1)
  const bytes = Buffer.alloc(labelEnd + zeros)
  bytes.writeUInt32BE(RECORD_MAGIC, 0)
  bytes.writeUInt32BE(WORDS.first, RECORD_STATE_AT)
  bytes[8] = draft.isFrame ? FRAME : PLAIN
  bytes.writeUInt16BE(label.length, 10)
  bytes.writeUInt32BE(draft.sizeBytes, 20)
  bytes.writeUInt32BE(draft.storedBytes, 24)
  bytes.writeUInt32BE(draft.crc, 28)
  bytes.writeUInt32BE(crc32(ZEROS.subarray(0, zeros), labelCrc), 32)
  bytes.set(label, RECORD_HEADER_BYTES)
  return bytes
}

/** What a record is named by, beside its pack. */
export interface RecordName {
  readonly offset: number
  readonly length: number
}

/** Gives the record its name, once that is known. */
export function nameRecord(bytes: Buffer, { offset, length }: RecordName, seed: number): void {
  bytes.writeUInt32BE(offset, 12)
  bytes.writeUInt32BE(length, 16)
  bytes.writeUInt32BE(headCrc(bytes, 0, seed), 36)
}

/** What the header at a place says. Nothing when there is none of this pack. */
export function readRecordHeader(bytes: Buffer, at: number, seed: number): RecordHeader | undefined {
  if (at + RECORD_HEADER_BYTES > bytes.length || bytes.readUInt32BE(at) !== RECORD_MAGIC) {
    return readOldRecordHeader(bytes, at, seed)
  }
  const how = bytes[at + 8]
  if (bytes.readUInt32BE(at + 36) !== headCrc(bytes, at, seed) || (how !== PLAIN && how !== FRAME)) return undefined
  const [labelBytes, storedBytes] = [bytes.readUInt16BE(at + 10), bytes.readUInt32BE(at + 24)]
  const end = RECORD_HEADER_BYTES + labelBytes + storedBytes
  const wholeBytes = end + (-end & (ALIGNED - 1))
  return {
    format: 2,
    state: RECORD_STATES.get(bytes.readUInt32BE(at + RECORD_STATE_AT)) ?? 'damaged',
    isFrame: how === FRAME,
    offset: bytes.readUInt32BE(at + 12),
    nameBytes: bytes.readUInt32BE(at + 16),
    sizeBytes: bytes.readUInt32BE(at + 20),
    storedBytes,
    crc: bytes.readUInt32BE(at + 28),
    labelCrc: bytes.readUInt32BE(at + 32),
    labelBytes,
    labelAt: RECORD_HEADER_BYTES,
    storedAt: wholeBytes - storedBytes,
    bytes: wholeBytes,
  }
}

/** What a record of that format is marked by, at its state. */
export function stateOf(format: PackFormat, state: 'dead' | 'void'): Buffer {
  return format === 1 ? oldState(state) : word(state === 'dead' ? WORDS.second : WORDS.third)
}

/**
 * A record in the present format, for another file of its pack: as its bytes are now, which may have been marked since the
 * header was read. A damaged state is sound in the copy. What it holds is not verified.
 */
export function copiedRecord(record: Buffer, header: RecordHeader, seed: number): Buffer {
  const state = readRecordHeader(record, 0, seed)?.state ?? 'damaged'
  const copy = header.format === 1 ? upgraded(record, header, seed) : record
  if (state === 'dead' || state === 'void') stateOf(2, state).copy(copy, RECORD_STATE_AT)
  else copy.writeUInt32BE(WORDS.first, RECORD_STATE_AT)
  return copy
}

function upgraded(record: Buffer, header: RecordHeader, seed: number): Buffer {
  const label = record.subarray(header.labelAt, header.labelAt + header.labelBytes)
  const anew = head(label, header.labelCrc, header)
  nameRecord(anew, { offset: header.offset, length: header.nameBytes }, seed)
  return Buffer.concat([anew, record.subarray(header.storedAt, header.bytes)])
}

/** Where the next bytes are from `at` on that a record may begin with; -1 when there are none. */
export function nextMagic(bytes: Buffer, at: number): number {
  return bytes.indexOf(MAGIC_START, at)
}

const MAGIC_START = Buffer.from('HFR', 'latin1')

function headCrc(bytes: Buffer, at: number, seed: number): number {
  return crc32(bytes.subarray(at + 8, at + 36), crc32(bytes.subarray(at, at + RECORD_STATE_AT), seed))
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
