import type { Address } from './names.ts'
import type { PackFile } from './pack-file.ts'
import { readRaw } from './raw.ts'
import { readRecordHeader, RECORD_HEADER_BYTES, seedOf } from './record.ts'

/** Headers that are not further from one another are read together, with what is between them. */
const SPAN_BYTES = 128 * 1024

/** Marks records of one pack as not needed, in one of its files. Gives the bytes of those that were not marked yet. */
export async function markRecords(file: PackFile, addresses: readonly Address[]): Promise<number> {
  const seed = seedOf(file.name.pack)
  const wanted = new Map<number, number>()
  for (const { offset } of addresses) for (const at of await file.find(offset)) wanted.set(at, offset)
  let marked = 0
  for (const span of spansOf([...wanted.keys()])) {
    const from = span[0] ?? 0
    const bytes = Buffer.allocUnsafe((span.at(-1) ?? 0) - from + RECORD_HEADER_BYTES)
    const read = bytes.subarray(0, await readRaw(file.fd, bytes, from))
    const writes: Promise<void>[] = []
    for (const at of span) {
      const header = readRecordHeader(read, at - from, seed)
      if (header?.offset !== wanted.get(at) || header === undefined) continue
      if (header.state === 'dead' || header.state === 'void') continue
      writes.push(file.mark(at, header, 'dead'))
      marked += header.bytes
    }
    await Promise.all(writes)
  }
  return marked
}

function spansOf(places: readonly number[]): number[][] {
  const spans: number[][] = []
  for (const at of places.toSorted((a, b) => a - b)) {
    const span = spans.at(-1)
    if (span === undefined || at - (span[0] ?? 0) > SPAN_BYTES) spans.push([at])
    else span.push(at)
  }
  return spans
}
