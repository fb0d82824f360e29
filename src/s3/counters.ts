import type { Catalog, Change } from '../ports/catalog.ts'
import type { Clock } from '../ports/system.ts'

/** One operation that ended, well or not. The names of the counters are those of `core/counter-tables.ts`. */
export interface Counted {
  readonly svm: string
  /** Absent for operations that are about no volume. */
  readonly volume: string | undefined
  readonly kind: 'read' | 'write' | 'other'
  readonly microseconds: number
  readonly bytesRead: number
  readonly bytesWritten: number
}

/** How often what was added up is written. */
const intervalMs = 1000

/**
 * Counts operations in memory and adds them to the catalog once a second, so that counting costs a request nothing. When
 * the writer cannot be reached, what was to be added is lost: it may have been added, and counting twice would be worse.
 */
export class Counters {
  readonly #catalog: Catalog
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #rows = new Map<string, { readonly table: string; readonly row: string; readonly add: Record<string, number> }>()

  constructor(catalog: Catalog, clock: Clock) {
    this.#catalog = catalog
    this.#running = this.#run(clock)
  }

  count(counted: Counted): void {
    this.#add('object_store_server', counted.svm, counted)
    if (counted.volume !== undefined) this.#add('volume', counted.volume, counted)
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#write()
  }

  #add(table: string, row: string, { kind, microseconds, bytesRead, bytesWritten }: Counted): void {
    const name = `${table} ${row}`
    let sums = this.#rows.get(name)
    if (sums === undefined) this.#rows.set(name, (sums = { table, row, add: {} }))
    const { add } = sums
    const increase = (counter: string, by: number): void => {
      if (by > 0) add[counter] = (add[counter] ?? 0) + by
    }
    increase(`${kind}_ops`, 1)
    increase(`${kind}_latency`, Math.round(microseconds))
    increase('total_ops', 1)
    increase('bytes_read', bytesRead)
    increase('bytes_written', bytesWritten)
  }

  async #run(clock: Clock): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await clock.sleep(intervalMs, signal)
      await this.#write()
    }
  }

  async #write(): Promise<void> {
    if (this.#rows.size === 0) return
    const changes = [...this.#rows.values()].map(({ table, row, add }): Change => ({ do: 'count', table, row, add }))
    this.#rows = new Map()
    await this.#catalog.commit(changes).catch(() => {})
  }
}
