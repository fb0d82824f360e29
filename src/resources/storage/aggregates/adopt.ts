/** Aggregates from before their folders were labelled: the folder is labelled once, so that a missing one is noticed. */
import type { Cluster } from '../../../core/cluster.ts'
import { describe } from '../../../core/describe.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'

const AGGREGATES = 'storage/aggregates'

export async function adoptAggregates(cluster: Cluster): Promise<void> {
  for (const { body, revision } of await cluster.catalog.records(AGGREGATES)) {
    const row = body as Row
    if (row['$claimed'] === true) continue
    try {
      await cluster.engineOf(row).claim(textAt(row, 'uuid'), [], { adopts: true })
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
