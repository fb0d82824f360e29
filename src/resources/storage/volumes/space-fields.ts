/**
 * What tools ask of the space of a volume beyond its size and what is used of it. A volume has blobs and nothing else: what
 * is known of them lies in the catalog, and a cloud tier, a mirror and files that are overwritten in place are not there.
 */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, flag, only, percent } from '../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../model/resource.ts'
import { type Row, textAt, type Value } from '../../../model/value.ts'
import { usual } from '../../usual.ts'
import { footprintOf, isGuaranteed, ownedBytes } from '../aggregate-space.ts'
import { spareFor } from '../volume-readings.ts'
import { chargedTo, reserveOf } from './reserve.ts'

type Told = Readonly<Record<string, readonly [doc: string, since?: string]>>

const MEASURED: Told = {
  afs_total: ['Bytes of its size that objects may have.', '9.9.1'],
  used_by_afs: ['Bytes that objects and open uploads are stored in, without snapshots.', '9.9.1'],
  user_data: ['The same, with snapshots.', '9.10.1'],
  physical_used: ['The same.', '9.10.1'],
  physical_used_percent: ['The same in percent of the size.', '9.10.1'],
  available_percent: ['What can still be written, in percent of the size.', '9.9.1'],
  filesystem_size: ['The same as size.', '9.10.1'],
  expected_available: ['Bytes that could be written if the aggregate had them all.', '9.10.1'],
  over_provisioned: ['Those of them that the aggregate does not have.'],
  size_available_for_snapshots: ['Bytes that snapshots can still hold, in the reserve and beyond.', '9.9.1'],
  total_footprint: ['The same as footprint.', '9.8'],
  effective_total_footprint: ['The same.', '9.11.1'],
  performance_tier_footprint: ['Bytes that it is stored in and shares with no other.', '9.8'],
  local_tier_footprint: ['The same.', '9.8'],
  volume_guarantee_footprint: ['Bytes that its guarantee takes beside those.', '9.10.1'],
  'logical_space.used_by_afs': ['Bytes that it holds before anything is saved, without snapshots.'],
  'logical_space.used_by_snapshots': ['Bytes that only snapshots hold.', '9.10.1'],
}

const NOTHING: Told = {
  capacity_tier_footprint: ['Bytes in a cloud tier. There is none.'],
  capacity_tier_footprint_data_reduction: ['What is saved of those.', '9.13.1'],
  auto_adaptive_compression_footprint_data_reduction: ['Savings of a kind that is not done.', '9.11.1'],
  compaction_footprint_data_reduction: ['The same.', '9.13.1'],
  cross_volume_dedupe_metafiles_footprint: ['The same.', '9.10.1'],
  cross_volume_dedupe_metafiles_temporary_footprint: ['The same.', '9.10.1'],
  dedupe_metafiles_footprint: ['Bytes of what deduplication knows: it lies beside the aggregates.', '9.10.1'],
  dedupe_metafiles_temporary_footprint: ['The same.', '9.10.1'],
  metadata: ['Bytes of what is known of objects. It lies beside the aggregates.'],
  total_metadata: ['The same.', '9.15.1'],
  total_metadata_footprint: ['The same.', '9.15.1'],
  file_operation_metadata: ['The same.', '9.10.1'],
  overwrite_reserve: ['Bytes kept for overwriting in place. Objects are not overwritten in place.', '9.9.1'],
  overwrite_reserve_used: ['Those that are used.', '9.9.1'],
  snapmirror_destination_footprint: ['Bytes of a mirror. It is none.', '9.10.1'],
  snapshot_reserve_unusable: ['Bytes of the reserve that snapshots cannot have.', '9.10.1'],
}

/** Given by name alone, as by shipping systems: `fields=*` of ten thousand volumes is long enough. */
const fieldsOf = (told: Told): Record<string, FieldDeclaration> =>
  Object.fromEntries(
    Object.entries(told).map(([word, [doc, since]]) => [
      `space.${word}`,
      {
        doc,
        kind: word.endsWith('percent') ? percent() : bytes(),
        isExpensive: true,
        ...(since === undefined ? {} : { since }),
      },
    ]),
  )

export const finerSpaceFields = {
  ...fieldsOf(MEASURED),
  ...fieldsOf(NOTHING),
  'space.filesystem_size_fixed': {
    doc: 'Whether the size of the volume is fixed. Always false: a volume can grow and shrink at any time.',
    kind: only(false, flag(), 'a volume can grow and shrink at any time.'),
    set: 'modify',
    isExpensive: true,
    since: '9.10.1',
  },
  'space.is_used_stale': { doc: 'Whether what is told may be old.', kind: flag(), isExpensive: true, since: '9.12.1' },
} as const satisfies Fields

const measured: Derivation = {
  gives: Object.keys(MEASURED).map((word) => `space.${word}`),
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    const derived: Row[] = []
    for (const row of rows) {
      const counter = counters.get(textAt(row, 'uuid'))
      const { usedBytes, snapshotBytes, savedByCompressionBytes, savedByDedupeBytes } = counter ?? EMPTY
      const size = Number(row['size'])
      const reserve = reserveOf(row)
      const left = Math.max(0, size - chargedTo(row, { usedBytes, snapshotBytes }))
      const available = isGuaranteed(row) ? left : Math.min(left, await spareFor(cluster, row, once))
      const owned = ownedBytes(counter)
      const footprint = footprintOf(row, owned)
      const percent = (part: number) => Math.floor((part / size) * 100)
      derived.push({
        'space.afs_total': size - reserve,
        'space.used_by_afs': usedBytes - snapshotBytes,
        'space.user_data': usedBytes,
        'space.physical_used': usedBytes,
        'space.physical_used_percent': percent(usedBytes),
        'space.available_percent': percent(available),
        'space.filesystem_size': size,
        'space.expected_available': left,
        'space.over_provisioned': left - available,
        'space.size_available_for_snapshots': available + Math.max(0, reserve - snapshotBytes),
        'space.total_footprint': footprint,
        'space.effective_total_footprint': footprint,
        'space.performance_tier_footprint': owned,
        'space.local_tier_footprint': owned,
        'space.volume_guarantee_footprint': footprint - owned,
        'space.logical_space.used_by_afs': usedBytes - snapshotBytes + savedByCompressionBytes + savedByDedupeBytes,
        'space.logical_space.used_by_snapshots': snapshotBytes,
      })
    }
    return derived
  },
}

const EMPTY = { usedBytes: 0, snapshotBytes: 0, savedByCompressionBytes: 0, savedByDedupeBytes: 0 }

const nothing: Readonly<Record<string, Value>> = Object.fromEntries(
  Object.keys(NOTHING).map((word) => [`space.${word}`, 0]),
)

export const finerSpaceReadings: readonly Derivation[] = [
  measured,
  usual({ ...nothing, 'space.filesystem_size_fixed': false, 'space.is_used_stale': false }),
]
