/**
 * What the stock RestPerf templates of NetApp Harvest ask of counter tables: read from its templates for the releases 9.12
 * and 9.14, 2026-11.
 */
export interface AskedTable {
  readonly table: string
  /** A row without one of these is logged as an error. */
  readonly labels: readonly string[]
  /** A counter that the table does not have is left out, with a warning. */
  readonly counters: readonly string[]
  /** Of these, those that are not counted here. */
  readonly uncounted?: readonly string[]
  /** Counters that have a schema, and a value where the machine tells it. */
  readonly sometimes?: readonly string[]
  /** Only machines that tell what they do have rows. */
  readonly isOfMachine?: true
}

const OPERATIONS = [
  'ops',
  'read_data',
  'read_latency',
  'read_ops',
  'total_data',
  'write_data',
  'write_latency',
  'write_ops',
]
const PATTERNS = ['sequential_reads_percent', 'sequential_writes_percent']
/** Which cache or disk served a read is not known. */
const ORIGINS = ['read_io_type_percent']

const OF_VOLUMES = [
  'average_latency',
  'bytes_read',
  'bytes_written',
  'other_latency',
  'read_latency',
  'total_ops',
  'total_other_ops',
  'total_read_ops',
  'total_write_ops',
  'write_latency',
]

const S3_OPERATIONS = [
  'abort_multipart_upload',
  'complete_multipart_upload',
  'create_bucket',
  'delete_bucket',
  'delete_object',
  'delete_object_tagging',
  'get_object',
  'get_object_tagging',
  'head_bucket',
  'head_object',
  'initiate_multipart_upload',
  'list_buckets',
  'list_object_versions',
  'list_objects',
  'list_uploads',
  'put_object',
  'put_object_tagging',
  'upload_part',
]

/** Gauges of one moment, which workers cannot add up, and what is not told apart. */
const NOT_COUNTED = [
  'connected_connections',
  'maximum_commands_per_connection',
  'maximum_connected_connections',
  'maximum_requests_outstanding',
  'requests_outstanding',
  'root_user_access',
]

const NOTED = [
  'allow_access',
  'anonymous_access',
  'anonymous_deny_access',
  'authentication_failures',
  'chunked_upload_requests',
  'connections',
  'default_deny_access',
  'explicit_deny_access',
  'get_data',
  'get_object_lastbyte_latency',
  'group_policy_evaluated',
  'input_flow_control_entry',
  'input_flow_control_exit',
  'multiple_delete_requests',
  'output_flow_control_entry',
  'output_flow_control_exit',
  'presigned_url_requests',
  'put_data',
  'request_parse_errors',
  'requests',
  'server_connection_close',
  'signature_v2_requests',
  'signature_v4_requests',
  'tagging',
]

export const askedTables: readonly AskedTable[] = [
  {
    table: 'volume',
    labels: ['uuid', 'name', 'node.name', 'parent_aggregate', 'svm.name'],
    counters: OF_VOLUMES,
  },
  { table: 'volume:node', labels: ['id', 'node.name'], counters: ['read_latency', 'write_latency'] },
  {
    table: 'volume:svm',
    labels: ['id', 'name'],
    counters: OF_VOLUMES,
  },
  {
    table: 'lif',
    labels: ['id', 'name', 'node.name', 'svm.name', 'current_port'],
    counters: [
      'received_data',
      'received_packets',
      'received_errors',
      'sent_data',
      'sent_packets',
      'sent_errors',
      'up_time',
    ],
    sometimes: ['received_packets', 'received_errors', 'sent_packets', 'sent_errors'],
  },
  {
    table: 'system:node',
    labels: ['id', 'node.name'],
    counters: [
      'average_processor_busy_percent',
      'cifs_ops',
      'cpu_busy',
      'cpu_elapsed_time',
      'disk_data_read',
      'disk_data_written',
      'domain_busy',
      'fcp_ops',
      'hdd_data_read',
      'hdd_data_written',
      'iscsi_ops',
      'memory',
      'network_data_received',
      'network_data_sent',
      'nfs_ops',
      'nvme_fc_ops',
      'ssd_data_read',
      'ssd_data_written',
      'total_data',
      'total_latency',
      'total_ops',
    ],
    sometimes: [
      'disk_data_read',
      'disk_data_written',
      'hdd_data_read',
      'hdd_data_written',
      'ssd_data_read',
      'ssd_data_written',
    ],
    isOfMachine: true,
  },
  {
    table: 'processor',
    labels: ['id', 'node.name'],
    counters: ['busy_percent', 'domain_busy_percent', 'elapsed_time'],
    isOfMachine: true,
  },
  {
    table: 'nic_common',
    labels: ['id', 'link_current_state', 'link_speed', 'node.name', 'type'],
    counters: [
      'receive_alignment_errors',
      'receive_bytes',
      'receive_crc_errors',
      'receive_length_errors',
      'receive_total_errors',
      'transmit_bytes',
      'transmit_hw_errors',
      'transmit_total_errors',
    ],
    isOfMachine: true,
  },
  {
    table: 'qos',
    labels: ['uuid', 'name'],
    counters: ['concurrency', 'latency', 'other_ops', ...OPERATIONS, ...PATTERNS, ...ORIGINS],
    uncounted: ORIGINS,
  },
  {
    table: 'qos_volume',
    labels: ['uuid'],
    counters: ['latency', ...OPERATIONS, ...PATTERNS, ...ORIGINS],
    uncounted: ORIGINS,
  },
  {
    table: 'object_store_server',
    labels: ['id', 'node.name', 'svm.name'],
    counters: [
      ...S3_OPERATIONS.flatMap((operation) =>
        ['failed', 'failed_client_close', 'latency', 'rate', 'total'].map((what) => `${operation}_${what}`),
      ),
      ...['get_bucket_acl', 'get_bucket_versioning', 'get_object_acl', 'put_bucket_versioning'].flatMap((operation) =>
        ['failed', 'total'].map((what) => `${operation}_${what}`),
      ),
      ...NOT_COUNTED,
      ...NOTED,
    ],
    uncounted: NOT_COUNTED,
  },
]

/** Tables of enabled templates that are of hardware, or of protocols that are not served. */
export const tablesOfNothing: readonly string[] = [
  'copy_manager',
  'disk:constituent',
  'external_cache',
  'fcp',
  'fcp_lif',
  'fcvi',
  'headroom_aggregate',
  'headroom_cpu',
  'host_adapter',
  'iscsi_lif',
  'iwarp',
  'lun',
  'namespace',
  'nvmf_lif',
  'path',
  'qtree',
  'rewind_context',
  'smb2',
  'svm_cifs',
  'svm_cifs:node',
  'svm_nfs_v3',
  'svm_nfs_v3:node',
  'svm_nfs_v4',
  'svm_nfs_v41',
  'svm_nfs_v41:node',
  'svm_nfs_v42',
  'svm_nfs_v42:node',
  'svm_nfs_v4:node',
  'svm_vscan',
  'vscan',
  'wafl',
  'wafl_comp_aggr_vol_bin',
  'wafl_hya_per_aggregate',
  'wafl_hya_sizer',
]
