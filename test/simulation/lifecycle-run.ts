import { LIFECYCLE_RUNS } from '../../src/resources/protocols/s3/types.ts'
import { type JobsCluster, performExample } from '../support/jobs-cluster.ts'

/** Begins a lifecycle run or takes one up, and sees it to its end. */
export async function runLifecycle(open: JobsCluster): Promise<void> {
  const resumed = await open.jobs.resume()
  // Killed right after its last commit a run has ended: another would judge by what that one did, and find more to remove.
  const isNew = resumed === 0 && (await open.cluster.rows(LIFECYCLE_RUNS)).length === 0
  if (isNew) await performExample(open, open.cluster.behaviour(LIFECYCLE_RUNS), 'create')
  await open.ended()
}
