import { bytes, count, decimal, duration, each, flag, list, oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { fieldsBelow } from '../../model/fields-below.ts'
import { groups, resource } from '../../model/resource.ts'
import { type Behaviour, define } from '../../core/behaviour.ts'

const TRANSFERS = {
  initialize: 'The first transfer.',
  update: 'A transfer of changes.',
  resync: 'A transfer that makes source and destination equal again.',
  restore: 'A transfer back to the source.',
} as const

function endpoint<const Base extends 'source' | 'destination'>(base: Base) {
  const volume = {
    name: { kind: text(), doc: 'The name of the volume.' },
    uuid: { kind: uuid(), doc: 'The UUID of the volume.' },
  }
  return {
    ...fieldsBelow(base, ['path'], () => ({ doc: `The ${base}, as \`<svm>:<volume>\`.` })),
    ...fieldsBelow(base, ['svm.name'], () => ({ doc: `The name of the SVM of the ${base}.` })),
    ...fieldsBelow(base, ['svm.uuid'], () => ({ doc: `The UUID of the SVM of the ${base}.`, kind: uuid() })),
    ...fieldsBelow(base, ['cluster.name'], () => ({
      doc: `The name of the cluster of the ${base}.`,
      since: '9.7',
    })),
    ...fieldsBelow(base, ['cluster.uuid'], () => ({
      doc: `The UUID of the cluster of the ${base}.`,
      kind: uuid(),
      since: '9.7',
    })),
    ...fieldsBelow(base, ['consistency_group_volumes'], () => ({
      doc: `The volumes of the ${base}, where it is a consistency group.`,
      kind: each(volume),
      since: '9.8',
    })),
  }
}

const snapmirrorRelationshipsResource = resource({
  path: '/snapmirror/relationships',
  noun: 'SnapMirror relationship',
  doc: 'Replication of volumes to other volumes. The product does not replicate, so the collection is empty.',
  key: ['uuid'],
  nameWithin: false,
  fields: {
    ...groups({
      source: 'The source of the data.',
      'source.svm': 'The SVM of the source.',
      'source.cluster': 'The cluster of the source.',
      destination: 'The destination of the data.',
      'destination.svm': 'The SVM of the destination.',
      'destination.cluster': 'The cluster of the destination.',
      transfer: 'The last transfer of the relationship.',
      consistency_group_failover: 'A failover of the consistency group.',
      'consistency_group_failover.status': 'How far the failover is.',
    }),
    uuid: { doc: 'The UUID of the relationship.', kind: uuid() },
    ...endpoint('source'),
    ...endpoint('destination'),
    state: {
      doc: 'Whether the destination follows the source.',
      kind: oneOf({
        broken_off: 'The destination is writable.',
        paused: 'Transfers are paused.',
        snapmirrored: 'The destination follows the source.',
        uninitialized: 'Nothing was transferred yet.',
        in_sync: 'Source and destination are equal.',
        out_of_sync: 'Source and destination differ.',
        synchronizing: 'The destination catches up with the source.',
        expanding: 'Volumes are being added.',
        shrinking: 'Volumes are being removed.',
      }),
    },
    healthy: { doc: 'Whether the last transfer succeeded in time.', kind: flag() },
    unhealthy_reason: {
      doc: 'Why the relationship is not healthy.',
      kind: each({
        code: { kind: text(), doc: 'The code of the reason.' },
        message: { kind: text(), doc: 'The reason as a sentence.' },
      }),
    },
    lag_time: { doc: 'How old the newest snapshot of the destination is.', kind: duration() },
    exported_snapshot: { doc: 'The snapshot that clients of the destination read.' },
    restore: { doc: 'Whether the relationship restores a volume.', kind: flag() },
    throttle: { doc: 'The most that transfers may use, in KB per second.', kind: count(), since: '9.11.1' },
    policy: { doc: 'The policy of the relationship.', ref: 'snapmirror/policies' },
    'policy.type': {
      doc: 'How the policy replicates.',
      kind: oneOf({
        async: 'Transfers run by a schedule.',
        sync: 'Writes wait for the destination.',
        continuous: 'Changes are transferred continuously.',
      }),
    },
    transfer_schedule: { doc: 'The schedule that starts transfers.', ref: 'cluster/schedules', since: '9.11.1' },
    group_type: {
      doc: 'The kind of group that the relationship replicates.',
      kind: oneOf({
        none: 'A single volume.',
        svm_dr: 'A whole SVM.',
        consistency_group: 'A consistency group.',
        flexgroup: 'A FlexGroup volume.',
      }),
      since: '9.11.1',
    },
    identity_preservation: {
      doc: 'How much of the configuration of the SVM is replicated.',
      kind: oneOf({
        full: 'The whole configuration.',
        exclude_network_config: 'All but the network configuration.',
        exclude_network_and_protocol_config: 'All but the configuration of network and protocols.',
      }),
      since: '9.11.1',
    },
    'transfer.uuid': { doc: 'The UUID of the last transfer of the relationship.', kind: uuid() },
    'transfer.state': {
      doc: 'The state of the last transfer of the relationship.',
      kind: oneOf({
        aborted: 'The transfer was aborted and can be resumed.',
        failed: 'The transfer failed.',
        hard_aborted: 'The transfer was aborted and cannot be resumed.',
        queued: 'The transfer waits for its turn.',
        success: 'The transfer succeeded.',
        transferring: 'The transfer is in progress.',
      }),
    },
    'transfer.type': {
      doc: 'The kind of the last transfer of the relationship.',
      kind: oneOf(TRANSFERS),
      since: '9.14.1',
    },
    'transfer.bytes_transferred': {
      doc: 'Bytes that the last transfer of the relationship copied so far.',
      kind: bytes(),
    },
    'transfer.end_time': { doc: 'When the last transfer of the relationship ended.', kind: time(), since: '9.9.1' },
    'transfer.total_duration': {
      doc: 'How long the last transfer of the relationship took.',
      kind: duration(),
      since: '9.9.1',
    },
    'transfer.last_updated_time': {
      doc: 'When the state of the last transfer of the relationship was read.',
      kind: time(),
      since: '9.14.1',
    },
    last_transfer_type: { doc: 'The kind of the last transfer.', kind: oneOf(TRANSFERS), since: '9.11.1' },
    last_transfer_network_compression_ratio: {
      doc: 'The compression ratio of the last transfer on the network.',
      kind: decimal(),
      since: '9.13.1',
    },
    total_transfer_bytes: { doc: 'Bytes of all transfers so far.', kind: bytes(), since: '9.13.1' },
    total_transfer_duration: { doc: 'How long all transfers took so far.', kind: duration(), since: '9.13.1' },
    'consistency_group_failover.status.message': {
      doc: 'How far the failover of a consistency group is.',
      since: '9.14.1',
    },
    svmdr_volumes: { doc: 'The volumes of an SVM that is replicated whole.', kind: list(text()), since: '9.13.1' },
  },
})

export const snapmirrorRelationships: Behaviour<typeof snapmirrorRelationshipsResource> = define(
  snapmirrorRelationshipsResource,
  {
    readArgs: {
      list_destinations_only: {
        doc: 'Whether to return relationships by their source instead of their destination.',
        kind: flag(),
      },
    },
    rows: () => Promise.resolve([]),
  },
)
