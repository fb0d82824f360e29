/** What is read of a volume beside its record: its counters in the index, its space in the aggregate, its operations. */
import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { NO_GROWTH } from '../../core/metrics/figures.ts'
import { type Row, textAt } from '../../model/value.ts'
import { lastSample, totals } from '../metric-readings.ts'
import { availableIn, footprintOf, isGuaranteed } from './aggregate-space.ts'

const uuidOf = (row: Row) => textAt(row, 'uuid')

const space: Derivation = {
  gives: ['space', 'guarantee.honored', 'snapshot_count'],
  async from(cluster, rows) {
    const counters = await cluster.catalog.volumes(rows.map(uuidOf))
    const available = new Map<string, number>()
    const derived: Row[] = []
    for (const row of rows) {
      const aggregate = aggregateOf(row)
      const spare = available.get(aggregate) ?? (await availableIn(cluster, aggregate))
      available.set(aggregate, spare)
      const size = Number(row['size'])
      const counter = counters.get(uuidOf(row))
      const used = counter?.usedBytes ?? 0
      const left = Math.max(0, size - used)
      derived.push({
        'space.size': size,
        'space.used': used,
        'space.available': isGuaranteed(row) ? left : Math.min(left, spare),
        'space.percent_used': Math.floor((used / size) * 100),
        'space.snapshot.used': counter?.snapshotBytes ?? 0,
        'space.footprint': footprintOf(row, used),
        'guarantee.honored': true,
        snapshot_count: counter?.snapshots ?? 0,
      })
    }
    return derived
  },
}

const isRoot: Derivation = {
  gives: ['is_object_store'],
  async from(cluster, rows) {
    const roots = new Set((await cluster.rows('protocols/s3/services')).map((server) => server['root_volume.uuid']))
    return rows.map((row) => ({ is_object_store: roots.has(row['uuid'] ?? '') }))
  },
}

export const volumeSpace: readonly Derivation[] = [space, isRoot]

export const volumeMetrics: readonly Derivation[] = [
  lastSample(uuidOf),
  totals('volume', (rows, record) => rows.get(uuidOf(record)) ?? NO_GROWTH),
]
