import { countedOperations, type Noted } from '../core/metrics/server-counters.ts'
import type { CountedTable } from '../core/metrics/counter-tables.ts'
import type { SomeType } from '../model/rows.ts'
import type { Change, Commits } from '../ports/catalog.ts'
import type { Clock } from '../ports/system.ts'
import type { S3Error } from './errors.ts'

/** One operation that ended, well or not. The names of the counters are those of `core/counter-tables.ts`. */
export interface Counted {
  readonly svm: string
  /** UUID of the network interface it came in by. */
  readonly interface: string
  /** Absent for operations that are about no volume. */
  readonly volume: string | undefined
  readonly kind: 'read' | 'write' | 'other'
  /** Its name in the router. Absent when it was refused before it had one. */
  readonly operation: string | undefined
  readonly failure: S3Error | undefined
  readonly microseconds: number
  /** Whether it sent a whole object, and not a range of one. */
  readonly isWhole: boolean
  /** Whether the client closed the connection before the end of the answer. */
  readonly isAbandoned: boolean
  /** What else is counted of it, by name; a name may be there several times. */
  readonly noted: readonly Noted[]
  /** How often receiving stopped because the client was faster. */
  readonly pauses: number
  /** How often sending stopped because the client was slower. */
  readonly readerWaits: number
  /** Of bodies. */
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** What the rows of a table are about: of what was deleted meanwhile nothing is counted. */
const COUNTED: Readonly<Partial<Record<CountedTable, SomeType>>> = {
  volume: 'storage/volumes',
  object_store_server: 'svm/svms',
  lif: 'network/ip/interfaces',
}

/** How often what was added up is written. */
const intervalMs = 1000

/**
 * Counts operations in memory and adds them to the catalog once a second, so that counting costs a request nothing. When
 * the writer cannot be reached, what was to be added is lost: it may have been added, and counting twice would be worse.
 */
export class Counters {
  readonly #catalog: Commits
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #rows = new Map<CountedTable, Map<string, Sums>>()

  constructor(catalog: Commits, clock: Clock) {
    this.#catalog = catalog
    this.#running = this.#run(clock)
  }

  count(counted: Counted): void {
    const server = this.#sums('object_store_server', counted.svm)
    countKind(server, counted)
    countOperation(server, counted)
    for (const name of counted.noted) increase(server, name, 1)
    increase(server, 'input_flow_control_entry', counted.pauses)
    increase(server, 'input_flow_control_exit', counted.pauses)
    increase(server, 'output_flow_control_entry', counted.readerWaits)
    increase(server, 'output_flow_control_exit', counted.readerWaits)
    if (counted.volume !== undefined) countKind(this.#sums('volume', counted.volume), counted)
    const through = this.#sums('lif', counted.interface)
    increase(through, 'received_data', counted.bytesReceived)
    increase(through, 'sent_data', counted.bytesSent)
  }

  /** Counts what belongs to no request, such as a connection. */
  note(svm: string, name: Noted): void {
    increase(this.#sums('object_store_server', svm), name, 1)
  }

  compressed(volume: string, isSmaller: boolean): void {
    const sums = this.#sums('volume', volume)
    increase(sums, 'compress_attempts', 1)
    increase(sums, 'compress_failures', isSmaller ? 0 : 1)
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#write()
  }

  #sums(table: CountedTable, row: string): Sums {
    let rows = this.#rows.get(table)
    if (rows === undefined) this.#rows.set(table, (rows = new Map()))
    let sums = rows.get(row)
    if (sums === undefined) rows.set(row, (sums = new Map()))
    return sums
  }

  async #run(clock: Clock): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await clock.sleep(intervalMs, signal)
      await this.#write()
    }
  }

  async #write(): Promise<void> {
    const changes: Change[] = []
    for (const [table, rows] of this.#rows) {
      for (const [row, sums] of rows) {
        if (sums.size === 0) continue
        const type = COUNTED[table]
        const of = type === undefined ? {} : { of: { type, key: row } }
        changes.push({ do: 'count', table, row, ...of, add: Object.fromEntries(sums) })
      }
    }
    if (changes.length === 0) return
    this.#rows = new Map()
    await this.#catalog.commit(changes).catch(() => {})
  }
}

type Sums = Map<string, number>

/** Errors that say who asked is not who they say. */
const authenticationFailures: ReadonlySet<string> = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch'])

/** Names are made once: a request counts some twenty. */
const kindCounters = {
  read: { ops: 'read_ops', latency: 'read_latency' },
  write: { ops: 'write_ops', latency: 'write_latency' },
  other: { ops: 'other_ops', latency: 'other_latency' },
} as const

const operationCounters = new Map(
  Object.entries(countedOperations).map(([operation, base]) => [
    operation,
    {
      total: `${base}_total`,
      latency: `${base}_latency`,
      failed: `${base}_failed`,
      failedByClose: `${base}_failed_client_close`,
    },
  ]),
)

function countKind(sums: Sums, { kind, isWhole, microseconds, bytesSent, bytesReceived }: Counted): void {
  const names = kindCounters[kind]
  increase(sums, names.ops, 1)
  increase(sums, 'sequential_reads', kind === 'read' && isWhole ? 1 : 0)
  increase(sums, names.latency, Math.round(microseconds))
  increase(sums, 'total_ops', 1)
  increase(sums, 'bytes_read', kind === 'read' ? bytesSent : 0)
  increase(sums, 'bytes_written', kind === 'write' ? bytesReceived : 0)
}

function countOperation(sums: Sums, { operation, failure, isAbandoned, microseconds }: Counted): void {
  if (failure !== undefined && authenticationFailures.has(failure.code)) increase(sums, 'authentication_failures', 1)
  const names = operation === undefined ? undefined : operationCounters.get(operation)
  if (names === undefined) return
  increase(sums, names.total, 1)
  increase(sums, names.latency, Math.round(microseconds))
  if (failure !== undefined && failure.status >= 400) increase(sums, names.failed, 1)
  if (isAbandoned) increase(sums, names.failedByClose, 1)
}

function increase(sums: Sums, counter: string, by: number): void {
  if (by > 0) sums.set(counter, (sums.get(counter) ?? 0) + by)
}
