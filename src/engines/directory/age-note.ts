/**
 * How far the catalog was, noted beside the blobs that it names: a catalog that was put back together with all that lies
 * beside it is told from the newest one by this.
 *
 *     <aggregate>/catalog-age.json    {"line":"<id>","changes":<number>,"timeMs":<number>}
 *
 * Changes are counted along a line; a catalog that goes on from an earlier state on purpose begins a new line.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
    const { line, changes, timeMs } = JSON.parse(await readFile(join(folder, AGE_NOTE), 'utf8')) as Partial<AgeNote>
    return typeof line === 'string' && typeof changes === 'number' && typeof timeMs === 'number'
      ? { line, changes, timeMs }
      : undefined
  } catch {
    return undefined
  }
}

/** Refused `away` where the folder is not the aggregate's. */
export async function writeAgeNote(folder: string, aggregate: string, note: AgeNote): Promise<void> {
  await insistOnClaim(folder, aggregate)
  await writeDurably(join(folder, AGE_NOTE), `${JSON.stringify(note)}\n`, 0o600)
}
