/**
 * What a decision rests on, and what keeps another process from pulling it away.
 *
 * A ground has a lock of this process, which saves work: those who would decide on the same thing wait for one another. What
 * decides is the catalog: the commit says what the decision rests on, and is refused where another process has written it
 * since the look. Then the decision is made anew, on what is there now.
 *
 * A lock that is no more than a name, such as `volume:<uuid>`, is one that a job holds from its beginning to its end, and
 * notes in the catalog (`lock-claims.ts`): nobody else commits under it meanwhile, whatever his process.
 */
import { failure } from '../model/failure.ts'
import type { SomeType } from '../model/rows.ts'
import { type Catalog, type Change, CommitRefused, type Outcome } from '../ports/catalog.ts'
import type { Cluster } from './cluster.ts'
import { unclaimed } from './jobs/lock-claims.ts'
import type { LockOptions } from './jobs/locks.ts'

export interface Ground {
  readonly lock: string
  /** Nobody else writes or removes a record of these types meanwhile; with `parent`, one under that. */
  readonly types?: readonly string[]
  readonly parent?: string
  /** Nobody else changes this one. */
  readonly record?: { readonly type: SomeType; readonly key: string }
}

/** A ground, or the lock that a job holds. */
export type Held = string | Ground

/** How often something is decided anew because another process has changed what it rests on. */
const TRIES_MAX = 20
/** How often a look is taken whether the job of another process has let go of a lock. */
const LOOK_EVERY_MS = 200
/** So long a request waits for that. A job waits as long as it takes. */
const REQUEST_WAIT_MS = 20_000

export interface AloneOptions extends LockOptions {
  /** Nothing of it is recorded yet: it is turned away where it would wait for long. */
  readonly isRequest?: boolean
}

export function lockOf(held: Held): string {
  return typeof held === 'string' ? held : held.lock
}

/**
 * Decides and commits: `act` looks, and commits through the cluster that it is given. It is called again where what it saw
 * was changed by another process before that commit, so it does nothing that cannot be repeated.
 */
export function alone<Result>(
  cluster: Cluster,
  grounds: readonly Held[],
  act: (cluster: Cluster, look: Look) => Promise<Result>,
  { isRequest = false, ...options }: AloneOptions = {},
): Promise<Result> {
  return cluster.locks.with(grounds.map(lockOf), () => decide(cluster, grounds, act, isRequest), options)
}

async function decide<Result>(
  cluster: Cluster,
  grounds: readonly Held[],
  act: (cluster: Cluster, look: Look) => Promise<Result>,
  isRequest: boolean,
): Promise<Result> {
  const untilMs = isRequest ? cluster.system.clock.elapsed() + REQUEST_WAIT_MS : Infinity
  for (let tries = 1; ;) {
    const look = new Look(cluster)
    await look.at(grounds)
    try {
      return await act(look.cluster, look)
    } catch (cause) {
      if (look.lost === undefined || (cause instanceof Object && givenUp.has(cause))) throw cause
      if (look.lost === 'changed' && tries++ >= TRIES_MAX) throw lastOf(cause)
      if (look.lost === 'claimed') await waitForJob(cluster, untilMs)
    }
  }
}

function lastOf(cause: unknown): unknown {
  const last = cause instanceof Lost ? failure('recordChanged', { noun: 'record' }, { cause }) : cause
  if (last instanceof Object) givenUp.add(last)
  return last
}

async function waitForJob({ system }: Cluster, untilMs: number): Promise<void> {
  if (system.clock.elapsed() >= untilMs) throw failure('tooManyWaiting', { what: 'job' })
  await system.clock.sleep(LOOK_EVERY_MS)
}

/** Of a ground, not of a change that was to be committed: whoever stands on it decides anew. */
class Lost extends CommitRefused {}

interface Seen {
  readonly held: Held
  since: number
  /** Of the record that the ground names. */
  revision?: number | 'absent'
}

/** What was decided anew often enough already, by somebody within. */
const givenUp = new WeakSet<object>()

/** One look at what a decision rests on. */
export class Look {
  /** What is to commit. */
  readonly cluster: Cluster
  /** Why what rests on this look could not be committed. */
  lost: 'changed' | 'claimed' | undefined
  readonly #catalog: Catalog
  readonly #seen: Seen[] = []

  constructor(cluster: Cluster) {
    this.#catalog = cluster.catalog
    this.cluster = cluster.through((changes) => this.#commit(changes))
  }

  /** What is read from here on rests on these too. */
  async at(grounds: readonly Held[]): Promise<void> {
    if (grounds.length === 0) return
    const since = await this.#catalog.revision()
    for (const held of grounds) {
      const named = typeof held === 'string' ? undefined : held.record
      const record = named === undefined ? undefined : await this.#catalog.record(named.type, named.key)
      this.#seen.push({ held, since, ...(named === undefined ? {} : { revision: record?.revision ?? 'absent' }) })
    }
  }

  async #commit(changes: readonly Change[]): Promise<readonly Outcome[]> {
    const claims = this.#seen.map(({ held }) => unclaimed(lockOf(held)))
    const checks = [...claims, ...this.#seen.flatMap(checksOf)]
    try {
      const outcomes = await this.#catalog.commit([...checks, ...changes])
      const own = outcomes.slice(checks.length)
      this.lost = undefined
      for (const seen of this.#seen) follow(seen, changes, own)
      return own
    } catch (refused) {
      if (!(refused instanceof CommitRefused) || refused instanceof Lost) throw refused
      if (refused.change < claims.length) this.lost = 'claimed'
      else if (refused.reason === 'stale') this.lost = 'changed'
      const change = refused.change - checks.length
      throw change >= 0 ? new CommitRefused(refused.reason, change, refused.scope) : new Lost('stale', 0)
    }
  }
}

/** What was written here is no change by others. */
function follow(seen: Seen, changes: readonly Change[], outcomes: readonly Outcome[]): void {
  const named = typeof seen.held === 'string' ? undefined : seen.held.record
  for (const [at, { revision }] of outcomes.entries()) {
    if (revision !== undefined) seen.since = Math.max(seen.since, revision)
    const change = changes[at]
    if (named === undefined || change === undefined || !('key' in change) || !('type' in change)) continue
    if (change.type !== named.type || change.key !== named.key) continue
    if (change.do === 'put-record' && revision !== undefined) seen.revision = revision
    if (change.do === 'remove-record') seen.revision = 'absent'
  }
}

function checksOf({ held, since, revision }: Seen): Change[] {
  if (typeof held === 'string') return []
  const { types = [], parent, record } = held
  const under = parent === undefined ? {} : { parent }
  return [
    ...(types.length === 0 ? [] : [{ do: 'check-unwritten', types, since, ...under } as const]),
    ...(record === undefined || revision === undefined
      ? []
      : [{ do: 'check-record', type: record.type, key: record.key, expect: revision } as const]),
  ]
}
