/** The counters of a table, a few rows in each turn of the event loop. */
import type { Telemetry } from '../../ports/catalog.ts'
import { type Growth, growthOf } from './figures.ts'

/** With all their counters, these take a millisecond. */
const ROWS_A_TURN = 50

export async function* totalsOf(catalog: Telemetry, table: string): AsyncGenerator<[row: string, totals: Growth]> {
  for (let after = ''; ;) {
    const page = await catalog.counters(table, { after, limit: ROWS_A_TURN })
    for (const [row, counters] of page) {
      after = row
      yield [row, growthOf(counters)]
    }
    if (page.size < ROWS_A_TURN) return
  }
}
