/**
 * What became of the records of a bulk job. Each has a small record of its own in the catalog, so to note one costs the
 * same however many there are.
 */
import type { Failure } from '../../model/failure.ts'
import type { Row } from '../../model/value.ts'
import type { Cluster } from '../cluster.ts'
import type { Change, StoredRecord } from '../../ports/catalog.ts'

const BULK_OUTCOMES = 'internal/bulk-outcomes'

declare module '../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/bulk-outcomes': Outcome
  }
}

/** Outcomes read or removed at once. */
const PAGE = 500
/** Keys of the outcomes of a job stand in the order of its records. */
const DIGITS = 9

export type OutcomeError = {
  readonly kind: Failure['kind']
  readonly message: string
  readonly code: number
  readonly target?: string
}

/** Of one record. Kept with the job, so without secrets. */
export type Outcome = {
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
  return { do: 'put-record', type: BULK_OUTCOMES, key: keyOf(bulk, at), parent: bulk, body: outcome }
}

/** What is known of the records of a bulk job, by their places in it, in order. */
export async function outcomesOf(cluster: Cluster, bulk: string): Promise<Map<number, Outcome>> {
  const records = await recordsOf(cluster, bulk)
  return new Map(records.map(({ key, body }) => [Number(key.slice(-DIGITS)), body]))
}

export async function forgetOutcomes(cluster: Cluster, bulk: string): Promise<void> {
  const records = await recordsOf(cluster, bulk)
  for (let from = 0; from < records.length; from += PAGE) {
    const some = records.slice(from, from + PAGE)
    await cluster.catalog.commit(some.map(({ type, key }): Change => ({ do: 'remove-record', type, key })))
  }
}

async function recordsOf(cluster: Cluster, bulk: string): Promise<StoredRecord<Outcome>[]> {
  const found: StoredRecord<Outcome>[] = []
  for (let after = `${bulk}/`, isLast = false; !isLast;) {
    const page = await cluster.records(BULK_OUTCOMES, { after, limit: PAGE })
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
