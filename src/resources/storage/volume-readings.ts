/** What is read of a volume beside its record: its counters in the index, its space in the aggregate, its operations. */
import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { NO_GROWTH } from '../../core/metrics/figures.ts'
import { type Row, textAt } from '../../model/value.ts'
import { lastSample, totals } from '../metric-readings.ts'
import { chargedTo, reserveOf, reserveReadings } from './volumes/reserve.ts'
import { availableIn, countersOf, footprintOf, isGuaranteed, ownedBytes } from './aggregate-space.ts'

export const volumeSpace: Derivation = {
  gives: ['space', 'guarantee.honored', 'snapshot_count', 'is_object_store'],
  async from(cluster, rows) {
    const counters = await countersOf(cluster, rows)
    const roots = new Set((await cluster.rows('protocols/s3/services')).map((server) => server['root_volume.uuid']))
    const available = new Map<string, number>()
    const derived: Row[] = []
    for (const row of rows) {
      const aggregate = aggregateOf(row)
      const spare = available.get(aggregate) ?? (await availableIn(cluster, aggregate))
      available.set(aggregate, spare)
      const counter = counters.get(textAt(row, 'uuid'))
      const held = counter ?? { usedBytes: 0, snapshotBytes: 0 }
      const size = Number(row['size'])
      const forObjects = size - reserveOf(row)
      const left = Math.max(0, size - chargedTo(row, held))
      const used = chargedTo(row, held) - reserveOf(row)
      derived.push({
        'space.size': size,
        'space.used': used,
        'space.available': isGuaranteed(row) ? left : Math.min(left, spare),
        'space.percent_used': Math.floor((used / forObjects) * 100),
        ...reserveReadings(row, held),
        'space.footprint': footprintOf(row, ownedBytes(counter)),
        'guarantee.honored': true,
        is_object_store: roots.has(row['uuid'] ?? ''),
        snapshot_count: (await cluster.catalog.snapshots(textAt(row, 'uuid'))).length,
      })
    }
    return derived
  },
}

const uuidOf = (row: Row) => textAt(row, 'uuid')

export const volumeMetrics: readonly Derivation[] = [
  lastSample(uuidOf),
  totals('volume', (rows, record) => rows.get(uuidOf(record)) ?? NO_GROWTH),
]
