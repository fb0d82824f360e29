/**
 * How the command line calls things where that is not what the model calls them. Every resource has a command without
 * being named here; this adds the words that administrators and tools know.
 */
export interface Spelling {
  /** `volume snapshot`. */
  readonly command: string
  /** The resource that it shows and changes. */
  readonly type: string
  /** Names of fields, beside those that follow from the model: what the command line says, and the field. */
  readonly names?: Readonly<Record<string, string>>
}

const VOLUME = {
  used: 'space.used',
  available: 'space.available',
  percent_used: 'space.percent_used',
  percent_snapshot_space: 'space.snapshot.reserve_percent',
  size_used_by_snapshots: 'space.snapshot.used',
  logical_used: 'space.logical_space.used',
  space_guarantee: 'guarantee.type',
  junction_path: 'nas.path',
  policy: 'nas.export_policy.name',
  security_style: 'nas.security_style',
  unix_permissions: 'nas.unix_permissions',
  user: 'nas.uid',
  group: 'nas.gid',
  files: 'files.maximum',
  qos_policy_group: 'qos.policy.name',
  max_autosize: 'autosize.maximum',
  min_autosize: 'autosize.minimum',
  autosize_grow_threshold_percent: 'autosize.grow_threshold',
  autosize_shrink_threshold_percent: 'autosize.shrink_threshold',
  tiering_policy: 'tiering.policy',
  encrypt: 'encryption.enabled',
  volume_style_extended: 'style',
  instance_uuid: 'uuid',
}

const AGGREGATE = {
  aggregate: 'name',
  node: 'node.name',
  size: 'space.block_storage.size',
  usedsize: 'space.block_storage.used',
  availsize: 'space.block_storage.available',
  percent_used: 'space.block_storage.used_percent',
  volcount: 'volume-count',
  diskcount: 'block_storage.primary.disk_count',
}

const INTERFACE = {
  lif: 'name',
  address: 'ip.address',
  netmask_length: 'ip.netmask',
  status_admin: 'enabled',
  status_oper: 'state',
  home_node: 'location.home_node.name',
  curr_node: 'location.node.name',
  is_home: 'location.is_home',
}

export const spellings: readonly Spelling[] = [
  { command: 'volume', type: 'storage/volumes', names: VOLUME },
  { command: 'vserver', type: 'svm/svms', names: { vserver: 'name', aggr_list: 'aggregates.name' } },
  { command: 'aggr', type: 'storage/aggregates', names: AGGREGATE },
  { command: 'storage aggregate', type: 'storage/aggregates', names: AGGREGATE },
  { command: 'snapshot', type: 'storage/volumes/{volume.uuid}/snapshots' },
  { command: 'volume snapshot', type: 'storage/volumes/{volume.uuid}/snapshots' },
  { command: 'volume snapshot policy', type: 'storage/snapshot-policies' },
  { command: 'qtree', type: 'storage/qtrees' },
  { command: 'volume qtree', type: 'storage/qtrees' },
  { command: 'volume quota policy rule', type: 'storage/quota/rules' },
  { command: 'volume quota report', type: 'storage/quota/reports' },
  { command: 'volume efficiency policy', type: 'storage/volume-efficiency-policies' },
  { command: 'qos policy-group', type: 'storage/qos/policies', names: { policy_group: 'name' } },
  { command: 'network interface', type: 'network/ip/interfaces', names: INTERFACE },
  { command: 'vserver object-store-server', type: 'protocols/s3/services', names: { object_store_server: 'name' } },
  { command: 'vserver object-store-server bucket', type: 'protocols/s3/buckets' },
  { command: 'vserver object-store-server user', type: 'protocols/s3/services/{svm.uuid}/users' },
  { command: 'vserver object-store-server policy', type: 'protocols/s3/services/{svm.uuid}/policies' },
  { command: 'vserver object-store-server group', type: 'protocols/s3/services/{svm.uuid}/groups' },
  { command: 'job', type: 'cluster/jobs' },
  { command: 'job schedule', type: 'cluster/schedules' },
  { command: 'node', type: 'cluster/nodes' },
  { command: 'system node', type: 'cluster/nodes' },
  { command: 'cluster date', type: 'cluster/nodes', names: { node: 'name', date: 'date' } },
  { command: 'version', type: 'cluster/version', names: { version: 'version.full' } },
  { command: 'cluster identity', type: 'cluster', names: { name: 'name' } },
  { command: 'cluster time-service ntp server', type: 'cluster/ntp/servers' },
  { command: 'security login', type: 'security/accounts', names: { user_or_group_name: 'name', role: 'role.name' } },
  { command: 'event log', type: 'support/ems/events' },
]
