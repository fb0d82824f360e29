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
const PATTERNS = ['read_io_type_percent', 'sequential_reads_percent', 'sequential_writes_percent']

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

/** What of requests of S3 is not told apart, and what of connections is not counted. */
const NOT_TOLD_APART = [
  ...S3_OPERATIONS.map((operation) => `${operation}_failed_client_close`),
  'allow_access',
  'anonymous_access',
  'anonymous_deny_access',
  'chunked_upload_requests',
  'connected_connections',
  'connections',
  'default_deny_access',
  'explicit_deny_access',
  'group_policy_evaluated',
  'input_flow_control_entry',
  'input_flow_control_exit',
  'maximum_commands_per_connection',
  'maximum_connected_connections',
  'maximum_requests_outstanding',
  'output_flow_control_entry',
  'output_flow_control_exit',
  'presigned_url_requests',
  'request_parse_errors',
  'requests_outstanding',
  'root_user_access',
  'server_connection_close',
  'signature_v2_requests',
  'signature_v4_requests',
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
    counters: ['received_data', 'received_packets', 'received_errors', 'sent_data', 'sent_packets', 'sent_errors'],
    uncounted: ['received_packets', 'received_errors', 'sent_packets', 'sent_errors'],
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
      'iscsi_ops',
      'nfs_ops',
      'nvme_fc_ops',
      'total_ops',
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
    counters: ['concurrency', 'latency', 'other_ops', ...OPERATIONS, ...PATTERNS],
    uncounted: PATTERNS,
  },
  {
    table: 'qos_volume',
    labels: ['uuid'],
    counters: ['latency', ...OPERATIONS, ...PATTERNS],
    uncounted: PATTERNS,
  },
  {
    table: 'object_store_server',
    labels: ['id', 'node.name', 'svm.name'],
    counters: [
      ...S3_OPERATIONS.flatMap((operation) =>
        ['failed', 'latency', 'rate', 'total'].map((what) => `${operation}_${what}`),
      ),
      ...['get_bucket_acl', 'get_bucket_versioning', 'get_object_acl', 'put_bucket_versioning'].flatMap((operation) =>
        ['failed', 'total'].map((what) => `${operation}_${what}`),
      ),
      ...NOT_TOLD_APART,
      'authentication_failures',
      'multiple_delete_requests',
      'tagging',
      'get_data',
      'get_object_lastbyte_latency',
      'put_data',
      'requests',
    ],
    uncounted: NOT_TOLD_APART,
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
