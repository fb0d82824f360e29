/**
 * The locks that a job holds from its first step to its end, as records: so jobs of one lock run one after the other
 * whatever processes run them, and what is decided under such a lock is not committed meanwhile.
 *
 * A claim names the job, not the process: whoever goes on with the job has its locks. It is made with the commit that
 * begins the job, and goes with the one that ends it.
 */
import { type Change } from '../../ports/catalog.ts'
import type { Cluster } from '../cluster.ts'

/** The type of the records; their key is the name of the lock. */
export const LOCK_CLAIMS = 'internal/lock-claims'

declare module '../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/lock-claims': { readonly job: string; readonly lock: string }
  }
}

/** Refused while a job holds the lock. */
export function unclaimed(lock: string): Change {
  return { do: 'check-record', type: LOCK_CLAIMS, key: lock, expect: 'absent' }
}

/** Whether somebody here, or a job of any process, has the lock. For those who come again later. */
export async function isTaken({ locks, catalog }: Cluster, lock: string): Promise<boolean> {
  return locks.isHeld(lock) || (await catalog.record(LOCK_CLAIMS, lock)) !== undefined
}

/** The same for many locks, by one look. */
export async function takenLocks(cluster: Cluster): Promise<(lock: string) => boolean> {
  const { locks } = cluster
  const claimed = new Set((await cluster.rows(LOCK_CLAIMS)).map(({ lock }) => lock))
  return (lock) => locks.isHeld(lock) || claimed.has(lock)
}

/** The changes that claim locks for a job, but for those that it has. Refused while another job has one of them. */
export async function claimsFor({ catalog }: Cluster, job: string, locks: readonly string[]): Promise<Change[]> {
  const changes: Change[] = []
  for (const lock of new Set(locks)) {
    const held = await catalog.record(LOCK_CLAIMS, lock)
    if (held?.body['job'] === job) continue
    changes.push({ do: 'put-record', type: LOCK_CLAIMS, key: lock, body: { job, lock }, expect: 'absent' })
  }
  return changes
}

/** The changes that let go of the locks of a job, which are to be committed by the one who runs it. */
export function unclaimChanges(locks: readonly string[]): Change[] {
  return [...new Set(locks)].map((lock) => ({ do: 'remove-record', type: LOCK_CLAIMS, key: lock }))
}

/** Another job has one of the locks. */
export class LocksTaken extends Error {
  constructor() {
    super('Another job holds a lock that this one needs.')
    this.name = 'LocksTaken'
  }
}
