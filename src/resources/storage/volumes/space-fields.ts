/**
 * What tools ask of the space of a volume beyond its size and what is used of it. A volume has blobs and nothing else: what
 * is known of them lies in the catalog, and a cloud tier, a mirror and files that are overwritten in place are not there.
 */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, flag, only, percent } from '../../../model/kinds/index.ts'
import { fieldsBelow } from '../../../model/fields-below.ts'
import type { Fields } from '../../../model/resource.ts'
import { namesOf, type Row, type Value } from '../../../model/value.ts'
import { usual, usualOf } from '../../usual.ts'
import { footprintOf, isGuaranteed, ownedBytes } from '../aggregates/space.ts'
import { spareFor } from './readings.ts'
import { chargedTo, reserveOf } from './reserve.ts'
import type { Volume } from '../../../records/rows.ts'

type Told = Readonly<Record<string, readonly [doc: string, since?: string]>>

const MEASURED = {
  afs_total: ['Bytes of the size that objects can use.', '9.9.1'],
  used_by_afs: ['Bytes that store objects and open uploads, without snapshots.', '9.9.1'],
  user_data: ['Bytes that store objects, open uploads and snapshots.', '9.10.1'],
  physical_used: ['Bytes that the data of the volume takes on disk.', '9.10.1'],
  physical_used_percent: ['Bytes that the data of the volume takes on disk, in percent of the size.', '9.10.1'],
  available_percent: ['Bytes that can still be written, in percent of the size.', '9.9.1'],
  filesystem_size: ['The size of the volume in bytes. Equal to `size`.', '9.10.1'],
  expected_available: ['Bytes that could be written if the aggregate had enough free space.', '9.10.1'],
  over_provisioned: ['Free bytes of the volume that the aggregate cannot provide.'],
  size_available_for_snapshots: ['Bytes that snapshots can still use, in the reserve and beyond.', '9.9.1'],
  total_footprint: ['Bytes that the volume takes from its aggregate. Equal to `space.footprint`.', '9.8'],
  effective_total_footprint: [
    'Bytes that the volume takes from its aggregate after all savings. Equal to `space.footprint`.',
    '9.11.1',
  ],
  performance_tier_footprint: ['Bytes on disk that the volume does not share with another volume.', '9.8'],
  local_tier_footprint: ['Bytes in the local tier that the volume does not share with another volume.', '9.8'],
  volume_guarantee_footprint: ['Bytes that the guarantee of the volume reserves beyond its data.', '9.10.1'],
  'logical_space.used_by_afs': [
    'Bytes of objects and open uploads before compression and deduplication, without snapshots.',
  ],
  'logical_space.used_by_snapshots': ['Bytes that only snapshots use, before compression and deduplication.', '9.10.1'],
} as const satisfies Told

const NOTHING = {
  capacity_tier_footprint: ['Bytes in a cloud tier. Always 0.'],
  capacity_tier_footprint_data_reduction: ['Bytes saved in a cloud tier. Always 0.', '9.13.1'],
  auto_adaptive_compression_footprint_data_reduction: ['Bytes saved by adaptive compression. Always 0.', '9.11.1'],
  compaction_footprint_data_reduction: ['Bytes saved by compaction. Always 0.', '9.13.1'],
  cross_volume_dedupe_metafiles_footprint: ['Bytes of metadata of deduplication across volumes. Always 0.', '9.10.1'],
  cross_volume_dedupe_metafiles_temporary_footprint: [
    'Bytes of temporary metadata of deduplication across volumes. Always 0.',
    '9.10.1',
  ],
  dedupe_metafiles_footprint: [
    'Bytes of deduplication metadata in the volume. Always 0: the catalog holds the metadata.',
    '9.10.1',
  ],
  dedupe_metafiles_temporary_footprint: [
    'Bytes of temporary deduplication metadata in the volume. Always 0.',
    '9.10.1',
  ],
  metadata: ['Bytes of metadata in the volume. Always 0: the catalog holds the metadata.'],
  total_metadata: ['Bytes of all metadata in the volume. Always 0: the catalog holds the metadata.', '9.15.1'],
  total_metadata_footprint: [
    'Bytes that metadata takes from the aggregate. Always 0: the catalog holds the metadata.',
    '9.15.1',
  ],
  file_operation_metadata: ['Bytes of metadata of file operations. Always 0.', '9.10.1'],
  overwrite_reserve: [
    'Bytes reserved to overwrite data in place. Always 0: objects are not overwritten in place.',
    '9.9.1',
  ],
  overwrite_reserve_used: ['Bytes used of the reserve for overwriting in place. Always 0.', '9.9.1'],
  snapmirror_destination_footprint: ['Bytes that replication to this volume takes. Always 0.', '9.10.1'],
  snapshot_reserve_unusable: ['Bytes of the snapshot reserve that snapshots cannot use. Always 0.', '9.10.1'],
} as const satisfies Told

/** Given by name alone, as by shipping systems: `fields=*` of ten thousand volumes is long enough. */
const fieldsOf = <const Word extends string>(told: Readonly<Record<Word, Told[string]>>) =>
  fieldsBelow('space', namesOf(told), (word) => {
    const [doc, since] = told[word]
    return {
      doc,
      kind: word.endsWith('percent') ? percent() : bytes(),
      isExpensive: true,
      ...(since === undefined ? {} : { since }),
    }
  })

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
  'space.is_used_stale': {
    doc: 'Whether the figures of used space may be stale. Always false.',
    kind: flag(),
    isExpensive: true,
    since: '9.12.1',
  },
} as const satisfies Fields

const measured: Derivation<Volume> = {
  gives: namesOf(MEASURED).map((word) => `space.${word}` as const),
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    const derived: Row[] = []
    for (const row of rows) {
      const counter = counters.get(row['uuid'])
      const { usedBytes, snapshotBytes, savedByCompressionBytes, savedByDedupeBytes } = counter ?? EMPTY
      const size = row['size']
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

export const finerSpaceReadings: readonly Derivation<Volume>[] = [
  measured,
  usualOf(nothing),
  usual({ 'space.filesystem_size_fixed': false, 'space.is_used_stale': false }),
]
