/**
 * How far the catalog was, noted beside the blobs that it names: a catalog that was put back together with all that lies
 * beside it is told from the newest one by this.
 *
 *     <aggregate>/catalog-age.json    {"line":"<id>","changes":<number>,"timeMs":<number>,"crc":<CRC-32 of the others>}
 *
 * A note that is damaged is none: a flipped digit must not refuse a catalog that is the newest. Those of the first release
 * that had notes are without a CRC.
 *
 * Changes are counted along a line; a catalog that goes on from an earlier state on purpose begins a new line.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { writeDurably } from '../durable-file.ts'
import { AGE_NOTE, insistOnClaim } from './claim.ts'

export interface AgeNote {
  readonly line: string
  readonly changes: number
  readonly timeMs: number
}

/** Nothing where there is none, the folder is away or another aggregate's, or the note cannot be understood. */
export async function readAgeNote(folder: string, aggregate: string): Promise<AgeNote | undefined> {
  try {
    await insistOnClaim(folder, aggregate)
    const text = await readFile(join(folder, AGE_NOTE), 'utf8')
    const { line, changes, timeMs, crc } = JSON.parse(text) as Partial<AgeNote & { crc: number }>
    if (typeof line !== 'string' || typeof changes !== 'number' || typeof timeMs !== 'number') return undefined
    const note = { line, changes, timeMs }
    return crc === undefined || crc === crcOf(note) ? note : undefined
  } catch {
    return undefined
  }
}

/** Refused `away` where the folder is not the aggregate's. */
export async function writeAgeNote(folder: string, aggregate: string, note: AgeNote): Promise<void> {
  await insistOnClaim(folder, aggregate)
  await writeDurably(join(folder, AGE_NOTE), `${JSON.stringify({ ...note, crc: crcOf(note) })}\n`, 0o600)
}

function crcOf({ line, changes, timeMs }: AgeNote): number {
  return crc32(JSON.stringify([line, changes, timeMs]))
}
