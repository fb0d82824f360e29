import type { Change } from '../../ports/catalog.ts'
import type { Cluster } from '../cluster.ts'

/**
 * Has an inline verb and its entry in the audit trail be one commit: the entry goes along with the commit that the step
 * makes. So there is no entry of what was not done, and nothing was done that a failure of a second commit denies.
 */
export class AuditedCommit {
  /** What the step is to be given. */
  readonly cluster: Cluster
  #isDone = false

  constructor(cluster: Cluster, entry: () => Change) {
    this.cluster = cluster.through(async (changes) => {
      if (this.#isDone) cluster.log.error(SECOND_COMMIT, { changes: changes.map((change) => change.do) })
      const beside = this.#isDone ? [] : [entry()]
      const outcomes = await cluster.catalog.commit([...changes, ...beside])
      this.#isDone = true
      return outcomes.slice(0, changes.length)
    })
  }

  /** False where the step had nothing to commit: then there is no entry yet. */
  get isDone(): boolean {
    return this.#isDone
  }
}

/** A defect: the first of the two commits stays if the second fails, and the caller is told that nothing was done. */
export const SECOND_COMMIT = 'An inline verb made a second commit.'
