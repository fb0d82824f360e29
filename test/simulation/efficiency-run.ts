import { EFFICIENCY_RUNS } from '../../src/resources/storage/volumes/efficiency-runs.ts'
import { CALLER } from '../support/efficiency.ts'
import type { JobsCluster } from '../support/jobs-cluster.ts'

/** Begins an efficiency run of a volume or takes one up, and sees it to its end. */
export async function runEfficiency(open: JobsCluster, volume: string): Promise<void> {
  const resumed = await open.jobs.resume()
  if (resumed === 0 && (await open.cluster.rows(EFFICIENCY_RUNS, volume)).length === 0) {
    await open.actions.perform(open.cluster.behaviour(EFFICIENCY_RUNS), 'create', {
      caller: CALLER,
      draft: { compression: true, dedupe: true, qos_policy: 'best_effort' },
      path: { 'volume.uuid': volume },
      args: {},
      description: 'POST',
    })
  }
  await open.ended()
}
