/** What the command line calls the fields of volumes, in its several commands about them. */
import { bytes, count, flag, text } from '../../model/kinds/index.ts'
import { VOLUME_BYTES_MAX } from '../../resources/storage/volumes/size.ts'
import { usualLimits } from '../../resources/storage/volumes/autosize.ts'
import type { Json } from '../../model/value.ts'
import type { Spelled } from './names.ts'
import { always, elementsOf, finder, isWord, memberOf, never, type Phrase, said, sight, whole } from './phrases.ts'

const AGGREGATES = sight('storage/aggregates', ['name', 'node.name', 'space.block_storage.size'])

/** The nodes of the aggregates that something lies on. */
function nodesOf(show: (names: readonly string[]) => string | string[] | undefined): Phrase<'aggregates'> {
  return {
    from: ['aggregates'],
    kind: text(),
    sees: AGGREGATES,
    show: (at, aggregates) => {
      const wanted = new Set(elementsOf(at('aggregates')).map((one) => memberOf(one, 'name')))
      const nodes = aggregates
        .filter((one) => wanted.has(memberOf(one, 'name')))
        .map((one) => memberOf(one, 'node', 'name'))
      return show([...new Set(nodes.filter((name) => typeof name === 'string'))])
    },
  }
}

/** Bytes in percent of the aggregate that the volume lies on. */
function percentOfAggregate<const Path extends string>(path: Path): Phrase<Path | 'aggregates'> {
  return {
    from: [path, 'aggregates'],
    kind: count(),
    sees: AGGREGATES,
    show: (at, aggregates) => {
      const [first] = elementsOf(at('aggregates'))
      const aggregate = aggregates.find((one) => memberOf(one, 'name') === memberOf(first, 'name'))
      const [bytes, size] = [at(path), memberOf(aggregate, 'space', 'block_storage', 'size')]
      if (typeof bytes !== 'number' || typeof size !== 'number' || size === 0) return undefined
      return Math.round((bytes / size) * 100)
    },
  }
}

/** A limit of autosize. Where none is set, that which the volume would get. */
function autosizeLimit(which: 'maximum' | 'minimum'): Phrase<'size' | 'autosize.maximum' | 'autosize.minimum'> {
  const path = `autosize.${which}` as const
  return {
    from: [path, 'size'],
    kind: bytes(),
    show: (at) => {
      const size = at('size')
      return at(path) ?? (typeof size === 'number' ? usualLimits(size, VOLUME_BYTES_MAX)[which] : undefined)
    },
    read: (given) => ({ [path]: given }),
  }
}

export const VOLUME: Spelled<'storage/volumes'> = {
  volume: 'name',
  used: 'space.used',
  available: 'space.available',
  expected_available: 'space.expected_available',
  percent_used: 'space.percent_used',
  filesystem_size: 'space.filesystem_size',
  total: 'space.afs_total',
  percent_snapshot_space: 'space.snapshot.reserve_percent',
  size_used_by_snapshots: 'space.snapshot.used',
  size_available_for_snapshots: 'space.size_available_for_snapshots',
  snapshot_reserve_available: 'space.snapshot.reserve_available',
  snapshot_reserve_size: 'space.snapshot.reserve_size',
  snapshot_space_used: 'space.snapshot.space_used_percent',
  logical_used: 'space.logical_space.used',
  logical_used_percent: 'space.logical_space.used_percent',
  logical_available: 'space.logical_space.available',
  logical_used_by_afs: 'space.logical_space.used_by_afs',
  logical_used_by_snapshots: 'space.logical_space.used_by_snapshots',
  physical_used: 'space.physical_used',
  physical_used_percent: 'space.physical_used_percent',
  virtual_used: 'space.physical_used',
  virtual_used_percent: 'space.physical_used_percent',
  overwrite_reserve: 'space.overwrite_reserve',
  overwrite_reserve_used: 'space.overwrite_reserve_used',
  performance_tier_inactive_user_data: never(count()),
  performance_tier_inactive_user_data_percent: never(count()),
  space_guarantee: 'guarantee.type',
  space_mgmt_try_first: always('volume_grow'),
  is_space_enforcement_logical: 'space.logical_space.enforcement',
  is_space_reporting_logical: 'space.logical_space.reporting',
  junction_path: 'nas.path',
  policy: 'nas.export_policy.name',
  security_style: 'nas.security_style',
  unix_permissions: 'nas.unix_permissions',
  user: 'nas.uid',
  group: 'nas.gid',
  files: 'files.maximum',
  files_used: 'files.used',
  qos_policy_group: 'qos.policy.name',
  max_autosize: autosizeLimit('maximum'),
  min_autosize: autosizeLimit('minimum'),
  autosize_grow_threshold_percent: 'autosize.grow_threshold',
  autosize_shrink_threshold_percent: 'autosize.shrink_threshold',
  tiering_policy: 'tiering.policy',
  tiering_minimum_cooling_days: 'tiering.min_cooling_days',
  encrypt: 'encryption.enabled',
  is_encrypted: 'encryption.enabled',
  is_sis_volume: isWord('efficiency.state', 'enabled'),
  compression_space_saved: 'efficiency.space_savings.compression',
  compression_space_saved_percent: 'efficiency.space_savings.compression_percent',
  dedupe_space_saved: 'efficiency.space_savings.dedupe',
  dedupe_space_saved_percent: 'efficiency.space_savings.dedupe_percent',
  sis_space_saved: 'efficiency.space_savings.total',
  sis_space_saved_percent: 'efficiency.space_savings.total_percent',
  clone_volume: said('clone.is_flexclone', flag(), (value) => value),
  clone_parent_name: 'clone.parent_volume.name',
  clone_parent_vserver: 'clone.parent_svm.name',
  volume_style_extended: 'style',
  instance_uuid: 'uuid',
  tags: whole('_tags'),
  aggr_list: 'aggregates.name',
  aggregate: 'aggregates.name',
  node: nodesOf(([first]) => first),
  nodes: nodesOf((names) => [...names]),
  is_constituent: 'is_constituent',
  // SVMs have no root volume.
  vsroot: always(false),
  node_root: always(false),
}

/** `volume footprint`: what a volume takes from its aggregate, which is all of one kind. */
export const FOOTPRINT: Spelled<'storage/volumes'> = {
  total_footprint: 'space.total_footprint',
  total_footprint_percent: percentOfAggregate('space.total_footprint'),
  volume_blocks_footprint_bin0: 'space.performance_tier_footprint',
  volume_blocks_footprint_bin0_percent: percentOfAggregate('space.performance_tier_footprint'),
  volume_blocks_footprint_bin1: 'space.capacity_tier_footprint',
  volume_blocks_footprint_bin1_percent: percentOfAggregate('space.capacity_tier_footprint'),
  volume_guarantee_footprint: 'space.volume_guarantee_footprint',
  flexvol_metadata_footprint: 'space.metadata',
  total_metadata_footprint: 'space.metadata',
  delayed_free_footprint: never(count()),
}

const COUNTERS = sight('cluster/counter/tables/{counter_table.name}/rows', ['properties', 'counters'], {
  'counter_table.name': 'volume',
})

/** A counter of the table of volumes. */
function counted(counter: string): Phrase<'uuid'> {
  return {
    from: ['uuid'],
    kind: count(),
    sees: COUNTERS,
    show: (at, rows) => namedIn(memberOf(rowOf(rows, at('uuid')), 'counters'), counter),
  }
}

const rowOf = finder((row) => namedIn(memberOf(row, 'properties'), 'uuid'))

function namedIn(list: Json | undefined, name: string): Json | undefined {
  return memberOf(
    elementsOf(list).find((one) => memberOf(one, 'name') === name),
    'value',
  )
}

/** `volume efficiency stat`. */
export const EFFICIENCY_STAT: Spelled<'storage/volumes'> = {
  num_compress_attempts: counted('compress_attempts'),
  num_compress_fail: counted('compress_failures'),
}

/** `volume snapshot autodelete`. */
export const AUTODELETE: Spelled<'storage/volumes'> = {
  volume: 'name',
  enabled: 'space.snapshot.autodelete.enabled',
  trigger: 'space.snapshot.autodelete.trigger',
  commitment: 'space.snapshot.autodelete.commitment',
  delete_order: 'space.snapshot.autodelete.delete_order',
  defer_delete: 'space.snapshot.autodelete.defer_delete',
  target_free_space: 'space.snapshot.autodelete.target_free_space',
  prefix: 'space.snapshot.autodelete.prefix',
}

/** `volume snaplock`: volumes that lock files, of which there are none. Objects are locked by their buckets. */
export const SNAPLOCK: Spelled<'storage/volumes'> = {
  volume: 'name',
  type: 'snaplock.type',
  autocommit_period: never(),
  default_retention_period: never(),
  maximum_retention_period: never(),
  minimum_retention_period: never(),
}
