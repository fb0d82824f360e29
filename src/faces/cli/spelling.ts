/**
 * How the command line calls things where that is not what the model calls them. Every resource has a command without
 * being named here; this adds the words that administrators and tools know. Commands of resources that are not served
 * are passed over.
 */
import type { Json } from '../../model/value.ts'
import { text } from '../../model/kinds/index.ts'
import type { Meaning } from './names.ts'
import { always, memberOf, said } from './phrases.ts'
import { AUTOSUPPORT } from './spelled-autosupport.ts'
import { FPOLICY_ENGINE, FPOLICY_EVENT, FPOLICY_POLICY, FPOLICY_SCOPE, FPOLICY_SCOPE_PART } from './spelled-fpolicy.ts'
import {
  ADAPTIVE_QOS,
  AGGREGATE,
  AGGREGATE_SPACE,
  DISK,
  FAILOVER,
  FIXED_QOS,
  LUN,
  NODE,
  PORT,
  PORT_GROUP,
  QTREE,
  SHELF,
  SNAPMIRROR,
  SNAPSHOT_POLICY,
  WORKLOAD,
} from './spelled-storage.ts'
import { AUTODELETE, EFFICIENCY_STAT, FOOTPRINT, SNAPLOCK, VOLUME } from './spelled-volumes.ts'

export interface Spelling {
  /** `volume snapshot`. */
  readonly command: string
  /** The resource that it shows and changes. */
  readonly type: string
  /** Names of fields, beside those that follow from the model: what the command line says, and what it means. */
  readonly names?: Readonly<Record<string, Meaning>>
  /** Filters, by these names: the command is about records that pass. */
  readonly where?: Readonly<Record<string, string>>
  /** Records of other resources that it shows, too. */
  readonly also?: readonly { readonly type: string; readonly names: Readonly<Record<string, Meaning>> }[]
  /** It is about a part of its records, which they have or not. */
  readonly part?: Part
  /** Run by POST, as by those who know commands alone, it answers with this name of its record as text. */
  readonly prints?: string
}

export interface Part {
  /** What is set when one is made and nothing is said of it. */
  readonly set: Readonly<Record<string, Json>>
  /** What is taken back when it is removed. */
  readonly clear: readonly string[]
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

const SVM = {
  vserver: 'name',
  aggr_list: 'aggregates.name',
  type: always('data'),
  admin_state: 'state',
  operational_state: 'state',
}
/** The cluster as the SVM that it is administered by. Of what there is one of, fields are no filters. */
const ADMIN_SVM = {
  vserver: asFilter('name'),
  uuid: asFilter('uuid'),
  type: always('admin'),
  state: always('running'),
  operational_state: always('running'),
}

/** `security ssl`: the certificate that the management interface shows, where it was given one. */
const SSL: Readonly<Record<string, Meaning>> = {
  vserver: asFilter('name'),
  serial: {
    from: ['certificate.uuid'],
    kind: text(),
    sees: { type: 'security/certificates', fields: ['uuid', 'serial_number'] },
    show: (at, certificates) => {
      const shown = certificates.find((one) => memberOf(one, 'uuid') === at('certificate.uuid'))
      return memberOf(shown, 'serial_number')
    },
  },
}

/** `security certificate`. */
const CERTIFICATE = {
  cert_name: 'name',
  expiration: 'expiry_time',
  public_cert: 'public_certificate',
  serial: 'serial_number',
}

function asFilter(path: string) {
  return said(path, text(), (value) => value)
}

export const spellings: readonly Spelling[] = [
  { command: 'volume', type: 'storage/volumes', names: VOLUME },
  { command: 'volume efficiency stat', type: 'storage/volumes', names: { ...VOLUME, ...EFFICIENCY_STAT } },
  { command: 'volume footprint', type: 'storage/volumes', names: { ...VOLUME, ...FOOTPRINT } },
  { command: 'volume snapshot autodelete', type: 'storage/volumes', names: AUTODELETE },
  { command: 'volume snaplock', type: 'storage/volumes', names: SNAPLOCK, where: { type: '!non_snaplock' } },
  { command: 'vserver', type: 'svm/svms', names: SVM, also: [{ type: 'cluster', names: ADMIN_SVM }] },
  { command: 'aggr', type: 'storage/aggregates', names: AGGREGATE },
  // About what is kept in other tiers, which is nothing.
  { command: 'aggr show-space', type: 'storage/aggregates', names: AGGREGATE_SPACE, where: { bin_num: '>0' } },
  { command: 'disk', type: 'storage/disks', names: DISK },
  { command: 'storage disk', type: 'storage/disks', names: DISK },
  { command: 'storage shelf', type: 'storage/shelves', names: SHELF },
  { command: 'system node environment sensors', type: 'cluster/sensors', names: { node: 'node.name' } },
  { command: 'storage failover', type: 'cluster/nodes', names: FAILOVER },
  { command: 'storage aggregate', type: 'storage/aggregates', names: AGGREGATE },
  { command: 'lun', type: 'storage/luns', names: LUN },
  { command: 'snapmirror', type: 'snapmirror/relationships', names: SNAPMIRROR },
  { command: 'snapshot', type: 'storage/volumes/{volume.uuid}/snapshots' },
  { command: 'volume snapshot', type: 'storage/volumes/{volume.uuid}/snapshots' },
  { command: 'snapshot policy', type: 'storage/snapshot-policies', names: SNAPSHOT_POLICY },
  { command: 'volume snapshot policy', type: 'storage/snapshot-policies', names: SNAPSHOT_POLICY },
  { command: 'qtree', type: 'storage/qtrees', names: QTREE },
  { command: 'volume qtree', type: 'storage/qtrees', names: QTREE },
  { command: 'volume quota policy rule', type: 'storage/quota/rules' },
  { command: 'volume quota report', type: 'storage/quota/reports' },
  { command: 'volume efficiency policy', type: 'storage/volume-efficiency-policies' },
  {
    command: 'qos policy-group',
    type: 'storage/qos/policies',
    names: { ...FIXED_QOS, peak_iops: 'adaptive.peak_iops' },
    where: { peak_iops: 'null' },
  },
  {
    command: 'qos adaptive-policy-group',
    type: 'storage/qos/policies',
    names: ADAPTIVE_QOS,
    where: { peak_iops: '!null' },
  },
  { command: 'qos workload', type: 'storage/qos/workloads', names: WORKLOAD },
  { command: 'network port', type: 'network/ethernet/ports', names: PORT },
  {
    command: 'network port ifgrp',
    type: 'network/ethernet/ports',
    names: PORT_GROUP,
    where: { type: 'lag' },
  },
  { command: 'network interface', type: 'network/ip/interfaces', names: INTERFACE },
  { command: 'vserver object-store-server', type: 'protocols/s3/services', names: { object_store_server: 'name' } },
  { command: 'vserver object-store-server bucket', type: 'protocols/s3/buckets' },
  { command: 'vserver object-store-server user', type: 'protocols/s3/services/{svm.uuid}/users' },
  { command: 'vserver object-store-server policy', type: 'protocols/s3/services/{svm.uuid}/policies' },
  { command: 'vserver object-store-server group', type: 'protocols/s3/services/{svm.uuid}/groups' },
  { command: 'job', type: 'cluster/jobs' },
  { command: 'job schedule', type: 'cluster/schedules' },
  { command: 'node', type: 'cluster/nodes', names: NODE },
  { command: 'system node', type: 'cluster/nodes', names: NODE },
  { command: 'system node autosupport', type: 'support/autosupport', names: AUTOSUPPORT },
  { command: 'cluster date', type: 'cluster/nodes', names: { node: 'name', date: 'date' } },
  { command: 'storage aggregate plex', type: 'storage/aggregates/{aggregate.uuid}/plexes', names: { plex: 'name' } },
  { command: 'version', type: 'cluster/version', names: { version: 'version.full' }, prints: 'version' },
  { command: 'cluster identity', type: 'cluster', names: { name: 'name' } },
  { command: 'cluster time-service ntp server', type: 'cluster/ntp/servers' },
  { command: 'security login', type: 'security/accounts', names: { user_or_group_name: 'name', role: 'role.name' } },
  {
    command: 'vserver cifs server security',
    type: 'protocols/cifs/services',
    names: { lm_compatibility_level: 'security.lm_compatibility_level' },
  },
  { command: 'security certificate', type: 'security/certificates', names: CERTIFICATE },
  { command: 'security ssl', type: 'cluster', names: SSL },
  { command: 'event log', type: 'support/ems/events' },
  { command: 'vserver fpolicy policy', type: 'protocols/fpolicy/{svm.uuid}/policies', names: FPOLICY_POLICY },
  { command: 'vserver fpolicy policy event', type: 'protocols/fpolicy/{svm.uuid}/events', names: FPOLICY_EVENT },
  {
    command: 'vserver fpolicy policy external-engine',
    type: 'protocols/fpolicy/{svm.uuid}/engines',
    names: FPOLICY_ENGINE,
  },
  {
    command: 'vserver fpolicy policy scope',
    type: 'protocols/fpolicy/{svm.uuid}/policies',
    names: FPOLICY_SCOPE,
    where: { has_scope: 'true' },
    part: FPOLICY_SCOPE_PART,
  },
]
