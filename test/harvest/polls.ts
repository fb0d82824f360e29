import { keyPerf } from './polls-keyperf.ts'

/**
 * What NetApp Harvest asks of paths of the public interface: by the templates of its collectors `Rest` and `KeyPerf` that
 * are on as they come, by some that are commented out, and by the plugins of these. Taken from its sources; what is said
 * here is which fields a record is read for, and as what.
 *
 * Words are separated by blanks. In a field, `#` stands for each element of a list, and a number for one of them; a
 * collector that has such a field asks for `*` in place of the names. `@9.14.1`: not before that release.
 */
export interface Poll {
  /** The collector, and its object; for a plugin, that of its template. */
  readonly of: string
  readonly path: string
  /** What tells records apart. Two with the same are an error in its log. */
  readonly keys?: string
  /** Texts, flags and lists: at least one record has each. */
  readonly labels?: string
  /** Numbers, that all records have. */
  readonly numbers?: string
  /** Moments, that all records have. */
  readonly times?: string
  /** Numbers of which some records have none. */
  readonly sometimes?: string
  /** Asked for, and not told by a cluster that has no such hardware, cloud tier, file access, or value to tell. */
  readonly absent?: string
  /** Wholes that are asked for beside. */
  readonly hidden?: string
  readonly filters?: readonly string[]
  /** Nothing of the kind is here: an empty answer. */
  readonly isEmpty?: boolean
  /** The path is not of this product: Harvest notes that, and asks less often. */
  readonly isUnknown?: boolean
  /** Asked by a plugin: names that nothing has are refused, and so an error in the log. */
  readonly isPlugin?: boolean
  /** By the oldest release whose pollers send it. */
  readonly since?: string
}

const rest: readonly Poll[] = [
  {
    of: 'Rest Aggregate',
    path: 'storage/aggregates',
    keys: 'uuid',
    labels:
      'block_storage.primary.disk_type block_storage.primary.raid_type cloud_storage.stores.#.cloud_store.name@9.14.1 data_encryption.software_encryption_enabled home_node.name name state',
    numbers: [
      'block_storage.hybrid_cache.disk_count block_storage.hybrid_cache.size block_storage.plexes.#',
      'block_storage.primary.disk_count block_storage.primary.raid_size',
      ...['file_private_capacity', 'file_public_capacity', 'files_private_used', 'files_total', 'files_used'].map(
        (word) => `inode_attributes.${word}`,
      ),
      ...['max_files_available', 'max_files_possible', 'max_files_used', 'used_percent'].map(
        (word) => `inode_attributes.${word}`,
      ),
      'snapshot.files_total snapshot.files_used snapshot.max_files_available snapshot.max_files_used',
      ...[
        'available',
        'data_compacted_count',
        'data_compaction_space_saved',
        'data_compaction_space_saved_percent',
        'physical_used',
        'physical_used_percent',
        'size',
        'used',
        'volume_deduplication_shared_count',
        'volume_deduplication_space_saved',
        'volume_deduplication_space_saved_percent',
      ].map((word) => `space.block_storage.${word}`),
      'space.cloud_storage.used space.footprint space.footprint_percent volume_count',
      ...['efficiency', 'efficiency_without_snapshots', 'efficiency_without_snapshots_flexclones'].flatMap((base) => [
        `space.${base}.logical_used`,
        `space.${base}.savings`,
      ]),
      ...['available', 'reserve_percent', 'total', 'used', 'used_percent'].map((word) => `space.snapshot.${word}`),
    ].join(' '),
    absent: 'space.block_storage.inactive_user_data space.block_storage.inactive_user_data_percent',
    hidden: 'block_storage inode_attributes space',
  },
  {
    of: 'Rest CloudTarget',
    path: 'cloud/targets',
    keys: 'uuid',
    labels:
      'access_key authentication_type container ipspace.name name owner port provider_type scope server ssl_enabled',
    isEmpty: true,
  },
  { of: 'Rest ClusterPeer', path: 'cluster/peers', keys: 'uuid', labels: 'encryption.state name', isEmpty: true },
  {
    of: 'Rest ClusterSchedule',
    path: 'cluster/schedules',
    keys: 'uuid',
    labels: 'cluster.name cron name scope type',
    absent: 'interval svm.name',
  },
  {
    of: 'Rest ClusterSoftware',
    path: 'cluster/software',
    labels: 'status_details update_details validation_results',
  },
  { of: 'Rest ClusterStorage', path: 'storage/cluster', numbers: 'block_storage.available', hidden: 'block_storage' },
  {
    of: 'Rest Disk',
    path: 'storage/disks',
    keys: 'uid',
    labels: 'name state node.uuid node.name home_node.name type container_type model serial_number',
    numbers: 'bytes_per_sector sector_count usable_size',
    absent: 'bay outage.reason shelf.uid stats.average_latency stats.power_on_hours',
  },
  {
    of: 'Rest EmsDestination',
    path: 'support/ems/destinations',
    keys: 'destination name type',
    labels: 'system_defined',
    absent: 'certificate filter syslog',
    filters: ['system_defined=false'],
  },
  {
    of: 'Rest FlexCache',
    path: 'storage/flexcache/flexcaches',
    keys: 'name svm.name',
    labels: 'aggregates.#.name origins.#.svm.name',
    isEmpty: true,
  },
  {
    of: 'Rest FCP',
    path: 'network/fc/ports',
    keys: 'uuid',
    labels: 'fabric.connected name node.name state supported_protocols',
    hidden: 'fabric',
    isEmpty: true,
  },
  {
    of: 'Rest LIF',
    path: 'network/ip/interfaces',
    keys: 'ip.address name svm.name',
    labels:
      'ipspace.name location.home_node.name location.home_port.name location.is_home location.node.name location.port.name services state subnet.name',
  },
  { of: 'Rest Health', path: 'cluster', keys: 'uuid', labels: 'name' },
  { of: 'Rest Lun', path: 'storage/luns', labels: 'name', isEmpty: true },
  { of: 'Rest Mediator', path: 'cluster/mediators', keys: 'uuid', labels: 'ip_address reachable', isEmpty: true },
  { of: 'Rest MetroclusterCheck', path: 'cluster/metrocluster/diagnostics', labels: 'node', isUnknown: true },
  {
    of: 'Rest Namespace',
    path: 'storage/namespaces',
    keys: 'uuid',
    labels:
      'location.node.name location.volume.name name os_type status.read_only status.state subsystem_map.nsid svm.name',
    numbers: 'space.block_size space.size space.used',
    hidden: 'subsystem_map',
    isEmpty: true,
  },
  {
    of: 'Rest IGroup',
    path: 'protocols/san/igroups',
    keys: 'uuid',
    labels: 'connectivity_tracking.connection_state initiators name os_type protocol svm.name',
    isEmpty: true,
  },
  { of: 'Rest Vscan', path: 'protocols/vscan', keys: 'svm.name', labels: 'scanner_pools', isEmpty: true },
  {
    of: 'Rest NetPort',
    path: 'network/ethernet/ports',
    keys: 'name node.name',
    labels: 'broadcast_domain.ipspace.name broadcast_domain.name enabled state',
    absent: 'lag.mode operational_speed vlan.tag',
    numbers: 'mtu',
  },
  {
    of: 'Rest NetRoute',
    path: 'network/ip/routes',
    keys: 'uuid',
    labels:
      'destination.address destination.family destination.netmask gateway interfaces.#.ip.address interfaces.#.name ipspace.name scope svm.name',
    hidden: 'interfaces',
  },
  {
    of: 'Rest Node',
    path: 'cluster/nodes',
    keys: 'name',
    labels:
      'controller.failed_fan.message.message controller.failed_power_supply.message.message controller.over_temperature location model serial_number state uuid version.full',
    numbers: 'controller.failed_fan.count controller.failed_power_supply.count uptime',
    absent: 'controller.cpu.firmware_release ha.partners.0.name service_processor.firmware_version',
  },
  { of: 'Rest NtpServer', path: 'cluster/ntp/servers', keys: 'server', labels: 'authentication_enabled' },
  {
    of: 'Rest OntapS3',
    path: 'protocols/s3/buckets',
    keys: 'uuid',
    labels:
      'encryption.enabled name protection_status.destination.is_cloud protection_status.destination.is_ontap protection_status.is_protected qos_policy.name svm.name volume.name',
    numbers: 'logical_used_size size',
  },
  {
    of: 'Rest Qtree',
    path: 'storage/qtrees',
    keys: 'name svm.name volume.name',
    labels: 'export_policy.name security_style',
    numbers: 'id',
    filters: ['name=!""'],
  },
  {
    of: 'Rest Quota',
    path: 'storage/quota/reports',
    keys: 'index',
    labels: 'qtree.name svm.name type volume.name',
    numbers: 'space.used.total files.used.total',
    sometimes:
      'space.hard_limit space.soft_limit space.used.hard_limit_percent space.used.soft_limit_percent files.hard_limit files.soft_limit files.used.hard_limit_percent files.used.soft_limit_percent',
    absent: 'group.name users.0.id users.0.name',
    filters: ['show_default_records=false', 'type=tree'],
  },
  {
    of: 'Rest Security',
    path: 'security',
    labels: 'fips.enabled management_protocols.rsh_enabled management_protocols.telnet_enabled',
  },
  {
    of: 'Rest SecurityAccount',
    path: 'security/accounts',
    keys: 'name owner.name',
    labels: 'role.name locked applications.#.application applications.#.authentication_methods.0',
    // Passwords are stored with scrypt, which is none of the documented values.
    absent: 'password_hash_algorithm',
  },
  {
    of: 'Rest SecurityAuditDestination',
    path: 'security/audit/destinations',
    keys: 'protocol address',
    labels: 'facility',
    isEmpty: true,
  },
  {
    of: 'Rest SecurityCert',
    path: 'security/certificates',
    keys: 'uuid',
    labels: 'name public_certificate scope serial_number svm.name type',
    times: 'expiry_time',
  },
  { of: 'Rest SecurityLogin', path: 'security/login/messages', keys: 'uuid', labels: 'banner scope svm.name' },
  { of: 'Rest SecuritySsh', path: 'security/ssh', labels: 'ciphers mac_algorithms max_instances' },
  {
    of: 'Rest SecuritySsh, SVMs',
    path: 'security/ssh/svms',
    keys: 'svm.uuid',
    labels: 'ciphers svm.name',
    isEmpty: true,
  },
  {
    of: 'Rest Sensor',
    path: 'cluster/sensors',
    keys: 'node.name name',
    labels: 'discrete_state discrete_value threshold_state type value_units',
    isEmpty: true,
  },
  {
    of: 'Rest Shelf',
    path: 'storage/shelves',
    keys: 'serial_number',
    labels: 'local manufacturer.name model module_type name state',
    filters: ['local=true'],
    isEmpty: true,
  },
  {
    of: 'Rest SnapMirrorPolicy',
    path: 'snapmirror/policies',
    keys: 'uuid',
    labels: 'comment name scope svm.name transfer_schedule.name type',
    isEmpty: true,
  },
  {
    of: 'Rest SnapshotPolicy',
    path: 'storage/snapshot-policies',
    keys: 'uuid',
    labels: 'copies.#.count copies.#.schedule.name enabled name scope',
    absent: 'comment svm.name',
  },
  { of: 'Rest Status', path: 'cluster', labels: 'health', hidden: 'health' },
  { of: 'Rest Support', path: 'support/autosupport', labels: 'enabled is_minimal transport' },
  { of: 'Rest SupportAutoUpdate', path: 'support/auto-update', labels: 'enabled' },
  // What the template of SVMs asks beside the command line: parts of it that fail are errors.
  { of: 'Rest SVM', path: 'svm/svms', keys: 'name', labels: 'aggregates.#.name nfs.enabled nsswitch state uuid' },
  { of: 'Rest SVM, anti-ransomware', path: 'svm/svms', keys: 'uuid', labels: 'anti_ransomware_default_volume_state' },
  { of: 'Rest SVM, SSH', path: 'security/ssh/svms', keys: 'svm.name', labels: 'ciphers', isEmpty: true },
  {
    of: 'Rest SVM, CIFS',
    path: 'protocols/cifs/services',
    keys: 'svm.name',
    labels: 'enabled security.lm_compatibility_level security.smb_encryption security.smb_signing',
  },
  { of: 'Rest SVM, NFS', path: 'protocols/nfs/services', keys: 'svm.uuid', labels: 'enabled' },
  { of: 'Rest SVM, audit', path: 'protocols/audit', keys: 'svm.name', labels: 'enabled', isEmpty: true },
  { of: 'Rest SVM, NIS', path: 'name-services/nis', keys: 'svm.name', labels: 'domain', isEmpty: true },
  { of: 'Rest SVM, LDAP', path: 'name-services/ldap', keys: 'svm.name', labels: 'session_security', isEmpty: true },
  {
    of: 'Rest VolumeAnalytics',
    path: 'storage/volumes',
    keys: 'uuid',
    labels: 'name svm.name',
    filters: ['analytics.state=on'],
  },
  // Commented out as it comes.
  { of: 'Rest CIFSSession', path: 'protocols/cifs/sessions', labels: 'user', isUnknown: true },
  { of: 'Rest Lock', path: 'protocols/locks', labels: 'state', isUnknown: true },
  { of: 'Rest NDMPSession', path: 'protocols/ndmp/sessions', labels: 'id', isUnknown: true },
  { of: 'Rest NFSClients', path: 'protocols/nfs/connected-clients', labels: 'protocol', isUnknown: true },
  {
    of: 'Rest EthernetSwitchPort',
    path: 'network/ethernet/switch/ports',
    keys: 'identity.name switch.name',
    labels: 'configured identity.type isl speed state',
    isEmpty: true,
  },
]

const plugins: readonly Omit<Poll, 'isPlugin'>[] = [
  {
    of: 'Health, disks',
    path: 'storage/disks',
    labels: 'name container_type',
    filters: ['container_type=broken|unassigned'],
    isEmpty: true,
  },
  {
    of: 'Health, ransomware',
    path: 'storage/volumes',
    filters: ['anti_ransomware.state=enabled', 'anti_ransomware.attack_probability=low|moderate|high'],
    isEmpty: true,
  },
  {
    of: 'Health, licenses',
    path: 'cluster/licensing/licenses',
    labels: 'name scope state',
    filters: ['state=noncompliant'],
    isEmpty: true,
  },
  {
    of: 'Health, moves',
    path: 'storage/volumes',
    labels: 'uuid name movement.state svm',
    filters: ['movement.state=cutover_wait|failed|cutover_pending'],
    isEmpty: true,
  },
  {
    of: 'Health, interfaces',
    path: 'network/ip/interfaces',
    labels: 'svm location',
    filters: ['location.is_home=false'],
    isEmpty: true,
  },
  {
    of: 'Health, Fibre Channel',
    path: 'network/fc/ports',
    labels: 'name node',
    filters: ['enabled=true', 'state=offlined_by_system'],
    isEmpty: true,
  },
  { of: 'Health, ports', path: 'network/ethernet/ports', labels: 'name node', filters: ['enabled=true', 'state=up'] },
  {
    of: 'Health, events',
    path: 'support/ems/events',
    labels: 'node message source',
    filters: ['message.severity=emergency|notice', 'time=>=1700000000'],
  },
  { of: 'Health, alerts', path: 'private/support/alerts', filters: ['suppress=false'], isEmpty: true },
  {
    of: 'Volume, disks that encrypt',
    path: 'storage/disks',
    labels: 'aggregates.#.name protection_mode',
    filters: ['protection_mode=!data|full'],
  },
  {
    of: 'Volume',
    path: 'storage/volumes',
    keys: 'name svm.name',
    labels:
      'is_object_store snapmirror.is_protected snapmirror.destinations.is_ontap snapmirror.destinations.is_cloud anti_ransomware.state',
    absent: 'clone.parent_snapshot.name clone.split_estimate anti_ransomware.dry_run_start_time',
    filters: ['is_constituent=false'],
  },
  {
    of: 'OntapS3Service',
    path: 'protocols/s3/services',
    labels: 'svm.name name is_http_enabled is_https_enabled',
    numbers: 'secure_port port',
  },
  { of: 'SecurityAccount', path: 'security/accounts', labels: 'name owner.name applications' },
  { of: 'SVM, FPolicy', path: 'protocols/fpolicy', labels: 'svm.name policies.enabled policies.name', isEmpty: true },
  { of: 'SVM, Kerberos', path: 'protocols/nfs/kerberos/interfaces', labels: 'svm.name enabled', isEmpty: true },
  { of: 'SVM, iSCSI', path: 'protocols/san/iscsi/services', labels: 'svm.name enabled', isEmpty: true },
  {
    of: 'SVM, CHAP',
    path: 'protocols/san/iscsi/credentials',
    labels: 'authentication_type svm.name',
    isEmpty: true,
  },
  { of: 'SnapMirror, peers', path: 'svm/peers', labels: 'name peer.svm.name', isEmpty: true },
  { of: 'Node, AutoSupport', path: 'cluster/nodes', labels: 'serial_number system_id' },
]

export const harvestPolls: readonly Poll[] = [
  ...rest,
  ...plugins.map((poll): Poll => Object.assign({ isPlugin: true }, poll)),
  ...keyPerf,
]

/** What a role of its own may read: what its documentation lists, and storage/cluster, which it was seen to ask. */
export const harvestReads: readonly string[] = [
  'cloud/targets cluster cluster/counter/tables cluster/mediators cluster/metrocluster/diagnostics cluster/nodes',
  'cluster/ntp/servers cluster/peers cluster/sensors name-services/ldap name-services/nis network/ethernet/ports',
  'network/ethernet/switch/ports network/fc/ports network/ip/interfaces network/ip/routes protocols security',
  'security/accounts security/audit/destinations security/certificates security/login/messages security/ssh',
  'snapmirror/relationships snapmirror/policies storage/aggregates storage/disks storage/flexcache/flexcaches',
  'storage/luns storage/namespaces storage/qtrees storage/qos/policies storage/qos/workloads storage/quota/reports',
  'storage/cluster storage/shelves storage/snapshot-policies storage/volumes support/auto-update support/autosupport',
  'support/ems/destinations support/ems/events support/ems/messages svm/peers svm/svms private/cli',
  'private/support/alerts',
].flatMap((line) => line.split(' '))
