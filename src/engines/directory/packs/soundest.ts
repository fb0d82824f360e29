import type { Listed } from './listing.ts'
import { readRecord } from './pack-blob.ts'
import { readRaw } from './raw.ts'
import { readRecordHeader } from './record.ts'

export interface ReadListed {
  readonly record: Listed
  readonly bytes: Buffer
}

/** The bytes of a record: of its first copy that is sound, or of the first where none is. */
export async function readSoundest(first: Listed, seed: number): Promise<ReadListed> {
  const read = await readListed(first)
  if (first.copies === undefined || isSound(read, seed)) return read
  for (const copy of first.copies) {
    const other = await readListed(copy)
    if (isSound(other, seed)) return other
  }
  return read
}

export function isSound({ bytes }: ReadListed, seed: number): boolean {
  const header = readRecordHeader(bytes, 0, seed)
  return header !== undefined && readRecord(bytes, header) !== undefined
}

async function readListed(record: Listed): Promise<ReadListed> {
  const bytes = Buffer.allocUnsafe(record.bytes)
  if ((await readRaw(record.file.fd, bytes, record.at)) !== bytes.length) throw new Error('It became shorter.')
  return { record, bytes }
}
