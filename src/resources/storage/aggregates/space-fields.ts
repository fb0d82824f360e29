/**
 * What is told of the space of an aggregate: what the disk has, what volumes have of it, and what is saved of that. An
 * aggregate has no snapshots of its own and no cloud tier, and volumes share nothing with one another but clones with
 * their parents.
 */
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import { type Derivation, type SharedDerivation, sharedPaths } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inTurns } from '../../../core/time/turns.ts'
import { bytes, count, decimal, flag, oneOf, percent, type Kind } from '../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../model/resource.ts'
import { namesOf, type Row, type Value } from '../../../model/value.ts'
import { usualOf } from '../../usual.ts'
import { type AggregateSpace, DisksSeen, spaceOf } from './space.ts'
import { ratio } from '../volumes/efficiency.ts'
import type { Aggregate } from '../../../records/rows.ts'

const BLOCKS = 'space.block_storage'
const DEDUPE = `${BLOCKS}.volume_deduplication`

/** A snapshot is no copy here, so there is one figure with snapshots and without. */
const EFFICIENCY = ['space.efficiency', 'space.efficiency_without_snapshots'] as const
const WITHOUT_CLONES = 'space.efficiency_without_snapshots_flexclones'

const efficiencyFields: Fields = Object.fromEntries(
  [...EFFICIENCY, WITHOUT_CLONES].flatMap((base): [string, FieldDeclaration][] => {
    const [held, since] =
      base === WITHOUT_CLONES ? [', except for data that clones share', { since: '9.9.1' }] : ['', {}]
    return [
      [
        `${base}.logical_used`,
        {
          doc: `Logical bytes in the volumes: shared data counts for each object that uses it${held}.`,
          kind: bytes(),
          ...since,
        },
      ],
      [`${base}.savings`, { doc: 'Bytes that compression and deduplication save.', kind: bytes(), ...since }],
      [`${base}.ratio`, { doc: 'The ratio of logical to physical bytes.', kind: decimal(), ...since }],
    ]
  }),
)

/** What is not done here, and of what there is nothing. */
const NOTHING: Readonly<Record<string, readonly [value: Value, doc: string, since?: string]>> = {
  'space.efficiency.auto_adaptive_compression_savings': [
    false,
    'Whether adaptive compression saves space. Always false.',
    '9.12.1',
  ],
  'space.efficiency.cross_volume_background_dedupe': [
    false,
    'Whether volumes are deduplicated against each other in the background. Always false.',
    '9.12.1',
  ],
  'space.efficiency.cross_volume_dedupe_savings': [
    false,
    'Whether deduplication across volumes saves space. Always false.',
    '9.12.1',
  ],
  'space.efficiency.cross_volume_inline_dedupe': [
    false,
    'Whether volumes are deduplicated against each other while they are written. Always false.',
    '9.12.1',
  ],
  [`${BLOCKS}.data_compacted_count`]: [0, 'Bytes in compacted blocks. Always 0.', '9.10.1'],
  [`${BLOCKS}.data_compaction_space_saved`]: [0, 'Bytes saved by compaction. Always 0.', '9.10.1'],
  [`${BLOCKS}.data_compaction_space_saved_percent`]: [0, 'Bytes saved by compaction, in percent. Always 0.', '9.10.1'],
  'space.cloud_storage.used': [0, 'Bytes in a cloud tier. Always 0.'],
  'space.snapshot.available': [
    0,
    'Bytes available for snapshots of the aggregate. Always 0: aggregates have no snapshots.',
    '9.10.1',
  ],
  'space.snapshot.reserve_percent': [
    0,
    'The part of the aggregate that is reserved for its snapshots, in percent. Always 0.',
    '9.10.1',
  ],
  'space.snapshot.total': [0, 'Bytes reserved for snapshots of the aggregate. Always 0.', '9.10.1'],
  'space.snapshot.used': [0, 'Bytes used by snapshots of the aggregate. Always 0.', '9.10.1'],
  'space.snapshot.used_percent': [
    0,
    'Bytes used by snapshots of the aggregate, in percent of their reserve. Always 0.',
    '9.10.1',
  ],
  'snapshot.files_total': [0, 'The number of files that snapshots of the aggregate can hold. Always 0.', '9.10.1'],
  'snapshot.files_used': [0, 'The number of files in snapshots of the aggregate. Always 0.', '9.10.1'],
  'snapshot.max_files_available': [
    0,
    'The maximum number of files that snapshots of the aggregate can hold. Always 0.',
    '9.10.1',
  ],
  'snapshot.max_files_used': [0, 'The maximum number of files used in snapshots of the aggregate. Always 0.', '9.10.1'],
  'inode_attributes.file_private_capacity': [0, 'The number of files reserved for the system. Always 0.', '9.11.1'],
  'inode_attributes.files_private_used': [0, 'The number of files that the system uses. Always 0.', '9.11.1'],
}

const nothingFields: Fields = Object.fromEntries(
  Object.entries(NOTHING).map(([path, [value, doc, since]]) => [
    path,
    { doc, kind: typeof value === 'boolean' ? flag() : unitOf(path), ...(since === undefined ? {} : { since }) },
  ]),
)

/** Space is in bytes or percent, the rest are files. */
function unitOf(path: string): Kind {
  return path.endsWith('percent') ? percent() : path.startsWith('space.') ? bytes() : count()
}

const FILES = 'The maximum number of files in the file system. 0: no limit.'
const inodes = (doc: string) => ({ doc, kind: count(), since: '9.11.1' }) as const satisfies FieldDeclaration

export const spaceFields = {
  state: {
    doc: 'Whether the folder of the aggregate can be reached.',
    kind: oneOf({
      online: 'The folder is there.',
      offline: 'The folder is missing, for example because a disk is not mounted.',
    }),
  },
  [`${BLOCKS}.size`]: { doc: 'Bytes on the disk that volumes can use.', kind: bytes() },
  [`${BLOCKS}.used`]: {
    doc: 'Bytes in use on the disk, or guaranteed to volumes.',
    kind: bytes(),
  },
  [`${BLOCKS}.available`]: { doc: 'Bytes that new data or guarantees can use.', kind: bytes() },
  [`${BLOCKS}.used_percent`]: {
    doc: 'Bytes in use or guaranteed, in percent of the size.',
    kind: percent(),
    since: '9.13.1',
  },
  [`${BLOCKS}.used_including_snapshot_reserve`]: {
    doc: 'Bytes in use or guaranteed, including the snapshot reserve. Equal to `space.block_storage.used`.',
    kind: bytes(),
    since: '9.10.1',
  },
  [`${BLOCKS}.used_including_snapshot_reserve_percent`]: {
    doc: 'Bytes in use or guaranteed, including the snapshot reserve, in percent of the size.',
    kind: percent(),
    since: '9.10.1',
  },
  [`${BLOCKS}.physical_used`]: {
    doc: 'Bytes that the data of all volumes takes on disk.',
    kind: bytes(),
    since: '9.9.1',
  },
  [`${BLOCKS}.physical_used_percent`]: {
    doc: 'Bytes that the data of all volumes takes on disk, in percent of the size.',
    kind: percent(),
    since: '9.10.1',
  },
  [`${BLOCKS}.aggregate_metadata`]: {
    doc: 'Bytes in use on the disk besides the data of volumes: file overhead, and files of other programs.',
    kind: bytes(),
    since: '9.10.1',
  },
  [`${BLOCKS}.aggregate_metadata_percent`]: {
    doc: 'Bytes in use on the disk besides the data of volumes, in percent of the size.',
    kind: percent(),
    since: '9.10.1',
  },
  [`${BLOCKS}.volume_footprints_percent`]: {
    doc: 'Bytes that volumes take from the aggregate, in percent of the size.',
    kind: percent(),
    since: '9.10.1',
  },
  [`${DEDUPE}_space_saved`]: { doc: 'Bytes that deduplication saves.', kind: bytes(), since: '9.10.1' },
  [`${DEDUPE}_space_saved_percent`]: {
    doc: 'Bytes that deduplication saves, in percent of the space without deduplication.',
    kind: percent(),
    since: '9.10.1',
  },
  [`${DEDUPE}_shared_count`]: { doc: 'Bytes that several objects share.', kind: bytes(), since: '9.10.1' },
  space: { doc: 'The space of the aggregate and how it is used.', isGroup: true },
  'space.footprint': {
    doc: 'Bytes that volumes use or reserve, including deleted volumes in the recovery queue.',
    kind: bytes(),
  },
  'space.footprint_percent': { doc: 'Bytes that volumes use or reserve, in percent of the size.', kind: percent() },
  'space.total_provisioned_space': { doc: 'The total size of the volumes in the aggregate, in bytes.', kind: bytes() },
  'volume-count': { doc: 'The number of volumes in the aggregate.', kind: count(), since: '9.11.1' },
  volume_count: {
    doc: 'The number of volumes in the aggregate. Equal to `volume-count`, as some clients spell the field.',
    kind: count(),
    since: '9.11.1',
  },
  inode_attributes: { doc: 'The number of files in the aggregate.', isGroup: true },
  'inode_attributes.files_total': inodes(FILES),
  'inode_attributes.files_used': inodes('The number of files in the file system, including those of other programs.'),
  'inode_attributes.file_public_capacity': inodes(FILES),
  'inode_attributes.max_files_available': inodes(FILES),
  'inode_attributes.max_files_possible': inodes(FILES),
  'inode_attributes.max_files_used': inodes(
    'The maximum number of files used in the file system. Equal to `inode_attributes.files_used`.',
  ),
  'inode_attributes.used_percent': {
    ...inodes('The number of files used, in percent of the maximum. 0: no limit.'),
    kind: percent(),
  },
  ...efficiencyFields,
  ...nothingFields,
} as const satisfies Fields

const disk: Derivation<Aggregate> = {
  gives: [
    'state',
    'volume-count',
    'volume_count',
    'inode_attributes',
    'space.footprint',
    'space.footprint_percent',
    'space.total_provisioned_space',
    ...namesOf(spaceFields).filter((path) => path.startsWith(BLOCKS) && !path.startsWith(DEDUPE)),
  ],
  async from(cluster, rows, once) {
    const seen = once('disks', () => new DisksSeen(cluster))
    return Promise.all(rows.map(async (row) => ofDisk(await spaceOf(cluster, row['uuid'], seen))))
  },
}

function ofDisk(found: AggregateSpace): Row {
  const { sizeBytes, footprintBytes, storedBytes, filesMax, filesUsed, volumes } = found
  const used = sizeBytes - found.availableBytes
  const others = Math.max(0, used - footprintBytes)
  const percent = (part: number) => percentOf(part, sizeBytes)
  return {
    state: found.isThere ? 'online' : 'offline',
    [`${BLOCKS}.size`]: sizeBytes,
    [`${BLOCKS}.used`]: used,
    [`${BLOCKS}.available`]: found.availableBytes,
    [`${BLOCKS}.used_percent`]: percent(used),
    [`${BLOCKS}.used_including_snapshot_reserve`]: used,
    [`${BLOCKS}.used_including_snapshot_reserve_percent`]: percent(used),
    [`${BLOCKS}.physical_used`]: storedBytes,
    [`${BLOCKS}.physical_used_percent`]: percent(storedBytes),
    [`${BLOCKS}.aggregate_metadata`]: others,
    [`${BLOCKS}.aggregate_metadata_percent`]: percent(others),
    [`${BLOCKS}.volume_footprints_percent`]: percent(footprintBytes),
    'space.footprint': footprintBytes,
    'space.footprint_percent': percent(footprintBytes),
    'space.total_provisioned_space': found.provisionedBytes,
    'volume-count': volumes,
    volume_count: volumes,
    'inode_attributes.files_total': filesMax,
    'inode_attributes.files_used': filesUsed,
    'inode_attributes.file_public_capacity': filesMax,
    'inode_attributes.max_files_available': filesMax,
    'inode_attributes.max_files_possible': filesMax,
    'inode_attributes.max_files_used': filesUsed,
    'inode_attributes.used_percent': percentOf(filesUsed, filesMax),
  }
}

interface Held {
  /** Without compression and deduplication. */
  whole: number
  stored: number
  /** Of both, what clones have from their parents. */
  inherited: number
  savedByDedupe: number
}

const NOT_HELD: Held = { whole: 0, stored: 0, inherited: 0, savedByDedupe: 0 }

const efficiency: SharedDerivation<Aggregate> = {
  gives: sharedPaths(
    ...[...EFFICIENCY, WITHOUT_CLONES].flatMap((base) => [`${base}.logical_used`, `${base}.savings`, `${base}.ratio`]),
    ...Object.keys(spaceFields).filter((path) => path.startsWith(DEDUPE)),
  ),
  async from(cluster, rows, once) {
    const held = await once('held', () => heldByAggregate(cluster))
    return rows.map((row) => ofHeld(held.get(row['uuid']) ?? NOT_HELD))
  },
}

async function heldByAggregate(cluster: Cluster): Promise<ReadonlyMap<string, Held>> {
  const counters = await cluster.volumeSums.all()
  const held = new Map<string, Held>()
  for await (const volumes of inTurns(cluster.system, await cluster.rows('storage/volumes'))) {
    for (const volume of volumes) {
      const counted = counters.get(volume['uuid'])
      if (counted === undefined) continue
      const sums = held.get(aggregateOf(volume)) ?? { ...NOT_HELD }
      sums.stored += counted.usedBytes
      sums.whole += counted.usedBytes + counted.savedByCompressionBytes + counted.savedByDedupeBytes
      sums.inherited += counted.inheritedBytes
      sums.savedByDedupe += counted.savedByDedupeBytes
      held.set(aggregateOf(volume), sums)
    }
  }
  return held
}

function ofHeld({ whole, stored, inherited, savedByDedupe }: Held): Row {
  const figures = (base: string, whole: number, stored: number): Row => ({
    [`${base}.logical_used`]: whole,
    [`${base}.savings`]: whole - stored,
    [`${base}.ratio`]: ratio(whole, stored),
  })
  return {
    ...figures(EFFICIENCY[0], whole, stored),
    ...figures(EFFICIENCY[1], whole, stored),
    ...figures(WITHOUT_CLONES, whole - inherited, stored - inherited),
    [`${DEDUPE}_space_saved`]: savedByDedupe,
    [`${DEDUPE}_space_saved_percent`]: percentOf(savedByDedupe, stored + savedByDedupe),
    [`${DEDUPE}_shared_count`]: savedByDedupe,
  }
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 100)
}

export const spaceReadings: readonly Derivation<Aggregate>[] = [
  disk,
  efficiency,
  usualOf(Object.fromEntries(Object.entries(NOTHING).map(([path, [value]]) => [path, value]))),
]
