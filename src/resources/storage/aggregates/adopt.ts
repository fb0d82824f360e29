/** Aggregates from before their folders were labelled: the folder is labelled once, so that a missing one is noticed. */
import type { Cluster } from '../../../core/cluster.ts'
import { describe } from '../../../core/describe.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'

const AGGREGATES = 'storage/aggregates'

export async function adoptAggregates(cluster: Cluster): Promise<void> {
  for (const { body: row, revision } of await cluster.records(AGGREGATES)) {
    if (row.$claimed === true) continue
    try {
      await cluster.engineOf(row).claim(row['uuid'], [], { adopts: true })
    } catch (failure) {
      if (!(failure instanceof VolumesFailure)) throw failure
      cluster.log.error('The folder of an aggregate is not as it was. The aggregate is offline.', {
        aggregate: row['name'],
        cause: describe(failure),
      })
    }
    await cluster.commit([cluster.put(AGGREGATES, { ...row, $claimed: true }, { expect: revision })])
  }
}
