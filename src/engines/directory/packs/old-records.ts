/**
 * Headers of format 1, which packs had first. They are read until their pack is copied, which compaction does with all of
 * them; nothing writes them any more but marks.
 *
 *     8: 'HOLDPCK1' | 1: flags | 3: 0 | 12: pack | 8: when the file was made, in milliseconds | 4: CRC of all but the flags
 *     4: 'HFR1' | 1: flags | 1: how it is stored | 2: bytes of the label | 4: offset | 4: bytes of the blob | 4: stored bytes
 *       | 4: content CRC | 4: CRC of the label | 4: CRC of the header without the flags | label | stored bytes
 *
 * A flag was one bit, so that one that flipped made a record look dead. What a row needs is not dropped for it: who
 * compacts asks what is needed. The length in a name is that of the record.
 */
import { crc32 } from 'node:zlib'
import type { FileHeader, RecordHeader, RecordState } from './record.ts'

export const OLD_RECORD_HEADER_BYTES = 32

const FILE_MAGIC = Buffer.from('HOLDPCK1', 'latin1')
const RECORD_MAGIC = 0x48_46_52_31
const [OPEN, SEALED] = [0, 1]
const FLAGS: readonly RecordState[] = ['live', 'dead', 'void']
const [PLAIN, FRAME] = [0, 1]

/** Of bytes that name the right pack. */
export function readOldFileHeader(bytes: Buffer): FileHeader | undefined {
  if (!bytes.subarray(0, 8).equals(FILE_MAGIC)) return undefined
  if (bytes.readUInt32BE(32) !== crc32(bytes.subarray(9, 32), crc32(bytes.subarray(0, 8)))) return undefined
  const flags = bytes[8]
  return { format: 1, state: flags === SEALED ? 'sealed' : flags === OPEN ? 'open' : 'damaged' }
}

export function readOldRecordHeader(bytes: Buffer, at: number, seed: number): RecordHeader | undefined {
  if (at + OLD_RECORD_HEADER_BYTES > bytes.length || bytes.readUInt32BE(at) !== RECORD_MAGIC) return undefined
  const how = bytes[at + 5]
  const crc = crc32(bytes.subarray(at + 5, at + 28), crc32(bytes.subarray(at, at + 4), seed))
  if (bytes.readUInt32BE(at + 28) !== crc || (how !== PLAIN && how !== FRAME)) return undefined
  const [labelBytes, storedBytes] = [bytes.readUInt16BE(at + 6), bytes.readUInt32BE(at + 16)]
  const storedAt = OLD_RECORD_HEADER_BYTES + labelBytes
  return {
    format: 1,
    state: FLAGS[bytes[at + 4] ?? 0] ?? 'damaged',
    isFrame: how === FRAME,
    offset: bytes.readUInt32BE(at + 8),
    nameBytes: storedAt + storedBytes,
    sizeBytes: bytes.readUInt32BE(at + 12),
    storedBytes,
    crc: bytes.readUInt32BE(at + 20),
    labelCrc: bytes.readUInt32BE(at + 24),
    labelBytes,
    labelAt: OLD_RECORD_HEADER_BYTES,
    storedAt,
    bytes: storedAt + storedBytes,
  }
}

export function oldState(state: 'dead' | 'void'): Buffer {
  return Buffer.of(FLAGS.indexOf(state))
}
