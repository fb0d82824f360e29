import { define } from '../../core/behaviour.ts'
import { bytes, count, flag, name, oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { operationFields } from '../metric-readings.ts'
import { createVolume, modifyVolume, removeVolume, VOLUME_BYTES_MAX, VOLUME_BYTES_MIN } from './volume-verbs.ts'
import { autosizeFields } from './volumes/autosize.ts'
import { efficiencyFields, volumeEfficiency } from './volumes/efficiency.ts'
import { volumeMetrics, volumeSpace } from './volume-readings.ts'

const GB = 2 ** 30

export const volumes = define(
  {
    path: '/storage/volumes',
    noun: 'volume',
    doc: 'Volumes: each with a size it cannot exceed, its own snapshots, and the buckets that live in it.',
    key: ['uuid'],
    parent: 'svm.uuid',
    nameWithin: 'svm.uuid',
    fields: {
      uuid: { doc: 'The UUID of the volume, the same for its whole life.', kind: uuid() },
      name: { doc: 'The name of the volume, unique within its SVM.', kind: name(), set: 'always', required: true },
      svm: { doc: 'The SVM it belongs to.', ref: 'svm/svms', set: 'create', required: true },
      aggregates: {
        doc: 'The aggregate it lies in. Without it, the one with most space.',
        refs: 'storage/aggregates',
        set: 'create',
      },
      size: {
        doc: 'The most bytes it may hold, snapshots included.',
        kind: bytes({ min: VOLUME_BYTES_MIN, max: VOLUME_BYTES_MAX }),
        set: 'always',
        default: GB,
      },
      ...autosizeFields({ min: VOLUME_BYTES_MIN, max: VOLUME_BYTES_MAX }),
      state: {
        doc: '`offline`: nobody reaches its data. `restricted`: clients do not, while snapshots are taken and restored.',
        kind: oneOf('online', 'offline', 'restricted'),
        set: 'always',
        default: 'online',
      },
      type: {
        doc: 'Read-write, or the destination of a replication.',
        kind: oneOf('rw'),
        set: 'create',
        default: 'rw',
      },
      style: { doc: 'How it is laid out over aggregates.', kind: oneOf('flexvol'), set: 'create', default: 'flexvol' },
      comment: { doc: 'Whatever helps to tell it apart.', kind: text({ charactersMax: 1023 }), set: 'always' },
      'guarantee.type': {
        doc: '`volume`: its whole size is set aside in the aggregate. `none`: space is taken as it is used.',
        kind: oneOf('volume', 'none'),
        set: 'always',
        default: 'volume',
      },
      'guarantee.honored': { doc: 'Whether the aggregate can keep the guarantee.', kind: flag() },
      snapshot_policy: {
        doc: 'The policy that makes snapshots of it.',
        ref: 'storage/snapshot-policies',
        set: 'always',
        default: 'default',
      },
      'qos.policy': { doc: 'Its ceilings of throughput.', ref: 'storage/qos/policies', set: 'always' },
      ...efficiencyFields,
      create_time: { doc: 'When it was made.', kind: time() },
      snapshot_count: { doc: 'How many snapshots it has.', kind: count(), since: '9.10.1' },
      is_object_store: { doc: 'Whether it is the root volume of an object store server.', kind: flag() },
      'space.size': { doc: 'The same as size.', kind: bytes() },
      'space.used': { doc: 'Bytes that objects, open uploads and snapshots are stored in.', kind: bytes() },
      'space.available': { doc: 'Bytes that can still be written.', kind: bytes() },
      'space.percent_used': { doc: 'Used, in percent of the size.', kind: count(), since: '9.9.1' },
      'space.snapshot.used': { doc: 'Bytes that only snapshots hold.', kind: bytes() },
      'space.footprint': { doc: 'Bytes it takes from its aggregate, its guarantee included.', kind: bytes() },
      ...operationFields,
    },
  },
  {
    derive: [volumeSpace, volumeEfficiency, ...volumeMetrics],
    create: createVolume,
    modify: modifyVolume,
    remove: removeVolume,
  },
)
