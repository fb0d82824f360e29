/** What is read of a volume beside its record: its counters in the index, its space in the aggregate, its operations. */
import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { figuresOf, NO_GROWTH } from '../../core/metrics/figures.ts'
import { SAMPLE_SECONDS } from '../../core/metrics/intervals.ts'
import { type Row, textAt } from '../../model/value.ts'
import { availableIn, countersOf, footprintOf, isGuaranteed } from './aggregate-space.ts'

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
      const size = Number(row['size'])
      const counter = counters.get(textAt(row, 'uuid'))
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
        is_object_store: roots.has(row['uuid'] ?? ''),
        snapshot_count: (await cluster.catalog.snapshots(textAt(row, 'uuid'))).length,
      })
    }
    return derived
  },
}

const metric: Derivation = {
  gives: ['metric'],
  from: (cluster, rows) =>
    Promise.resolve(
      rows.map((row): Row => {
        const last = cluster.metrics.last(textAt(row, 'uuid'))
        const figures = figuresOf(last ?? { timeMs: cluster.now(), coveredMs: 0, growth: NO_GROWTH }, SAMPLE_SECONDS)
        return Object.fromEntries(Object.entries(figures).map(([path, value]) => [`metric.${path}`, value]))
      }),
    ),
}

const KINDS = ['read', 'write', 'other'] as const

const statistics: Derivation = {
  gives: ['statistics'],
  async from(cluster, rows) {
    const totals = await cluster.catalog.counters('volume')
    return rows.map((row): Row => {
      const of = (counter: string) => totals.get(textAt(row, 'uuid'))?.[counter] ?? 0
      return {
        'statistics.timestamp': cluster.now(),
        'statistics.status': 'ok',
        ...Object.fromEntries(KINDS.map((kind) => [`statistics.iops_raw.${kind}`, of(`${kind}_ops`)])),
        'statistics.iops_raw.total': of('total_ops'),
        ...Object.fromEntries(KINDS.map((kind) => [`statistics.latency_raw.${kind}`, of(`${kind}_latency`)])),
        'statistics.latency_raw.total': KINDS.reduce((sum, kind) => sum + of(`${kind}_latency`), 0),
        'statistics.throughput_raw.read': of('bytes_read'),
        'statistics.throughput_raw.write': of('bytes_written'),
        'statistics.throughput_raw.other': 0,
        'statistics.throughput_raw.total': of('bytes_read') + of('bytes_written'),
      }
    })
  },
}

export const volumeMetrics: readonly Derivation[] = [metric, statistics]
