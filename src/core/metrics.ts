/** Rates of operations over the last interval, from samples of the counters. */
import { counterTables } from './counter-tables.ts'
import type { Catalog } from '../ports/catalog.ts'

export const SAMPLE_SECONDS = 15

type Totals = ReadonlyMap<string, Readonly<Record<string, number>>>
interface Sample {
  readonly timeMs: number
  readonly tables: ReadonlyMap<string, Totals>
}

export interface Rates {
  readonly timeMs: number
  readonly seconds: number
  /** Growth of each counter over the interval. */
  readonly growth: Readonly<Record<string, number>>
}

export class Metrics {
  readonly #catalog: Catalog
  #older: Sample | undefined
  #newer: Sample | undefined

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Takes a sample; to be called every `SAMPLE_SECONDS`. Two samples are kept. */
  async sample(nowMs: number): Promise<void> {
    const tables = new Map<string, Totals>()
    for (const table of counterTables) tables.set(table.name, await this.#catalog.counters(table.name))
    this.#older = this.#newer
    this.#newer = { timeMs: nowMs, tables }
  }

  /** What a row grew by between the last two samples; nothing before there are two. */
  rates(table: string, row: string): Rates | undefined {
    const [older, newer] = [this.#older, this.#newer]
    if (older === undefined || newer === undefined || newer.timeMs <= older.timeMs) return undefined
    const before = older.tables.get(table)?.get(row) ?? {}
    const after = newer.tables.get(table)?.get(row) ?? {}
    const growth = Object.fromEntries(
      Object.entries(after).map(([name, total]) => [name, Math.max(0, total - (before[name] ?? 0))]),
    )
    return { timeMs: newer.timeMs, seconds: (newer.timeMs - older.timeMs) / 1000, growth }
  }
}
