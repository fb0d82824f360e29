/**
 * Collections that tools list on every look at a cluster, and of which this one has nothing: no hardware that could be
 * seen, and no other cluster. They can be read and filtered, and are empty, as on a shipping system that
 * has none of it; nothing can be made. A resource that comes to have records leaves this list for a file of its own.
 */
import { type Behaviour, define } from '../core/behaviour.ts'
import { count, flag, list, text, time, uuid, type Kind } from '../model/kinds/index.ts'
import { type FieldDeclaration, groups, resource } from '../model/resource.ts'

/** The documented fields of each are words, with a mark where they are no texts: `enabled?`, `size#`, `ciphers[]`, `since@`. */
const KINDS: Readonly<Record<string, () => Kind>> = {
  '?': flag,
  '#': count,
  '@': time,
  '[]': () => list(text()),
}

function empty<const Path extends string>(
  path: Path,
  noun: string,
  doc: string,
  key: string,
  fields: string,
  since?: string,
) {
  const declared = [...new Set([...key.split(' '), ...fields.trim().split(/\s+/)])].map(
    (word): [string, FieldDeclaration] => {
      const [, name = '', mark = ''] = /^([\w.]+)(\W*)$/.exec(word) ?? []
      const kind = name.split('.').at(-1) === 'uuid' ? uuid() : (KINDS[mark]?.() ?? text())
      return [name, { doc: docOf(name, noun, kind), kind }]
    },
  )
  const bases = declared.flatMap(([name]) => name.split('.').map((_, at, all) => all.slice(0, at).join('.')))
  const grouped = Object.fromEntries(bases.filter(Boolean).map((base) => [base, `The ${words(base)} of the ${noun}.`]))
  return define(
    resource({
      path,
      noun,
      doc: `${doc} There are none here.`,
      key: key.split(' ').map((word) => word.replace(/\W+$/, '')),
      nameWithin: false,
      ...(since === undefined ? {} : { since }),
      fields: { ...groups(grouped), ...Object.fromEntries(declared) },
    }),
    { rows: () => Promise.resolve([]) },
  )
}

function docOf(name: string, noun: string, { name: kind }: Kind): string {
  if (kind === 'flag') {
    const what = words(name.replace(/[._]?enabled$/, ''))
    if (what === '') return `Whether the ${noun} is enabled.`
    return what === words(name)
      ? `Whether the ${noun} is marked as "${what}".`
      : `Whether ${what} is enabled for the ${noun}.`
  }
  return `The ${words(name)} of the ${noun}${kind === 'count' ? ', as a number' : ''}.`
}

const words = (path: string) => path.replaceAll(/[._]/g, ' ').replaceAll(/\buuid\b/g, 'UUID')

export const withoutRecords = [
  empty(
    '/cloud/targets',
    'cloud target',
    'Object stores for cold data.',
    'uuid',
    `
      name access_key authentication_type certificate_validation_enabled? container ipspace.name owner port#
      provider_type scope server ssl_enabled? used# azure_account cluster.name cluster.uuid ipspace.uuid
      read_latency_warning_threshold# server_side_encryption snapmirror_use svm.name svm.uuid url_style
      use_http_proxy?
    `,
  ),
  empty(
    '/cluster/peers',
    'cluster peer',
    'Clusters that this cluster works with.',
    'uuid',
    `
      name encryption.state status.state remote.name remote.ip_addresses[] authentication.state
      authentication.expiry_time authentication.in_use encryption.proposed initial_allowed_svms.name
      initial_allowed_svms.uuid ip_address ipspace.name ipspace.uuid local_network.broadcast_domain
      local_network.gateway local_network.interfaces.ip_address local_network.netmask peer_applications[]
      remote.serial_number status.update_time@ version.full version.generation# version.major# version.minor#
    `,
  ),
  empty(
    '/cluster/mediators',
    'mediator',
    'Mediators decide which of two clusters serves data.',
    'uuid',
    `
      ip_address port# reachable? type peer_cluster.name peer_cluster.uuid ca_certificate
      peer_mediator_connectivity user
    `,
    '9.8',
  ),
  empty(
    '/cluster/sensors',
    'sensor',
    'Sensors of fans, voltages and temperatures.',
    'node.uuid index#',
    `
      node.name name type value# value_units threshold_state discrete_state discrete_value
      warning_high_threshold# warning_low_threshold# critical_high_threshold# critical_low_threshold# index#
      node.uuid
    `,
    '9.11.1',
  ),
  empty(
    '/network/fc/ports',
    'Fibre Channel port',
    'Ports of Fibre Channel.',
    'uuid',
    `
      name node.name node.uuid enabled? state physical_protocol supported_protocols[] speed.configured
      speed.maximum# fabric.connected? fabric.connected_speed# fabric.name fabric.port_address
      fabric.switch_port description interface_count# metric.duration metric.iops.other# metric.iops.read#
      metric.iops.total# metric.iops.write# metric.latency.other# metric.latency.read# metric.latency.total#
      metric.latency.write# metric.status metric.throughput.read# metric.throughput.total#
      metric.throughput.write# metric.timestamp@ statistics.iops_raw.other# statistics.iops_raw.read#
      statistics.iops_raw.total# statistics.iops_raw.write# statistics.latency_raw.other#
      statistics.latency_raw.read# statistics.latency_raw.total# statistics.latency_raw.write# statistics.status
      statistics.throughput_raw.read# statistics.throughput_raw.total# statistics.throughput_raw.write#
      statistics.timestamp@ transceiver.capabilities[] transceiver.form_factor transceiver.manufacturer
      transceiver.part_number wwnn wwpn
    `,
  ),
  empty(
    '/storage/shelves',
    'shelf',
    'Shelves of disks.',
    'uid',
    `
      name id serial_number model module_type state manufacturer.name disk_count# connection_type acps.address
      acps.channel acps.connection_state acps.enabled? acps.error.reason.arguments.code
      acps.error.reason.arguments.message acps.error.reason.code acps.error.reason.message acps.error.severity
      acps.error.type acps.netmask acps.node.name acps.node.uuid acps.port acps.subnet bays.drawer.id#
      bays.drawer.slot# bays.has_disk? bays.id# bays.state bays.type current_sensors.current#
      current_sensors.id# current_sensors.installed? current_sensors.location current_sensors.state
      drawers.closed? drawers.disk_count# drawers.error drawers.id# drawers.part_number drawers.serial_number
      drawers.state errors.reason.arguments.code errors.reason.arguments.message errors.reason.code
      errors.reason.message fans.id# fans.installed? fans.location fans.rpm# fans.state frus.firmware_version
      frus.id# frus.installed? frus.part_number frus.psu.crest_factor# frus.psu.model frus.psu.power_drawn#
      frus.psu.power_rating# frus.serial_number frus.state frus.type internal? local? location_led paths.name
      ports.cable.identifier ports.cable.length ports.cable.part_number ports.cable.serial_number
      ports.designator ports.id# ports.internal? ports.mac_address ports.module_id ports.remote.chassis
      ports.remote.device ports.remote.mac_address ports.remote.phy ports.remote.port ports.remote.wwn
      ports.state ports.wwn temperature_sensors.ambient? temperature_sensors.id# temperature_sensors.installed?
      temperature_sensors.location temperature_sensors.state temperature_sensors.temperature#
      temperature_sensors.threshold.high.critical# temperature_sensors.threshold.high.warning#
      temperature_sensors.threshold.low.critical# temperature_sensors.threshold.low.warning# vendor.manufacturer
      vendor.name vendor.part_number vendor.product vendor.serial_number voltage_sensors.id#
      voltage_sensors.installed? voltage_sensors.location voltage_sensors.state voltage_sensors.voltage#
    `,
  ),
  empty(
    '/storage/flexcache/flexcaches',
    'FlexCache',
    'Volumes that cache other volumes.',
    'uuid',
    `
      name svm.name svm.uuid size# path aggregates.name aggregates.uuid atime_scrub.enabled? atime_scrub.period#
      cifs_change_notify.enabled? constituents_per_aggregate# dr_cache? global_file_locking_enabled?
      guarantee.type origins.cluster.name origins.cluster.uuid origins.create_time@ origins.ip_address
      origins.size# origins.state origins.svm.name origins.svm.uuid origins.volume.name origins.volume.uuid
      prepopulate.dir_paths[] prepopulate.exclude_dir_paths[] prepopulate.recurse? relative_size.enabled?
      relative_size.percentage# use_tiered_aggregate? writeback.enabled?
    `,
  ),
  empty(
    '/svm/peers',
    'SVM peer',
    'SVMs that SVMs of this cluster work with.',
    'uuid',
    'name state svm.name svm.uuid peer.svm.name peer.svm.uuid peer.cluster.name peer.cluster.uuid applications[]',
  ),
  empty(
    '/security/audit/destinations',
    'audit destination',
    'Servers that receive the audit log.',
    'address port#',
    `
      protocol facility verify_server? ipspace.name message_format timestamp_format_override address
      hostname_format_override ipspace.uuid port#
    `,
  ),
  empty(
    '/security/ssh/svms',
    'SSH server',
    'SSH servers of SVMs, with their algorithms.',
    'svm.uuid',
    `
      svm.name ciphers[] key_exchange_algorithms[] mac_algorithms[] max_authentication_retry_count#
      host_key_algorithms[]
    `,
    '9.10.1',
  ),
  empty(
    '/protocols/audit',
    'audit configuration',
    'Configurations of file access auditing.',
    'svm.uuid',
    `
      svm.name enabled? log_path charge_qos? events.async_delete? events.audit_policy_change?
      events.authorization_policy? events.cap_staging? events.cifs_logon_logoff? events.file_operations?
      events.file_share? events.security_group? events.user_account? guarantee? log.format log.retention.count#
      log.retention.duration log.rotation.schedule.days[] log.rotation.schedule.hours[]
      log.rotation.schedule.minutes[] log.rotation.schedule.months[] log.rotation.schedule.weekdays[]
      log.rotation.size#
    `,
  ),
  empty(
    '/protocols/san/lun-maps',
    'LUN map',
    'Mappings of LUNs to initiator groups.',
    'lun.uuid igroup.uuid',
    `
      igroup.initiators[] igroup.name igroup.os_type igroup.protocol igroup.replicated? logical_unit_number#
      lun.name lun.node.name lun.node.uuid lun.smbc.replicated? reporting_nodes.name reporting_nodes.uuid
      svm.name svm.uuid
    `,
  ),
] as const satisfies readonly Behaviour[]
