/**
 * Faults on demand, for people who test what their automation does when the cluster fails: requests that are answered
 * with an error or late, jobs that fail or take long, aggregates that are full.
 *
 * They are kept in memory alone: a restart ends all of them. As long as there is none, a request costs the look at an
 * empty list.
 */
import { Failure, failure } from '../model/failure.ts'
import type { RowOf } from '../model/rows.ts'
import type { System } from '../ports/system.ts'

export const FAULTS_MAX = 100
export const FAULT_DELAY_MS_MAX = 600_000
/** The place of the faults themselves, which none of them hits: they can always be ended. */
const OWN_PATH = '/api/private/faults'

export const faultTypes = ['error', 'delay', 'job_failure', 'job_delay', 'full_aggregate'] as const
export type FaultType = (typeof faultTypes)[number]

export type FaultRow = RowOf<'private/faults'>

interface Fault {
  readonly row: FaultRow
  readonly path: RegExp
  readonly chance: () => number
  hits: number
}

/** Takes the UUIDs of the aggregates that are to have no space for anybody. Settles when it is so. */
export type TellFull = (aggregates: readonly string[]) => Promise<void>

export class Faults {
  readonly #system: System
  readonly #faults = new Map<string, Fault>()
  #tellFull: TellFull = () => Promise.resolve()

  constructor(system: System) {
    this.#system = system
  }

  /** Whether there is any: the only question that is asked while there is none. */
  get isOn(): boolean {
    return this.#faults.size > 0
  }

  /** Who writes beside this process. Is told what holds now, and whenever that changes. */
  async onFull(tell: TellFull): Promise<void> {
    this.#tellFull = tell
    await this.#told([])
  }

  async #told(before: readonly string[]): Promise<void> {
    const full = this.#full()
    if (full.join() !== before.join()) await this.#tellFull(full)
  }

  #full(): string[] {
    const rows = [...this.#faults.values()].map(({ row }) => row)
    return rows.filter(({ type }) => type === 'full_aggregate').map((row) => row['aggregate.uuid'] ?? '')
  }

  /** Fails where there are as many others as there may be. */
  insistOnRoom(uuid: string): void {
    if (this.#faults.has(uuid) || this.#faults.size < FAULTS_MAX) return
    throw failure('tooManyFaults', { max: FAULTS_MAX })
  }

  /** Adds one, or puts it in the place of that with the same uuid; its counts begin anew. */
  async put(row: FaultRow): Promise<void> {
    const before = this.#full()
    const { uuid } = row
    this.insistOnRoom(uuid)
    this.#faults.set(uuid, {
      row,
      path: pattern(row.path ?? ''),
      chance: chances(row.seed ?? 0),
      hits: 0,
    })
    await this.#told(before)
  }

  async remove(uuid: string): Promise<void> {
    const before = this.#full()
    this.#faults.delete(uuid)
    await this.#told(before)
  }

  rows(): FaultRow[] {
    return [...this.#faults.values()].map(({ row, hits }) =>
      Object.assign({ ...row, hits }, row.times === undefined ? {} : { remaining: row.times - hits }),
    )
  }

  /** What becomes of a request before it is looked at: it may be kept waiting, and may be answered with a fault. */
  async onRequest(method: string, target: string): Promise<FaultRow | undefined> {
    const path = pathOf(target)
    if (path === OWN_PATH || path.startsWith(`${OWN_PATH}/`)) return undefined
    for (const fault of this.#hitting(['delay', 'error'], method, path)) {
      if (fault.row.type === 'error') return fault.row
      await this.#system.clock.sleep(fault.row.delay_ms ?? 0)
    }
    return undefined
  }

  /** Before the first step of a job, by what asked for it: `POST /api/storage/volumes`. May take long, and may fail. */
  async onJob(description: string, stopping: AbortSignal): Promise<void> {
    const [method = '', target = ''] = description.split(' ', 2)
    for (const { row } of this.#hitting(['job_delay', 'job_failure'], method, pathOf(target))) {
      if (row.type === 'job_delay') await this.#system.clock.sleep(row.delay_ms ?? 0, stopping)
      else throw new Failure('conflict', row.code ?? 0, row.message ?? '')
    }
  }

  /** Whether an aggregate is to have nothing to give. */
  isFull(aggregate: string): boolean {
    if (!this.isOn) return false
    for (const fault of this.#faults.values()) {
      if (fault.row.type !== 'full_aggregate' || fault.row['aggregate.uuid'] !== aggregate) continue
      fault.hits++
      return true
    }
    return false
  }

  /** Those that hit now, in the order they were made. Each counts when it is come to: what ends the request ends the list. */
  *#hitting(types: readonly FaultType[], method: string, path: string): Generator<Fault> {
    for (const fault of this.#faults.values()) {
      const { row } = fault
      const isMeant = types.includes(row.type) && (row.method === '*' || row.method === method)
      if (!isMeant || !fault.path.test(path)) continue
      const { times = Infinity, rate = 100 } = row
      if (fault.hits >= times) continue
      if (rate < 100 && fault.chance() * 100 >= rate) continue
      fault.hits++
      yield fault
    }
  }
}

/** Doubled and trailing slashes do not hide a path. */
function pathOf(target: string): string {
  const path = (target.split('?', 1)[0] ?? '').replaceAll(/\/{2,}/g, '/')
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** `*` is any text within a word of the path, `**` any text. */
function pattern(path: string): RegExp {
  const parts = path.split(/(\*{1,2})/).map((part) => {
    if (part === '**') return '.*'
    return part === '*' ? '[^/]*' : part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** Numbers in 0..1 that are the same for the same seed (mulberry32, public domain). */
function chances(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
