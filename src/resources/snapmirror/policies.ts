import { count, each, flag, oneOf, text, uuid } from '../../model/kinds/index.ts'
import { emptyCollection } from '../empty-collection.ts'

export const snapmirrorPolicies = emptyCollection({
  path: '/snapmirror/policies',
  noun: 'SnapMirror policy',
  doc: 'Policies of replication to other clusters. The product does not replicate, so the collection is empty.',
  key: ['uuid'],
  fields: {
    uuid: { doc: 'The UUID of the policy.', kind: uuid() },
    name: { doc: 'The name of the policy.' },
    svm: { doc: 'The SVM that owns the policy. Not set for policies of the cluster.', ref: 'svm/svms' },
    scope: {
      doc: 'Whether an SVM or the cluster owns the policy.',
      kind: oneOf({ svm: 'The policy belongs to an SVM.', cluster: 'The policy belongs to the cluster.' }),
    },
    type: {
      doc: 'How relationships with the policy replicate.',
      kind: oneOf({
        async: 'Transfers run by a schedule.',
        sync: 'Writes wait for the destination.',
        continuous: 'Changes are transferred continuously.',
      }),
    },
    comment: { doc: 'A note about the policy.' },
    transfer_schedule: { doc: 'The schedule that starts transfers.', ref: 'cluster/schedules' },
    retention: {
      doc: 'Which snapshots the destination keeps.',
      kind: each({
        label: { kind: text(), doc: 'The SnapMirror label of the snapshots that the rule is about.' },
        count: { kind: count(), doc: 'How many snapshots with the label the destination keeps.' },
      }),
    },
    create_snapshot_on_source: { doc: 'Whether a transfer creates a snapshot at the source.', kind: flag() },
    network_compression_enabled: { doc: 'Whether transfers are compressed.', kind: flag() },
    throttle: { doc: 'The most that transfers may use, in KB per second. 0 is unlimited.', kind: count() },
    copy_latest_source_snapshot: {
      doc: 'Whether only the latest snapshot of the source is copied.',
      kind: flag(),
      since: '9.11.1',
    },
    copy_all_source_snapshots: { doc: 'Whether all snapshots of the source are copied.', kind: flag() },
    sync_type: {
      doc: 'Whether writes wait for the destination.',
      kind: oneOf({
        sync: 'Writes continue without the destination.',
        strict_sync: 'Writes fail without the destination.',
      }),
    },
    identity_preservation: {
      doc: 'How much of the configuration of the SVM is replicated.',
      kind: oneOf({
        full: 'The whole configuration.',
        exclude_network_config: 'All but the network configuration.',
        exclude_network_and_protocol_config: 'All but the configuration of network and protocols.',
      }),
    },
  },
})
