import { type Behaviour, define } from '../../core/behaviour.ts'
import { bytes, count, flag, name, oneOf, text, time, uuid, percent } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import { namesBy } from '../../model/naming.ts'
import { operationFields } from '../metric-readings.ts'
import { membership, membershipFields } from '../application/of-volume.ts'
import { exportPolicyFields, exportPolicyReading } from '../protocols/nfs/named-export-policy.ts'
import { tagFields } from '../tags.ts'
import { removeVolume } from './volumes/remove.ts'
import { modifyVolume } from './volumes/modify.ts'
import { createVolume } from './volumes/create.ts'
import { VOLUME_BYTES_MAX, VOLUME_BYTES_MIN } from './volumes/size.ts'
import { autosizeFields } from './volumes/autosize.ts'
import { cloneFields, cloneReadings } from './volumes/clone-fields.ts'
import { reserveFields } from './volumes/reserve.ts'
import { flexcacheFields } from './volumes/flexcache-fields.ts'
import { fileSettingFields, fileSettingReadings } from './volumes/file-settings.ts'
import { finerSpaceFields, finerSpaceReadings } from './volumes/space-fields.ts'
import { quotaFields, volumeQuota } from './volumes/quota.ts'
import { keptFields, keptReadings } from './volumes/kept.ts'
import { nasFields } from './volumes/nas.ts'
import { volumeActions } from './volumes/actions.ts'
import { movement, movementFields } from './volumes/movement.ts'
import { efficiencyFields, volumeEfficiency } from './volumes/efficiency.ts'
import { volumeMetrics, volumeSpace } from './volumes/readings.ts'
import { restoreFields } from './volumes/restore.ts'

const volumesResource = resource({
  path: '/storage/volumes',
  noun: 'volume',
  doc: 'Volumes store buckets and files. Each volume has a maximum size and its own snapshots.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: [
    'name',
    'svm.name',
    'state',
    'space.used',
    'size',
    'space.percent_used',
    'aggregates.name',
    'snapshot_count',
    'type',
  ],
  form: {
    Volume: ['name', 'svm.name', 'size', 'aggregates', 'comment'],
    Space: [
      'guarantee.type',
      'space.snapshot.reserve_percent',
      'autosize.mode',
      'autosize.maximum',
      'autosize.minimum',
      'autosize.grow_threshold',
      'autosize.shrink_threshold',
    ],
    Protection: ['snapshot_policy.name', 'type'],
    Efficiency: ['efficiency.compression', 'efficiency.dedupe', 'efficiency.policy.name'],
    Performance: ['qos.policy.name'],
    Clone: ['clone.is_flexclone', 'clone.parent_svm.name', 'clone.parent_volume.name', 'clone.parent_snapshot.name'],
    'File access': ['nas.path', 'nas.export_policy.name', 'nas.security_style', 'nas.unix_permissions'],
  },
  within: {
    svm: 'blocks',
    aggregates: 'blocks',
    snapshot_policy: 'blocks',
    'qos.policy': 'blocks',
    'efficiency.policy': 'blocks',
    'nas.export_policy': namesBy('protocols/nfs/export-policies', 'blocks', 'nas.export_policy.id'),
  },
  fields: {
    ...groups({
      'statistics.flexcache_raw': 'Blocks served by a FlexCache so far.',
      efficiency: 'Compression and deduplication of the volume.',
      'efficiency.scanner': 'The run that compresses and deduplicates existing data.',
      'efficiency.space_savings': 'Bytes that compression and deduplication save.',
      tiering: 'Tiering of cold data to a cloud store.',
      activity_tracking: 'Tracking of the busiest files and clients of the volume.',
      anti_ransomware: 'Detection of ransomware in the volume.',
      snapmirror: 'Replication of the volume.',
      'snapmirror.destinations': 'Where the volume is replicated to.',
      'space.snapshot.autodelete': 'Automatic deletion of snapshots when space is short.',
      'nas.export_policy': 'The export policy that decides which NFS clients may use the volume.',
      restore_to: 'A restore of the volume, or of a part of it, from a snapshot.',
      'restore_to.snapshot': 'The snapshot to restore from.',
    }),
    uuid: { doc: 'The UUID of the volume, the same for its whole life.', kind: uuid() },
    name: { doc: 'The name of the volume, unique within its SVM.', kind: name(), set: 'always', required: true },
    svm: { doc: 'The SVM that the volume belongs to.', ref: 'svm/svms', set: 'create', required: true },
    aggregates: {
      doc: 'The aggregate that stores the volume. Default: the aggregate with the most free space.',
      refs: 'storage/aggregates',
      set: 'create',
    },
    size: {
      isAlwaysSet: true,
      doc: 'The maximum number of bytes in the volume, including snapshots. Default: 1 GB, or the size of the parent for a clone.',
      kind: bytes({ min: VOLUME_BYTES_MIN, max: VOLUME_BYTES_MAX }),
      set: 'always',
    },
    ...autosizeFields({ min: VOLUME_BYTES_MIN, max: VOLUME_BYTES_MAX }),
    state: {
      danger: 'disruptive',
      doc: 'Whether clients can use the volume.',
      kind: oneOf({
        online: 'Clients read and write.',
        offline: 'Clients get errors, and snapshots cannot be taken.',
        restricted: 'Clients get errors, but snapshots can be taken and restored.',
      }),
      set: 'always',
      default: 'online',
    },
    type: {
      doc: 'The role of the volume in replication.',
      kind: oneOf({
        rw: 'Clients read and write.',
        dp: 'The destination of a replication; clients only read.',
        ls: 'A load-sharing mirror; clients only read.',
      }),
      set: 'create',
      default: 'rw',
    },
    style: {
      doc: 'The layout of the volume over aggregates.',
      kind: oneOf({ flexvol: 'One aggregate stores the whole volume.' }),
      set: 'create',
      default: 'flexvol',
    },
    comment: { doc: 'A comment that describes the volume.', kind: text({ charactersMax: 1023 }), set: 'always' },
    guarantee: { doc: 'How much of the size of the volume the aggregate sets aside.', isGroup: true },
    'guarantee.type': {
      doc: 'How the aggregate reserves space for the volume.',
      kind: oneOf({
        volume: 'The aggregate reserves the whole size of the volume. This is the default.',
        none: 'The volume takes space only as data is written.',
      }),
      set: 'always',
    },
    'guarantee.honored': { doc: 'Whether the aggregate can keep the guarantee.', kind: flag() },
    snapshot_policy: {
      doc: 'The policy that takes snapshots of the volume. Default: `default`, or the policy of the parent for a clone.',
      ref: 'storage/snapshot-policies',
      set: 'always',
    },
    qos: { doc: 'Quality of service of the volume.', isGroup: true },
    'qos.policy': {
      doc: 'The QoS policy that limits the throughput of the volume.',
      ref: 'storage/qos/policies',
      noneName: 'none',
      set: 'always',
    },
    ...nasFields,
    ...keptFields,
    ...fileSettingFields,
    ...quotaFields,
    ...movementFields,
    ...efficiencyFields,
    ...exportPolicyFields(
      'nas.export_policy',
      'The export policy that decides which NFS clients may mount the volume. Default: the policy `default` of the SVM.',
    ),
    create_time: { doc: 'When the volume was created.', kind: time() },
    snapshot_count: { doc: 'The number of snapshots of the volume.', kind: count(), since: '9.10.1' },
    is_object_store: { doc: 'Whether the volume is the root volume of an object store server.', kind: flag() },
    space: { doc: 'The space of the volume and how it is used.', isGroup: true },
    'space.size': {
      doc: 'The maximum number of bytes in the volume. Equal to `size`.',
      kind: bytes({ min: VOLUME_BYTES_MIN, max: VOLUME_BYTES_MAX }),
      set: 'always',
      isInput: true,
    },
    'space.used': {
      doc: 'Bytes that store objects and open uploads, and snapshots beyond the snapshot reserve.',
      kind: bytes(),
    },
    'space.available': { doc: 'Bytes that can still be written to the volume.', kind: bytes() },
    'space.percent_used': {
      doc: 'Used space, in percent of the size without the snapshot reserve.',
      kind: percent(),
      since: '9.9.1',
    },
    ...reserveFields,
    'space.footprint': {
      doc: 'Bytes that the volume takes from its aggregate, including its guarantee.',
      kind: bytes(),
    },
    ...finerSpaceFields,
    ...cloneFields,
    ...restoreFields,
    ...membershipFields,
    ...operationFields,
    ...flexcacheFields,
    ...tagFields,
  },
})

export const volumes: Behaviour<typeof volumesResource> = define(volumesResource, {
  derive: [
    ...volumeSpace,
    ...cloneReadings,
    ...keptReadings,
    ...fileSettingReadings,
    ...finerSpaceReadings,
    volumeQuota,
    movement,
    volumeEfficiency,
    exportPolicyReading('nas.export_policy'),
    ...membership,
    ...volumeMetrics,
  ],
  create: createVolume,
  modify: modifyVolume,
  remove: removeVolume,
  actions: volumeActions,
})
