/** What is read of a volume beside its record: its counters in the index, its space in the aggregate, its operations. */
import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { type Row, textAt } from '../../model/value.ts'
import { lastSample, totals } from '../metric-readings.ts'
import { availableIn, DisksSeen, footprintOf, isGuaranteed, ownedBytes } from './aggregate-space.ts'
import { chargedTo, reserveOf, reserveReadings } from './volumes/reserve.ts'

const uuidOf = (row: Row) => textAt(row, 'uuid')

const space: Derivation = {
  gives: ['space', 'guarantee.honored', 'snapshot_count'],
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    const derived: Row[] = []
    for (const row of rows) {
      const aggregate = aggregateOf(row)
      const seen = once('disks', () => new DisksSeen(cluster))
      const spare = await once(`available in ${aggregate}`, () => availableIn(cluster, aggregate, seen))
      const counter = counters.get(uuidOf(row))
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
        snapshot_count: counter?.snapshots ?? 0,
      })
    }
    return derived
  },
}

const isRoot: Derivation = {
  gives: ['is_object_store'],
  async from(cluster, rows, once) {
    const roots = await once('root volumes', async () => {
      const servers = await cluster.rows('protocols/s3/services')
      return new Set(servers.map((server) => server['root_volume.uuid']))
    })
    return rows.map((row) => ({ is_object_store: roots.has(row['uuid'] ?? '') }))
  },
}

export const volumeSpace: readonly Derivation[] = [space, isRoot]

export const volumeMetrics: readonly Derivation[] = [lastSample(uuidOf), totals('volume', uuidOf)]
