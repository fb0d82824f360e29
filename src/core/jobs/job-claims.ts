/**
 * Which process runs a job: a record for each job that is under way, with the node and the incarnation of its process.
 * Every commit of the job checks that the record is as that process wrote it. So when another has taken the job, what the
 * first one still commits is refused, whatever it was about, and its run ends as if it were interrupted.
 *
 * A job is claimed with the commit that creates its record, and released with the one that ends it. A process takes the
 * jobs that no other node has: those of earlier processes of its own node, and those that nobody claimed.
 */
import { type Catalog, type Change, CommitRefused, type Outcome } from '../../ports/catalog.ts'
import type { Cluster } from '../cluster.ts'
import { Interrupted } from '../verb.ts'

/** The type of the records; their key is that of the job. */
export const JOB_CLAIMS = 'internal/job-claims'

/** The revision of the record with which this process took a job. */
export interface JobClaim {
  readonly job: string
  readonly revision: number
}

/** What claims a job, whoever had it. */
export function claimChange({ incarnation }: Cluster, job: string, expect?: number | 'absent'): Change {
  const body = { node: incarnation.node, incarnation: incarnation.id }
  return { do: 'put-record', type: JOB_CLAIMS, key: job, body, ...(expect === undefined ? {} : { expect }) }
}

/** The claim that a commit of `claimChange` made, which had this place in it. */
export function claimMade(job: string, outcomes: readonly Outcome[], at: number): JobClaim {
  return { job, revision: outcomes[at]?.revision ?? 0 }
}

export function releaseChange(job: string): Change {
  return { do: 'remove-record', type: JOB_CLAIMS, key: job }
}

/** Takes a job that its record says is under way. Nothing where another node has it. */
export async function takeJob(cluster: Cluster, job: string): Promise<JobClaim | undefined> {
  const record = await cluster.catalog.record(JOB_CLAIMS, job)
  if (record !== undefined && record.body['node'] !== cluster.incarnation.node) return undefined
  try {
    const outcomes = await cluster.catalog.commit([claimChange(cluster, job, record?.revision ?? 'absent')])
    return claimMade(job, outcomes, 0)
  } catch (refused) {
    if (refused instanceof CommitRefused && (refused.reason === 'stale' || refused.reason === 'exists'))
      return undefined
    throw refused
  }
}

/** The cluster for the run of a job: what it commits is refused when the job is another's. */
export function claimed(cluster: Cluster, { job, revision }: JobClaim): Cluster {
  const check: Change = { do: 'check-record', type: JOB_CLAIMS, key: job, expect: revision }
  const commit: Catalog['commit'] = async (changes) => {
    try {
      const outcomes = await cluster.catalog.commit([check, ...changes])
      return outcomes.slice(1)
    } catch (refused) {
      if (!(refused instanceof CommitRefused)) throw refused
      const isLost = refused.change === 0 && (refused.reason === 'stale' || refused.reason === 'missing')
      if (isLost) throw new ClaimLost(job)
      throw new CommitRefused(refused.reason, Math.max(0, refused.change - 1), refused.scope)
    }
  }
  return cluster.through(commit)
}

/** Ends the run of a job that another process goes on with. */
export class ClaimLost extends Interrupted {
  constructor(job: string) {
    super()
    this.message = `Another process runs the job ${job}.`
    this.name = 'ClaimLost'
  }
}
