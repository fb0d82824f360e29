import type { LogName, LogEntry, SampleBlock } from './rows.ts'

/** What was logged, counted and measured. */
export interface Telemetry {
  /**
   * Entries of a log, newest first, in a turn of the event loop of its own. It ends before the limit when entries are long,
   * after one at the earliest: a walk is over with an empty one.
   */
  log(name: LogName, query: { readonly before?: number; readonly limit: number }): Promise<readonly LogEntry[]>

  /**
   * Values of operation counters: one map of names to totals for each row of a table. With `page`, of at most so many
   * rows after the one named, in order, and in a turn of the event loop of its own; or of the rows `named`.
   */
  counters(
    table: string,
    page?: { readonly after: string; readonly limit: number } | { readonly named: readonly string[] },
  ): Promise<ReadonlyMap<string, Readonly<Record<string, number>>>>

  /** Samples of one block of time, in the order of rows, after the row named; in a turn of the event loop of its own. */
  samples(step: number, block: number, after: string, limit: number): Promise<readonly SampleBlock[]>

  /** Samples of one row in the blocks named, where there are some. */
  samplesOf(step: number, row: string, blocks: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>>

  /** The last block of a step before this one that has samples of any row. */
  lastSamples(step: number, before: number): Promise<number | undefined>
}
