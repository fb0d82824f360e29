/**
 * What real operations amounted to: the counters are read every `SAMPLE_SECONDS`, and by how much each row grew is a
 * sample. The last one is what `metric` of volumes and of the cluster shows; all go to the history.
 */
import type { Commits, Telemetry } from '../../ports/catalog.ts'
import { sampledTables } from './counter-tables.ts'
import { type Growth, type Measured, NO_GROWTH, sum } from './figures.ts'
import { CLUSTER_ROW, History } from './history.ts'
import { SAMPLE_SECONDS } from './intervals.ts'
import { totalsOf } from './totals.ts'

/** The table whose rows together are the cluster. Those of the others count the same operations once more. */
const WHOLE = 'object_store_server'
/** The table of what lies in something else. */
const HELD = 'volume'
/** After a longer time without a sample nobody knows when what was counted since happened. */
const GAP_MS_MAX = 5 * 60_000

export class Metrics {
  readonly history: History
  readonly #catalog: Telemetry & Commits
  /** The counters at the last look, by row: uuids, so that tables do not meet. */
  #totals: ReadonlyMap<string, Growth> = new Map()
  #lookedMs: number | undefined
  #last:
    | { readonly timeMs: number; readonly coveredMs: number; readonly grown: ReadonlyMap<string, Growth> }
    | undefined

  constructor(catalog: Telemetry & Commits) {
    this.#catalog = catalog
    this.history = new History(catalog)
  }

  /**
   * Reads the counters; to be called soon after each multiple of `SAMPLE_SECONDS`. The first look only tells from where
   * to count, and so does one after a long gap, or when the clock was set back. Beside the counters of the catalog there
   * are `others`, by row. `holderOf` tells in what a volume lies, which has the sum of its volumes in the history.
   */
  async sample(
    nowMs: number,
    others: ReadonlyMap<string, Growth> = new Map(),
    holderOf: (volume: string) => Promise<string | undefined> = () => Promise.resolve(undefined),
  ): Promise<void> {
    const before = this.#lookedMs
    const coveredMs = before === undefined ? 0 : nowMs - before
    const timeMs = Math.floor(nowMs / (SAMPLE_SECONDS * 1000)) * SAMPLE_SECONDS * 1000
    const isKnown = coveredMs > 0 && coveredMs <= GAP_MS_MAX
    const kept = isKnown ? await this.history.begin(timeMs) : undefined
    const totals = new Map<string, Growth>()
    const grown = new Map<string, Growth>()
    const take = (row: string, total: Growth): Growth => {
      totals.set(row, total)
      const known = this.#totals.get(row)
      const growth = total.map((value, at) => Math.max(0, value - (known?.[at] ?? 0)))
      if (growth.every((value) => value === 0)) return NO_GROWTH
      grown.set(row, growth)
      kept?.put(row, growth)
      return growth
    }
    let whole = NO_GROWTH
    const held = new Map<string, Growth>()
    for (const table of sampledTables) {
      for await (const [row, total] of totalsOf(this.#catalog, table)) {
        const growth = take(row, total)
        if (table === WHOLE) whole = sum(whole, growth)
        const holder = table === HELD && growth !== NO_GROWTH ? await holderOf(row) : undefined
        if (holder !== undefined) held.set(holder, sum(held.get(holder) ?? NO_GROWTH, growth))
      }
    }
    for (const [row, growth] of held) kept?.put(row, growth)
    for (const [row, total] of others) take(row, total)
    grown.set(CLUSTER_ROW, whole)
    this.#totals = totals
    this.#lookedMs = nowMs
    this.#last = isKnown ? { timeMs, coveredMs, grown } : undefined
    kept?.end(coveredMs, whole)
  }

  /** What the last sample says of a row; nothing before there is one. */
  last(row: string): Measured | undefined {
    if (this.#last === undefined) return undefined
    const { timeMs, coveredMs, grown } = this.#last
    return { timeMs, coveredMs, growth: grown.get(row) ?? NO_GROWTH }
  }
}
