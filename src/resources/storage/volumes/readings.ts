/** What is read of a volume beside its record: its counters in the index, its space in the aggregate, its operations. */
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Derivation, Once } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { ofRows } from '../../../core/read/of-rows.ts'
import type { Row } from '../../../model/value.ts'
import { lastSample, totals } from '../../metric-readings.ts'
import { availableIn, disksSeenLately, footprintOf, isGuaranteed, ownedBytes } from '../aggregates/space.ts'
import { chargedTo, reserveOf, reserveReadings } from './reserve.ts'
import type { Volume } from '../../../records/rows.ts'

const uuidOf = (row: Pick<Volume, 'uuid'>) => row['uuid']

const space: Derivation<Volume> = {
  gives: ['space', 'guarantee.honored', 'snapshot_count'],
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    const derived: Row[] = []
    for (const row of rows) {
      const counter = counters.get(uuidOf(row))
      const held = counter ?? { usedBytes: 0, snapshotBytes: 0 }
      const size = row['size']
      const forObjects = size - reserveOf(row)
      const left = Math.max(0, size - chargedTo(row, held))
      const used = chargedTo(row, held) - reserveOf(row)
      derived.push({
        'space.size': size,
        'space.used': used,
        'space.available': isGuaranteed(row) ? left : Math.min(left, await spareFor(cluster, row, once)),
        'space.percent_used': Math.floor((used / forObjects) * 100),
        ...reserveReadings(row, held),
        'space.footprint': footprintOf(row, ownedBytes(counter)),
        'guarantee.honored': true,
        snapshot_count: counter?.snapshots ?? 0,
      })
    }
    return derived
  },
}

/** What the aggregate of a volume has to give; of a guaranteed one nobody asks, as disks take long to tell it. */
export function spareFor(cluster: Cluster, volume: Volume, once: Once): Promise<number> {
  const aggregate = aggregateOf(volume)
  return once(`available in ${aggregate}`, async () =>
    availableIn(cluster, aggregate, await once('disks', () => disksSeenLately(cluster))),
  )
}

const isRoot: Derivation<Volume> = {
  gives: ['is_object_store'],
  async from(cluster, rows, once) {
    const roots = await once('root volumes', async () => rootsOf(await cluster.rows('protocols/s3/services')))
    return rows.map((row) => ({ is_object_store: roots.has(row['uuid']) }))
  },
}

const rootsOf = ofRows((servers) => new Set(servers.map((server) => server['root_volume.uuid'])))

export const volumeSpace: readonly Derivation<Volume>[] = [space, isRoot]

export const volumeMetrics: readonly Derivation<Volume>[] = [lastSample(uuidOf), totals('volume', uuidOf)]
