import { CatalogUnavailable } from '../../ports/catalog.ts'
import type { Catalog, Change, Outcome } from '../../ports/catalog.ts'
import type { Clock } from '../../ports/system.ts'
import type { SimulatedRandom } from './random.ts'

export interface CatalogFaults {
  /** Probability that a commit is not done and fails. */
  readonly failBefore?: number
  /** Probability that a commit is done, and fails for who asked. */
  readonly loseAnswer?: number
  /** The longest that a commit takes before it is done, and once more before it is answered. */
  readonly delayMs?: number
}

export interface FaultyCatalogOptions {
  readonly random: SimulatedRandom
  readonly clock?: Clock
  /** Read at each commit, so it may be changed meanwhile. */
  readonly faults: CatalogFaults
}

/** The same catalog, but its commits meet what a writer in another process can meet. Reads are as they are. */
export function faultyCatalog(catalog: Catalog, { random, clock, faults }: FaultyCatalogOptions): Catalog {
  const delay = async () => {
    const { delayMs = 0 } = faults
    if (delayMs > 0) await clock?.sleep(random.below(delayMs + 1))
  }
  const commit = async (changes: readonly Change[]): Promise<readonly Outcome[]> => {
    await delay()
    if (random.chance(faults.failBefore ?? 0)) throw new CatalogUnavailable('The writer is gone (simulated).')
    const outcomes = await catalog.commit(changes)
    await delay()
    if (random.chance(faults.loseAnswer ?? 0)) throw new CatalogUnavailable('The answer was lost (simulated).')
    return outcomes
  }
  return new Proxy(catalog, {
    get(target, name) {
      if (name === 'commit') return commit
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
