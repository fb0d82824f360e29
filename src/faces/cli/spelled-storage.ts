/** What the command line calls the fields of nodes, aggregates, disks, ports and QoS policies. */
import { count, flag, text } from '../../model/kinds/index.ts'
import { VOLUME_BYTES_MAX } from '../../resources/storage/volumes/size.ts'
import type { Spelled } from './names.ts'
import { always, dashed, elementsOf, finder, isWord, memberOf, never, type Phrase, said, sight } from './phrases.ts'

export const AGGREGATE: Spelled<'storage/aggregates'> = {
  aggregate: 'name',
  node: 'node.name',
  size: 'space.block_storage.size',
  usedsize: 'space.block_storage.used',
  availsize: 'space.block_storage.available',
  percent_used: 'space.block_storage.used_percent',
  volcount: 'volume-count',
  diskcount: 'block_storage.primary.disk_count',
  // Of a folder on one file system, these are plain.
  composite: always(false),
  root: always(false),
  uses_shared_disks: always(false),
  storage_type: always('vmdisk'),
}

/** `aggr show-space`: nothing is kept in another tier. */
export const AGGREGATE_SPACE: Spelled<'storage/aggregates'> = {
  aggregate_name: 'name',
  bin_num: always(0),
  tier_name: always(''),
  object_store_logical_used: never(count()),
  object_store_physical_used: never(count()),
}

/** What disks do is known of all of them together: see the counter table `system:node`. */
export const DISK: Spelled<'storage/disks'> = {
  disk: 'name',
  disk_io_kbps_total: never(count()),
  sectors_read: never(count()),
  sectors_written: never(count()),
}

export const NODE: Spelled<'cluster/nodes'> = {
  node: 'name',
  health: isWord('state', 'up'),
  vendor: never(),
  max_aggr_size: never(count()),
  max_vol_size: always(VOLUME_BYTES_MAX),
  max_node_vvols: never(count()),
  cpu_busy_time: said('statistics.processor_utilization_raw', count(), (ms) =>
    typeof ms === 'number' ? Math.floor(ms / 1000) : undefined,
  ),
}

/** `storage failover`: one node has no partner. */
export const FAILOVER: Spelled<'cluster/nodes'> = {
  node: 'name',
  mode: always('non_ha'),
  possible: never(flag()),
  takeover_of_possible: never(flag()),
  partner_name: never(),
  partner_state: never(),
  state_description: always('Non-HA mode'),
}

/** `network port ifgrp`. */
export const PORT_GROUP: Spelled<'network/ethernet/ports'> = {
  ifgrp: 'name',
  node: 'node.name',
  ports: {
    from: ['lag.member_ports'],
    kind: text(),
    show: (at) => elementsOf(at('lag.member_ports')).map((port) => memberOf(port, 'name') ?? null),
  },
}

export const PORT: Spelled<'network/ethernet/ports'> = {
  port: 'name',
  node: 'node.name',
  link: 'state',
  up_admin: 'enabled',
}

const COMMON_QOS: Spelled<'storage/qos/policies'> = {
  policy_group: 'name',
  class: dashed('policy_class'),
  num_workloads: 'object_count',
}

export const FIXED_QOS: Spelled<'storage/qos/policies'> = {
  ...COMMON_QOS,
  class: 'policy_class',
  is_shared: 'fixed.capacity_shared',
  max_throughput: 'fixed.max_throughput',
  min_throughput: 'fixed.min_throughput',
  throughput_policy: {
    from: ['fixed.max_throughput', 'fixed.min_throughput'],
    kind: text(),
    show: (at) => `${limit(at('fixed.min_throughput'), '0')}-${limit(at('fixed.max_throughput'), 'INF')}`,
  },
}

const limit = (given: unknown, none: string) => (typeof given === 'string' && given !== 'none' ? given : none)

const QOS_POLICIES = sight('storage/qos/policies', ['uuid', 'fixed', 'adaptive'])

const policyOf = finder((policy) => memberOf(policy, 'uuid'))

/** A limit of the policy that a workload names; nothing where it names none, or one without that limit. */
function limitOfPolicy(path: 'max_throughput' | 'min_throughput'): Phrase<'policy.uuid'> {
  return {
    from: ['policy.uuid'],
    kind: text(),
    sees: QOS_POLICIES,
    show: (at, policies) => {
      return memberOf(policyOf(policies, at('policy.uuid')), 'fixed', path)
    },
  }
}

/** `qos workload`. */
export const WORKLOAD: Spelled<'storage/qos/workloads'> = {
  class: 'workload_class',
  policy_group: 'policy.name',
  is_adaptive: {
    from: ['policy.uuid'],
    kind: flag(),
    sees: QOS_POLICIES,
    show: (at, policies) => {
      return memberOf(policyOf(policies, at('policy.uuid')), 'adaptive') !== undefined
    },
  },
  max_throughput: limitOfPolicy('max_throughput'),
  min_throughput: limitOfPolicy('min_throughput'),
  lun: never(),
  file: never(),
}

const perTerabyte = <const Path extends string>(path: Path): Phrase<Path> => ({
  ...said(path, text(), (value) => (typeof value === 'number' ? `${value}IOPS/TB` : value)),
  read: (given) => ({ [path]: operationsIn(given) }),
})

export const ADAPTIVE_QOS: Spelled<'storage/qos/policies'> = {
  ...COMMON_QOS,
  expected_iops: perTerabyte('adaptive.expected_iops'),
  peak_iops: perTerabyte('adaptive.peak_iops'),
  absolute_min_iops: {
    ...said('adaptive.absolute_min_iops', text(), (value) => (typeof value === 'number' ? `${value}IOPS` : value)),
    read: (given) => ({ 'adaptive.absolute_min_iops': operationsIn(given) }),
  },
  expected_iops_allocation: dashed('adaptive.expected_iops_allocation'),
  peak_iops_allocation: dashed('adaptive.peak_iops_allocation'),
  block_size: 'adaptive.block_size',
}

/** `500IOPS/TB`, `500iops`, `500`. What is none of them is refused by the field. */
function operationsIn(given: unknown): unknown {
  const digits = typeof given === 'string' ? /^(\d+)\s*(?:iops)?(?:\/tb)?$/i.exec(given)?.[1] : undefined
  return digits === undefined ? given : Number(digits)
}

/** `volume snapshot policy`. */
export const SNAPSHOT_POLICY: Spelled<'storage/snapshot-policies'> = {
  policy: 'name',
  total_schedules: {
    from: ['copies'],
    kind: count(),
    show: (at) => elementsOf(at('copies')).length,
  },
  schedules: {
    from: ['copies'],
    kind: text(),
    show: (at) => elementsOf(at('copies')).map((copy) => memberOf(copy, 'schedule', 'name') ?? null),
  },
  counts: {
    from: ['copies'],
    kind: text(),
    show: (at) => elementsOf(at('copies')).map((copy) => memberOf(copy, 'count') ?? null),
  },
}

export const QTREE: Spelled<'storage/qtrees'> = {
  qtree: 'name',
  status: always('normal'),
  oplock_mode: never(),
}

/** `storage shelf`: nothing is wrong with those that are not there. */
export const SHELF: Spelled<'storage/shelves'> = {
  shelf: 'name',
  op_status: never(),
  error_type: never(),
  error_severity: never(),
  error_text: never(),
}

export const LUN: Spelled<'storage/luns'> = {
  lun: 'location.logical_unit',
  path: 'name',
  volume: 'location.volume.name',
  qtree: 'location.qtree.name',
  node: 'location.node.name',
  size: 'space.size',
  size_used: 'space.used',
  serial: 'serial_number',
  serial_hex: 'serial_number_hex',
  state: 'status.state',
}

export const SNAPMIRROR: Spelled<'snapmirror/relationships'> = {
  source_path: 'source.path',
  destination_path: 'destination.path',
  relationship_id: 'uuid',
}
