/** Samples of what was measured: blocks of bytes for a length of time and a row. */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome, SampleBlock } from '../ports/catalog.ts'
import type { Ledger } from './ledger.ts'
import { query } from './statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

export function sampleChanges(ledger: Ledger) {
  const put = ledger.write(
    `INSERT INTO samples (step, block, row, body) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET body = excluded.body`,
  )
  const drop = ledger.write(
    `DELETE FROM samples WHERE (step, block, row) IN
       (SELECT step, block, row FROM samples WHERE step = ? AND block < ? ORDER BY block, row LIMIT ? + 0)`,
  )

  return {
    put({ step, block, row, body }: Of<'put-samples'>): Outcome {
      put(step, block, row, body)
      return {}
    },

    drop({ step, before, limit }: Of<'drop-samples'>): Outcome {
      return { reclaimed: drop(step, before, limit) }
    },
  }
}

/** `turn` waits for a turn of the event loop of its own. */
export function sampleReads(db: DatabaseSync, turn: () => Promise<void>) {
  const page = query<SampleBlock>(
    db,
    'SELECT row, body FROM samples WHERE step = ? AND block = ? AND row > ? ORDER BY row LIMIT ? + 0',
  )
  const one = query<{ body: Uint8Array }>(db, 'SELECT body FROM samples WHERE step = ? AND block = ? AND row = ?')
  const last = query<{ block: number | null }>(
    db,
    'SELECT max(block) AS block FROM samples WHERE step = ? AND block < ?',
  )

  return {
    async page(step: number, block: number, after: string, limit: number): Promise<SampleBlock[]> {
      await turn()
      return page.all(step, block, after, limit).map(({ row, body }) => ({ row, body }))
    },

    of(step: number, row: string, blocks: readonly number[]): Map<number, Uint8Array> {
      const found = new Map<number, Uint8Array>()
      for (const block of blocks) {
        const body = one.get(step, block, row)?.body
        if (body !== undefined) found.set(block, body)
      }
      return found
    },

    last(step: number, before: number): number | undefined {
      return last.get(step, before)?.block ?? undefined
    },
  }
}
