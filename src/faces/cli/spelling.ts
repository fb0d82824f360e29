/**
 * How the command line calls things where that is not what the model calls them. Every resource has a command without
 * being named here; this adds the words that administrators and tools know. Commands of resources that are not served
 * are passed over.
 */
import type { Json } from '../../model/value.ts'
import { text } from '../../model/kinds/index.ts'
import type { RecordType } from '../../model/rows.ts'
import type { Meaning, Spelled } from './names.ts'
import { always, memberOf, said, sight } from './phrases.ts'
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
  readonly type: RecordType
  /** Names of fields, beside those that follow from the model: what the command line says, and what it means. */
  readonly names?: Readonly<Record<string, Meaning>>
  /** Filters, by these names: the command is about records that pass. */
  readonly where?: Readonly<Record<string, string>>
  /** Records of other resources that it shows, too. */
  readonly also?: readonly { readonly type: RecordType; readonly names: Readonly<Record<string, Meaning>> }[]
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

const INTERFACE: Spelled<'network/ip/interfaces'> = {
  lif: 'name',
  address: 'ip.address',
  netmask_length: 'ip.netmask',
  status_admin: 'enabled',
  status_oper: 'state',
  home_node: 'location.home_node.name',
  curr_node: 'location.node.name',
  is_home: 'location.is_home',
}

const SVM: Spelled<'svm/svms'> = {
  vserver: 'name',
  aggr_list: 'aggregates.name',
  type: always('data'),
  admin_state: 'state',
  operational_state: 'state',
}
/** The cluster as the SVM that it is administered by. Of what there is one of, fields are no filters. */
const ADMIN_SVM: Spelled<'cluster'> = {
  vserver: asFilter('name'),
  uuid: asFilter('uuid'),
  type: always('admin'),
  state: always('running'),
  operational_state: always('running'),
}

/** `security ssl`: the certificate that the management interface shows, where it was given one. */
const SSL: Spelled<'cluster'> = {
  vserver: asFilter('name'),
  serial: {
    from: ['certificate.uuid'],
    kind: text(),
    sees: sight('security/certificates', ['uuid', 'serial_number']),
    show: (at, certificates) => {
      const shown = certificates.find((one) => memberOf(one, 'uuid') === at('certificate.uuid'))
      return memberOf(shown, 'serial_number')
    },
  },
}

/** `security certificate`. */
const CERTIFICATE: Spelled<'security/certificates'> = {
  cert_name: 'name',
  expiration: 'expiry_time',
  public_cert: 'public_certificate',
  serial: 'serial_number',
}

function asFilter<const Path extends string>(path: Path) {
  return said(path, text(), (value) => value)
}

export const spellings: readonly Spelling[] = [
  spelled('volume', 'storage/volumes', { names: VOLUME }),
  spelled('volume efficiency stat', 'storage/volumes', { names: { ...VOLUME, ...EFFICIENCY_STAT } }),
  spelled('volume footprint', 'storage/volumes', { names: { ...VOLUME, ...FOOTPRINT } }),
  spelled('volume snapshot autodelete', 'storage/volumes', { names: AUTODELETE }),
  spelled('volume snaplock', 'storage/volumes', { names: SNAPLOCK, where: { type: '!non_snaplock' } }),
  spelled('vserver', 'svm/svms', { names: SVM, also: [also('cluster', ADMIN_SVM)] }),
  spelled('aggr', 'storage/aggregates', { names: AGGREGATE }),
  // About what is kept in other tiers, which is nothing.
  spelled('aggr show-space', 'storage/aggregates', { names: AGGREGATE_SPACE, where: { bin_num: '>0' } }),
  spelled('disk', 'storage/disks', { names: DISK }),
  spelled('storage disk', 'storage/disks', { names: DISK }),
  spelled('storage shelf', 'storage/shelves', { names: SHELF }),
  spelled('system node environment sensors', 'cluster/sensors', { names: { node: 'node.name' } }),
  spelled('storage failover', 'cluster/nodes', { names: FAILOVER }),
  spelled('storage aggregate', 'storage/aggregates', { names: AGGREGATE }),
  spelled('lun', 'storage/luns', { names: LUN }),
  spelled('snapmirror', 'snapmirror/relationships', { names: SNAPMIRROR }),
  spelled('snapshot', 'storage/volumes/{volume.uuid}/snapshots'),
  spelled('volume snapshot', 'storage/volumes/{volume.uuid}/snapshots'),
  spelled('snapshot policy', 'storage/snapshot-policies', { names: SNAPSHOT_POLICY }),
  spelled('volume snapshot policy', 'storage/snapshot-policies', { names: SNAPSHOT_POLICY }),
  spelled('qtree', 'storage/qtrees', { names: QTREE }),
  spelled('volume qtree', 'storage/qtrees', { names: QTREE }),
  spelled('volume quota policy rule', 'storage/quota/rules'),
  spelled('volume quota report', 'storage/quota/reports'),
  spelled('volume efficiency policy', 'storage/volume-efficiency-policies'),
  spelled('qos policy-group', 'storage/qos/policies', {
    names: { ...FIXED_QOS, peak_iops: 'adaptive.peak_iops' },
    where: { peak_iops: 'null' },
  }),
  spelled('qos adaptive-policy-group', 'storage/qos/policies', { names: ADAPTIVE_QOS, where: { peak_iops: '!null' } }),
  spelled('qos workload', 'storage/qos/workloads', { names: WORKLOAD }),
  spelled('network port', 'network/ethernet/ports', { names: PORT }),
  spelled('network port ifgrp', 'network/ethernet/ports', { names: PORT_GROUP, where: { type: 'lag' } }),
  spelled('network interface', 'network/ip/interfaces', { names: INTERFACE }),
  spelled('vserver object-store-server', 'protocols/s3/services', { names: { object_store_server: 'name' } }),
  spelled('vserver object-store-server bucket', 'protocols/s3/buckets'),
  spelled('vserver object-store-server user', 'protocols/s3/services/{svm.uuid}/users'),
  spelled('vserver object-store-server policy', 'protocols/s3/services/{svm.uuid}/policies'),
  spelled('vserver object-store-server group', 'protocols/s3/services/{svm.uuid}/groups'),
  spelled('job', 'cluster/jobs'),
  spelled('job schedule', 'cluster/schedules'),
  spelled('node', 'cluster/nodes', { names: NODE }),
  spelled('system node', 'cluster/nodes', { names: NODE }),
  spelled('system node autosupport', 'support/autosupport', { names: AUTOSUPPORT }),
  spelled('cluster date', 'cluster/nodes', { names: { node: 'name', date: 'date' } }),
  spelled('storage aggregate plex', 'storage/aggregates/{aggregate.uuid}/plexes', { names: { plex: 'name' } }),
  spelled('version', 'cluster/version', { names: { version: 'version.full' }, prints: 'version' }),
  spelled('cluster identity', 'cluster', { names: { name: 'name' } }),
  spelled('cluster time-service ntp server', 'cluster/ntp/servers'),
  spelled('security login', 'security/accounts', { names: { user_or_group_name: 'name', role: 'role.name' } }),
  spelled('vserver cifs server security', 'protocols/cifs/services', {
    names: { lm_compatibility_level: 'security.lm_compatibility_level' },
  }),
  spelled('security certificate', 'security/certificates', { names: CERTIFICATE }),
  spelled('security ssl', 'cluster', { names: SSL }),
  spelled('event log', 'support/ems/events'),
  spelled('vserver fpolicy policy', 'protocols/fpolicy/{svm.uuid}/policies', { names: FPOLICY_POLICY }),
  spelled('vserver fpolicy policy event', 'protocols/fpolicy/{svm.uuid}/events', { names: FPOLICY_EVENT }),
  spelled('vserver fpolicy policy external-engine', 'protocols/fpolicy/{svm.uuid}/engines', { names: FPOLICY_ENGINE }),
  spelled('vserver fpolicy policy scope', 'protocols/fpolicy/{svm.uuid}/policies', {
    names: FPOLICY_SCOPE,
    where: { has_scope: 'true' },
    part: FPOLICY_SCOPE_PART,
  }),
]

type More<Type extends RecordType> = Omit<Spelling, 'command' | 'type' | 'names'> & { readonly names?: Spelled<Type> }

/** A command, and what it calls the fields of the records that it is about. */
function spelled<const Type extends RecordType>(command: string, type: Type, more: More<Type> = {}): Spelling {
  return { command, type, ...more }
}

function also<const Type extends RecordType>(type: Type, names: Spelled<Type>) {
  return { type, names }
}
