/**
 * What the stock Rest templates of NetApp Harvest and their plugins ask of `private/cli`: read from its templates for the
 * releases 9.12 and 9.14, 2026-11.
 */
export interface AskedCommand {
  /** Who asks: a template, or a plugin of one. */
  readonly asker: string
  readonly path: string
  readonly labels: readonly string[]
  /** What it makes numbers of. */
  readonly numbers?: readonly string[]
  /** Of these, what is not known here. They are asked for and left out, which it takes for a value that is not set. */
  readonly unknown?: readonly string[]
  readonly filters?: Readonly<Record<string, string>>
  /** There is nothing of it here. */
  readonly isEmpty?: true
  /** Arguments of other kinds. */
  readonly also?: Readonly<Record<string, string>>
  /** From which release on it is asked, where not from the first. */
  readonly release?: '9.14'
}

const VOLUME_LABELS = [
  'volume',
  'vserver',
  'aggr_list',
  'autosize_mode',
  'clone_parent_name',
  'clone_parent_vserver',
  'clone_volume',
  'is_encrypted',
  'is_sis_volume',
  'is_space_enforcement_logical',
  'is_space_reporting_logical',
  'junction_path',
  'nodes',
  'snaplock_type',
  'snapshot_policy',
  'space_mgmt_try_first',
  'state',
  'tags',
  'tiering_policy',
  'type',
  'uuid',
  'volume_style_extended',
  'vsroot',
]

const VOLUME_NUMBERS = [
  'autosize_grow_threshold_percent',
  'autosize_shrink_threshold_percent',
  'available',
  'compression_space_saved',
  'compression_space_saved_percent',
  'dedupe_space_saved',
  'dedupe_space_saved_percent',
  'expected_available',
  'files',
  'files_used',
  'filesystem_size',
  'logical_available',
  'logical_used',
  'logical_used_by_afs',
  'logical_used_by_snapshots',
  'logical_used_percent',
  'max_autosize',
  'min_autosize',
  'overwrite_reserve',
  'overwrite_reserve_used',
  'percent_snapshot_space',
  'percent_used',
  'performance_tier_inactive_user_data',
  'performance_tier_inactive_user_data_percent',
  'sis_space_saved',
  'sis_space_saved_percent',
  'size',
  'size_available_for_snapshots',
  'size_used_by_snapshots',
  'snapshot_count',
  'snapshot_reserve_available',
  'snapshot_reserve_size',
  'snapshot_space_used',
  'total',
  'used',
]

/** How cold data is, is not measured. */
const VOLUME_UNKNOWN = ['performance_tier_inactive_user_data', 'performance_tier_inactive_user_data_percent']

export const askedCommands: readonly AskedCommand[] = [
  {
    asker: 'Volume, 9.12',
    path: 'volume',
    labels: VOLUME_LABELS,
    numbers: [...VOLUME_NUMBERS, 'physical_used', 'physical_used_percent'],
    unknown: VOLUME_UNKNOWN,
    filters: { is_constituent: '*' },
  },
  {
    asker: 'Volume, 9.14',
    path: 'volume',
    labels: [...VOLUME_LABELS.filter((name) => name !== 'uuid'), 'instance_uuid'],
    numbers: [...VOLUME_NUMBERS, 'virtual_used', 'virtual_used_percent', 'tiering_minimum_cooling_days'],
    unknown: [...VOLUME_UNKNOWN, 'tiering_minimum_cooling_days'],
    filters: { is_constituent: '*' },
    release: '9.14',
  },
  {
    asker: 'Volume',
    path: 'volume/efficiency/stat',
    labels: ['volume', 'vserver'],
    numbers: ['num_compress_attempts', 'num_compress_fail'],
    also: { privilege_level: 'diagnostic' },
  },
  {
    asker: 'Volume',
    path: 'volume/footprint',
    labels: ['volume', 'vserver'],
    numbers: [
      'delayed_free_footprint',
      'flexvol_metadata_footprint',
      'total_footprint',
      'total_metadata_footprint',
      'volume_blocks_footprint_bin0',
      'volume_blocks_footprint_bin0_percent',
      'volume_blocks_footprint_bin1',
      'volume_blocks_footprint_bin1_percent',
      'volume_guarantee_footprint',
    ],
    unknown: ['delayed_free_footprint'],
  },
  { asker: 'Volume', path: 'volume/snapshot/autodelete', labels: ['volume', 'vserver', 'enabled'] },
  {
    asker: 'plugin Volume of RestPerf',
    path: 'volume',
    labels: ['volume', 'vserver', 'volume_style_extended'],
    filters: { is_constituent: '*' },
  },
  { asker: 'plugin SnapMirror', path: 'volume', labels: ['volume', 'vserver', 'node'] },
  { asker: 'KeyPerf Volume', path: 'volume', labels: ['volume', 'vserver', 'aggr_list', 'nodes'] },
  { asker: 'plugin Tag', path: 'volume', labels: ['volume', 'vserver', 'tags'], filters: { tags: '!""' } },
  {
    asker: 'plugin SnapshotViolation',
    path: 'volume/snapshot',
    labels: ['vserver', 'volume', 'snapshot'],
    numbers: ['size'],
  },
  {
    asker: 'Disk',
    path: 'disk',
    labels: ['uid', 'type'],
    numbers: ['disk_io_kbps_total', 'sectors_read', 'sectors_written'],
    unknown: ['disk_io_kbps_total', 'sectors_read', 'sectors_written'],
  },
  {
    asker: 'plugin Disk',
    path: 'aggr',
    labels: ['aggregate', 'composite', 'node', 'uses_shared_disks', 'root', 'storage_type'],
  },
  {
    asker: 'plugin Aggregate',
    path: 'aggr/show-space',
    labels: ['aggregate_name', 'bin_num', 'tier_name'],
    numbers: ['object_store_logical_used', 'object_store_physical_used'],
    filters: { tier_name: '!" "|""' },
    isEmpty: true,
  },
  {
    asker: 'Node',
    path: 'node',
    labels: ['node', 'health', 'max_aggr_size', 'max_node_vvols', 'max_vol_size', 'vendor'],
    numbers: ['cpu_busy_time'],
    unknown: ['max_aggr_size', 'max_node_vvols', 'vendor'],
  },
  { asker: 'plugin Health', path: 'node', labels: ['health'], filters: { health: 'false' }, isEmpty: true },
  {
    asker: 'plugin Health',
    path: 'storage/failover',
    labels: ['mode', 'possible', 'partner_name', 'state_description', 'partner_state'],
    unknown: ['possible', 'partner_name', 'partner_state'],
    filters: { possible: '!true' },
  },
  {
    asker: 'SVM',
    path: 'vserver',
    labels: ['anti_ransomware_default_volume_state', 'operational_state', 'type', 'uuid', 'vserver'],
  },
  {
    asker: 'QosWorkload',
    path: 'qos/workload',
    labels: ['class', 'is_adaptive', 'max_throughput', 'policy_group', 'uuid', 'volume', 'vserver', 'wid', 'workload'],
  },
  {
    asker: 'SecurityCert',
    path: 'security/certificate',
    labels: ['cert_name', 'expiration', 'public_cert', 'serial', 'type', 'uuid'],
  },
  {
    asker: 'OntapS3Policy',
    path: 'vserver/object-store-server/bucket/policy',
    labels: ['action', 'bucket', 'effect', 'index', 'principal', 'resource', 'vserver'],
  },
  {
    asker: 'SVM',
    path: 'vserver/cifs/server/security',
    labels: ['lm_compatibility_level', 'vserver'],
    isEmpty: true,
  },
  {
    asker: 'Qtree',
    path: 'qtree',
    labels: ['qtree', 'volume', 'vserver', 'oplock_mode', 'status'],
    unknown: ['oplock_mode'],
    filters: { qtree: '!""' },
  },
  {
    asker: 'QosPolicyFixed',
    path: 'qos/policy-group',
    labels: ['uuid', 'class', 'is_shared', 'num_workloads', 'policy_group', 'throughput_policy', 'vserver'],
    filters: { class: 'user_defined' },
  },
  {
    asker: 'QosPolicyAdaptive',
    path: 'qos/adaptive-policy-group',
    labels: [
      'uuid',
      'absolute_min_iops',
      'expected_iops',
      'expected_iops_allocation',
      'num_workloads',
      'peak_iops',
      'peak_iops_allocation',
      'policy_group',
      'vserver',
    ],
  },
  {
    asker: 'SnapshotPolicy',
    path: 'snapshot/policy',
    labels: ['policy', 'vserver', 'comment'],
    numbers: ['total_schedules'],
    unknown: ['vserver'],
  },
  { asker: 'OntapS3', path: 'vserver/object-store-server/bucket', labels: ['uuid'], numbers: ['object_count'] },
  {
    asker: 'plugin Certificate',
    path: 'security/ssl',
    labels: ['vserver', 'serial'],
    unknown: ['serial'],
    filters: { vserver: 'holdfast' },
  },
  { asker: 'plugin Certificate', path: 'vserver', labels: ['vserver', 'type'], filters: { type: 'admin' } },
  {
    asker: 'plugin Nic of RestPerf',
    path: 'network/port/ifgrp',
    labels: ['ifgrp', 'node', 'ports'],
    isEmpty: true,
  },
  { asker: 'Ems', path: 'cluster/date', labels: ['date'] },
]

/** Commands about what no cluster here has. It takes "no such command" as the sign that there is nothing to poll. */
/** Commands about what no cluster here has: each shows nothing. */
export const commandsOfNothing: readonly AskedCommand[] = [
  { asker: 'Lun', path: 'lun', labels: ['lun', 'node', 'path', 'qtree', 'serial_hex', 'state', 'volume', 'vserver'] },
  { asker: 'Shelf', path: 'storage/shelf', labels: ['serial_number', 'op_status'] },
  { asker: 'plugin Health', path: 'storage/shelf', labels: ['error_type', 'error_severity', 'error_text'] },
  { asker: 'SnapMirror', path: 'snapmirror', labels: ['relationship_id', 'destination_path', 'state', 'healthy'] },
  { asker: 'Subsystem', path: 'system/health/subsystem', labels: ['health', 'outstanding_alert_count', 'subsystem'] },
  { asker: 'Fru', path: 'system/controller/fru', labels: ['fru_name', 'node', 'serial_number', 'status', 'subsystem'] },
  {
    asker: 'plugin Sensor',
    path: 'system/chassis/fru',
    labels: ['fru-name', 'type', 'status', 'connected-nodes', 'num-nodes'],
    filters: { type: 'psu' },
  },
  { asker: 'VolumeSnaplock', path: 'volume/snaplock', labels: ['autocommit_period', 'type', 'volume', 'vserver'] },
]
