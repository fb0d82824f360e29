/**
 * What became of the records of a bulk job. Each has a small record of its own in the catalog, so to note one costs the
 * same however many there are.
 */
import type { Row } from '../../model/value.ts'
import type { Change, Commits, Records, StoredRecord } from '../../ports/catalog.ts'

const BULK_OUTCOMES = 'internal/bulk-outcomes'
/** Outcomes read or removed at once. */
const PAGE = 500
/** Keys of the outcomes of a job stand in the order of its records. */
const DIGITS = 9

export type OutcomeError = Readonly<Record<'kind' | 'message', string>> & {
  readonly code: number
  readonly target?: string
}

/** Of one record. Kept with the job, so without secrets. */
export interface Outcome {
  readonly key: string
  /** The job that does it. */
  readonly job?: string
  /** The fields as they were before they were changed. */
  readonly before?: Row
  readonly error?: OutcomeError
  readonly isUndone?: boolean
  /** Why it could not be taken back. */
  readonly rollbackError?: OutcomeError
  /** Noted before it was begun: whether it was, only the cluster tells. */
  readonly isPlanned?: boolean
}

/** The change that notes what became of the record at this place of the bulk job. */
export function outcomeChange(bulk: string, at: number, outcome: Outcome): Change {
  return { do: 'put-record', type: BULK_OUTCOMES, key: keyOf(bulk, at), parent: bulk, body: { ...outcome } }
}

/** What is known of the records of a bulk job, by their places in it, in order. */
export async function outcomesOf(catalog: Records & Commits, bulk: string): Promise<Map<number, Outcome>> {
  const records = await recordsOf(catalog, bulk)
  return new Map(records.map(({ key, body }) => [Number(key.slice(-DIGITS)), body as unknown as Outcome]))
}

export async function forgetOutcomes(catalog: Records & Commits, bulk: string): Promise<void> {
  const records = await recordsOf(catalog, bulk)
  for (let from = 0; from < records.length; from += PAGE) {
    const some = records.slice(from, from + PAGE)
    await catalog.commit(some.map(({ type, key }): Change => ({ do: 'remove-record', type, key })))
  }
}

async function recordsOf(catalog: Records & Commits, bulk: string): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  for (let after = `${bulk}/`, isLast = false; !isLast;) {
    const page = await catalog.records(BULK_OUTCOMES, { after, limit: PAGE })
    const own = page.filter(({ parent }) => parent === bulk)
    found.push(...own)
    after = own.at(-1)?.key ?? after
    isLast = own.length === 0 || own.length < page.length
  }
  return found
}

function keyOf(bulk: string, at: number): string {
  return `${bulk}/${String(at).padStart(DIGITS, '0')}`
}
