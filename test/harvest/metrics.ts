/**
 * Metrics that NetApp Harvest exports of what its dashboards for cluster, node, aggregate, SVM, volume, workload, quota,
 * qtree, snapshot and S3 show: read from its templates, 2026-11. A dashboard shows a part of what the templates of its
 * objects export; here it needs all of it.
 *
 * `property` or `property>name`, separated by blanks: the property of the record or counter, and the metric without the
 * name of its object. `#` at the end of a property is the length of a list.
 */
export interface MetricSource {
  readonly dashboards: string
  /** What the names of its metrics begin with. */
  readonly object: string
  /** A path of the interface, or a counter table. */
  readonly path?: string
  readonly table?: string
  readonly filters?: Readonly<Record<string, string>>
  readonly metrics: string
  /** Metrics that its plugins compute of these, by the names that they need. */
  readonly computed?: Readonly<Record<string, string>>
  /** Values that only a machine that tells them has: what counts is that the table has the counter. */
  readonly isOfMachine?: true
}

const KINDS = ['other', 'read', 'total', 'write']

/** Totals of operations of a collector KeyPerf. */
function operations(figures: readonly string[], total = 'total_latency'): string {
  const names = { iops: 'ops', latency: 'latency', throughput: 'data' } as const
  return figures
    .flatMap((figure) =>
      KINDS.map((kind) => {
        const name = `${kind}_${names[figure as keyof typeof names]}`
        return `statistics.${figure}_raw.${kind}>${name === 'total_latency' ? total : name}`
      }),
    )
    .join(' ')
}

const ALL = ['iops', 'latency', 'throughput']

const NFS = ['access', 'getattr', 'lookup', 'read', 'setattr', 'write']
  .flatMap((of) => [
    `statistics.nfs_ops_raw.${of}.count>nfs_${of}_ops`,
    `statistics.nfs_ops_raw.${of}.total_time>nfs_${of}_latency`,
  ])
  .join(' ')

const WORKLOAD =
  'latency ops read_data read_io_type_percent>read_io_type read_latency read_ops sequential_reads_percent>sequential_reads sequential_writes_percent>sequential_writes total_data write_data write_latency write_ops'

const S3_OPERATIONS =
  'abort_multipart_upload complete_multipart_upload create_bucket delete_bucket delete_object delete_object_tagging get_object get_object_tagging head_bucket head_object initiate_multipart_upload list_buckets list_object_versions list_objects list_uploads put_object put_object_tagging upload_part'

const S3_SERVER = [
  ...S3_OPERATIONS.split(' ').flatMap((operation) =>
    ['failed', 'failed_client_close', 'latency', 'rate', 'total'].map((what) => `${operation}_${what}`),
  ),
  ...['get_bucket_acl', 'get_bucket_versioning', 'get_object_acl', 'put_bucket_versioning'].flatMap((operation) =>
    ['failed', 'total'].map((what) => `${operation}_${what}`),
  ),
  'allow_access anonymous_access anonymous_deny_access authentication_failures',
  'chunked_upload_requests>chunked_upload_reqs connected_connections connections default_deny_access',
  'explicit_deny_access get_data get_object_lastbyte_latency group_policy_evaluated input_flow_control_entry',
  'input_flow_control_exit maximum_commands_per_connection>max_cmds_per_connection',
  'maximum_connected_connections>max_connected_connections maximum_requests_outstanding>max_requests_outstanding',
  'multiple_delete_requests>multi_delete_reqs output_flow_control_entry output_flow_control_exit',
  'presigned_url_requests>presigned_url_reqs put_data request_parse_errors requests requests_outstanding',
  'root_user_access server_connection_close signature_v2_requests>signature_v2_reqs',
  'signature_v4_requests>signature_v4_reqs tagging',
].join(' ')

export const metricSources: readonly MetricSource[] = [
  {
    dashboards: 'volume snapshot',
    object: 'volume',
    path: 'private/cli/volume',
    filters: { is_constituent: '*' },
    metrics:
      'percent_snapshot_space>snapshot_reserve_percent size_available_for_snapshots>snapshots_size_available size_used_by_snapshots>snapshots_size_used snapshot_count snapshot_reserve_available snapshot_reserve_size snapshot_space_used>snapshot_reserve_used_percent size>size logical_used_by_snapshots>space_logical_used_by_snapshots',
    computed: { snapshot_reserve_used: 'snapshot_reserve_size snapshot_reserve_available', labels: '', new_status: '' },
  },
  {
    dashboards: 'volume',
    object: 'volume',
    path: 'private/cli/volume',
    filters: { is_constituent: '*' },
    metrics:
      'autosize_grow_threshold_percent autosize_shrink_threshold_percent available>size_available compression_space_saved>sis_compress_saved compression_space_saved_percent>sis_compress_saved_percent dedupe_space_saved>sis_dedup_saved dedupe_space_saved_percent>sis_dedup_saved_percent expected_available>space_expected_available files>inode_files_total files_used>inode_files_used filesystem_size logical_available>space_logical_available logical_used>space_logical_used logical_used_by_afs>space_logical_used_by_afs logical_used_percent>space_logical_used_percent max_autosize>autosize_maximum_size min_autosize>autosize_minimum_size overwrite_reserve>overwrite_reserve_total overwrite_reserve_used percent_used>size_used_percent performance_tier_inactive_user_data>space_performance_tier_inactive_user_data performance_tier_inactive_user_data_percent>space_performance_tier_inactive_user_data_percent sis_space_saved>sis_total_saved sis_space_saved_percent>sis_total_saved_percent total>size_total used>size_used virtual_used>space_physical_used virtual_used_percent>space_physical_used_percent',
    computed: {
      inode_used_percent: 'files_used files',
      overwrite_reserve_available: 'overwrite_reserve overwrite_reserve_used',
    },
  },
  {
    dashboards: 'volume',
    object: 'volume',
    path: 'private/cli/volume/efficiency/stat',
    filters: { privilege_level: 'diagnostic' },
    metrics: 'num_compress_attempts num_compress_fail',
  },
  {
    dashboards: 'volume',
    object: 'volume',
    path: 'private/cli/volume/footprint',
    metrics:
      'delayed_free_footprint flexvol_metadata_footprint>metadata_footprint total_footprint total_metadata_footprint volume_blocks_footprint_bin0>performance_tier_footprint volume_blocks_footprint_bin0_percent>performance_tier_footprint_percent volume_blocks_footprint_bin1>capacity_tier_footprint volume_blocks_footprint_bin1_percent>capacity_tier_footprint_percent volume_guarantee_footprint>guarantee_footprint',
  },
  {
    dashboards: 'volume svm node cluster aggregate',
    object: 'volume',
    path: 'storage/volumes',
    filters: { 'statistics.timestamp': '!"-"', style: '!flexgroup' },
    metrics: operations(ALL, 'avg_latency'),
  },
  {
    dashboards: 'volume',
    object: 'volume',
    path: 'storage/volumes',
    filters: { 'statistics.timestamp': '!"-"', style: '!flexgroup' },
    metrics: NFS,
  },
  {
    dashboards: 'aggregate cluster',
    object: 'aggr',
    path: 'storage/aggregates',
    metrics:
      'block_storage.hybrid_cache.disk_count>hybrid_disk_count block_storage.hybrid_cache.size>hybrid_cache_size_total block_storage.plexes.#>raid_plex_count block_storage.primary.disk_count>primary_disk_count block_storage.primary.raid_size>raid_size inode_attributes.file_private_capacity>inode_inodefile_private_capacity inode_attributes.file_public_capacity>inode_inodefile_public_capacity inode_attributes.files_private_used>inode_files_private_used inode_attributes.files_total>inode_files_total inode_attributes.files_used>inode_files_used inode_attributes.max_files_available>inode_maxfiles_available inode_attributes.max_files_possible>inode_maxfiles_possible inode_attributes.max_files_used>inode_maxfiles_used inode_attributes.used_percent>inode_used_percent snapshot.files_total>snapshot_files_total snapshot.files_used>snapshot_files_used snapshot.max_files_available>snapshot_maxfiles_available snapshot.max_files_used>snapshot_maxfiles_used space.block_storage.available>space_available space.block_storage.data_compacted_count>space_data_compacted_count space.block_storage.data_compaction_space_saved>space_data_compaction_saved space.block_storage.data_compaction_space_saved_percent>space_data_compaction_saved_percent space.block_storage.inactive_user_data>space_performance_tier_inactive_user_data space.block_storage.inactive_user_data_percent>space_performance_tier_inactive_user_data_percent space.block_storage.physical_used>space_physical_used space.block_storage.physical_used_percent>space_physical_used_percent space.block_storage.size>space_total space.block_storage.used>space_used space.block_storage.volume_deduplication_shared_count>space_sis_shared_count space.block_storage.volume_deduplication_space_saved>space_sis_saved space.block_storage.volume_deduplication_space_saved_percent>space_sis_saved_percent space.cloud_storage.used>space_capacity_tier_used space.efficiency.logical_used>total_logical_used space.efficiency.savings>efficiency_savings space.efficiency_without_snapshots.logical_used>logical_used_wo_snapshots space.efficiency_without_snapshots.savings>efficiency_savings_wo_snapshots space.efficiency_without_snapshots_flexclones.logical_used>logical_used_wo_snapshots_flexclones space.efficiency_without_snapshots_flexclones.savings>efficiency_savings_wo_snapshots_flexclones space.footprint>space_performance_tier_used space.footprint_percent>space_performance_tier_used_percent space.snapshot.available>snapshot_size_available space.snapshot.reserve_percent>snapshot_reserve_percent space.snapshot.total>snapshot_size_total space.snapshot.used>snapshot_size_used space.snapshot.used_percent>snapshot_used_percent volume_count',
    computed: {
      labels: '',
      new_status: '',
      snapshot_maxfiles_possible: 'snapshot.max_files_available snapshot.max_files_used',
      raid_disk_count: 'block_storage.primary.disk_count block_storage.hybrid_cache.disk_count',
      total_physical_used: 'space.efficiency.logical_used space.efficiency.savings',
      physical_used_wo_snapshots:
        'space.efficiency_without_snapshots.logical_used space.efficiency_without_snapshots.savings',
      physical_used_wo_snapshots_flexclones:
        'space.efficiency_without_snapshots_flexclones.logical_used space.efficiency_without_snapshots_flexclones.savings',
      space_used_percent: 'space.block_storage.used space.block_storage.size',
    },
  },
  {
    dashboards: 'aggregate',
    object: 'aggr',
    path: 'storage/aggregates',
    filters: { 'statistics.timestamp': '!"-"' },
    metrics: operations(ALL),
  },
  {
    dashboards: 'cluster',
    object: 'cluster',
    path: 'cluster',
    filters: { 'statistics.timestamp': '!"-"' },
    metrics: operations(ALL),
  },
  {
    dashboards: 'cluster',
    object: 'cluster_subsystem',
    path: 'private/cli/system/health/subsystem',
    metrics: 'outstanding_alert_count>outstanding_alerts suppressed_alert_count>suppressed_alerts',
    computed: { labels: '', new_status: '' },
  },
  {
    dashboards: 'node cluster',
    object: 'node',
    path: 'cluster/nodes',
    metrics:
      'controller.failed_fan.count>failed_fan controller.failed_power_supply.count>failed_power uptime statistics.processor_utilization_raw>avg_processor_busy',
    computed: { labels: '', new_status: '' },
  },
  { dashboards: 'node', object: 'node', path: 'private/cli/node', metrics: 'cpu_busy_time>cpu_busytime' },
  {
    dashboards: 'node cluster',
    object: 'node',
    table: 'system:node',
    metrics:
      'cifs_ops cpu_busy disk_data_read disk_data_written domain_busy>cpu_domain_busy fcp_data_received>fcp_data_recv fcp_data_sent fcp_ops hdd_data_read hdd_data_written iscsi_ops memory network_data_received>net_data_recv network_data_sent>net_data_sent nfs_ops nvme_fc_data_received>nvmf_data_recv nvme_fc_data_sent>nvmf_data_sent nvme_fc_ops>nvmf_ops ssd_data_read ssd_data_written total_data total_latency total_ops',
    isOfMachine: true,
  },
  {
    dashboards: 'node',
    object: 'nic',
    table: 'nic_common',
    metrics:
      'link_up_to_down>link_up_to_downs receive_alignment_errors>rx_alignment_errors receive_bytes>rx_bytes receive_crc_errors>rx_crc_errors receive_errors>rx_errors receive_length_errors>rx_length_errors receive_total_errors>rx_total_errors transmit_bytes>tx_bytes transmit_errors>tx_errors transmit_hw_errors>tx_hw_errors transmit_total_errors>tx_total_errors',
    isOfMachine: true,
  },
  {
    dashboards: 'svm',
    object: 'lif',
    table: 'lif',
    metrics:
      'received_data>recv_data received_packets>recv_packet received_errors>recv_errors sent_data sent_packets>sent_packet sent_errors up_time>uptime',
    isOfMachine: true,
  },
  {
    dashboards: 'svm',
    object: 'svm',
    path: 'private/cli/vserver',
    metrics: '',
    computed: { labels: '', new_status: '' },
  },
  {
    dashboards: 'svm',
    object: 'svm_vol',
    table: 'volume:svm',
    metrics:
      'average_latency>avg_latency bytes_read>read_data bytes_written>write_data other_latency read_latency total_ops total_other_ops>other_ops total_read_ops>read_ops total_write_ops>write_ops write_latency',
  },
  { dashboards: 'workload', object: 'qos', table: 'qos', metrics: `concurrency other_ops ${WORKLOAD}` },
  { dashboards: 'volume workload', object: 'qos', table: 'qos_volume', metrics: WORKLOAD },
  {
    dashboards: 'workload',
    object: 'qos_workload',
    path: 'private/cli/qos/workload',
    metrics: '',
    computed: { labels: '', max_throughput: 'max_throughput' },
  },
  {
    dashboards: 'workload',
    object: 'qos_policy_fixed',
    path: 'private/cli/qos/policy-group',
    filters: { class: 'user_defined' },
    metrics: '',
    computed: { labels: '', throughput: 'throughput_policy' },
  },
  {
    dashboards: 'workload',
    object: 'qos_policy_adaptive',
    path: 'private/cli/qos/adaptive-policy-group',
    metrics: '',
    computed: { labels: '', peak_iops: 'peak_iops', expected_iops: 'expected_iops' },
  },
  {
    dashboards: 'quota qtree',
    object: 'quota',
    path: 'storage/quota/reports',
    filters: { show_default_records: 'false', type: 'tree' },
    metrics:
      'files.hard_limit>file_limit files.soft_limit>soft_file_limit files.used.hard_limit_percent>files_used_pct_file_limit files.used.soft_limit_percent>files_used_pct_soft_file_limit files.used.total>files_used space.hard_limit>disk_limit space.soft_limit>soft_disk_limit space.used.hard_limit_percent>disk_used_pct_disk_limit space.used.soft_limit_percent>disk_used_pct_soft_disk_limit space.used.total>disk_used',
  },
  {
    dashboards: 'qtree',
    object: 'qtree',
    path: 'storage/qtrees',
    filters: { name: '!""' },
    metrics: 'id',
    computed: { labels: '' },
  },
  {
    dashboards: 'qtree',
    object: 'qtree',
    path: 'storage/qtrees',
    filters: { name: '!""', 'statistics.timestamp': '!"-"' },
    metrics: operations(['iops', 'throughput']),
  },
  {
    dashboards: 'snapshot',
    object: 'snapshot_policy',
    path: 'private/cli/snapshot/policy',
    metrics: 'total_schedules',
    computed: { labels: '' },
  },
  {
    dashboards: 'snapshot',
    object: 'snapshot',
    path: 'private/cli/snapshot',
    metrics: '',
    computed: { labels: '', create_time: 'create_time', label: 'snapmirror_label' },
  },
  {
    dashboards: 'S3',
    object: 'ontaps3',
    path: 'protocols/s3/buckets',
    metrics: 'logical_used_size size',
    computed: { labels: '', used_percent: 'logical_used_size size' },
  },
  {
    dashboards: 'S3',
    object: 'ontaps3',
    path: 'private/cli/vserver/object-store-server/bucket',
    metrics: 'object_count',
  },
  {
    dashboards: 'S3',
    object: 'ontaps3_policy',
    path: 'private/cli/vserver/object-store-server/bucket/policy',
    metrics: '',
    computed: { labels: '' },
  },
  { dashboards: 'S3', object: 'ontaps3_svm', table: 'object_store_server', metrics: S3_SERVER },
]

/** Metrics of what does not exist here, with what that is. */
export const aboutNothing: Readonly<Record<string, string>> = {
  'volume_nfs_*': 'NFS is not served',
  '*_space_performance_tier_inactive_user_data*': 'data has no temperature, as there is one tier',
  'cluster_subsystem_*': 'hardware is not monitored',
  'node_fcp_data_*': 'Fibre Channel is not served',
  'node_nvmf_data_*': 'NVMe is not served',
  ontaps3_svm_root_user_access: 'no user of the object store is root',
}

/** Metrics of what exists and is not measured. */
export const notMeasured: Readonly<Record<string, string>> = {
  volume_delayed_free_footprint: 'bytes of deleted objects that housekeeping has yet to free are not summed',
  qos_read_io_type: 'the page cache does not tell what it served',
  ontaps3_svm_connected_connections: 'workers add up counters; gauges of one moment would drift',
  ontaps3_svm_requests_outstanding: 'as connected connections',
  'ontaps3_svm_max_*': 'as connected connections',
}
