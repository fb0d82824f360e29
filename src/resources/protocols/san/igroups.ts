import { count, each, flag, group, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { groups } from '../../../model/resource.ts'
import { emptyCollection } from '../../empty-collection.ts'

export const igroups = emptyCollection({
  path: '/protocols/san/igroups',
  noun: 'initiator group',
  doc: 'Groups of SAN hosts that LUNs are mapped to. The product serves objects only, so the collection is empty.',
  key: ['uuid'],
  fields: {
    ...groups({
      connectivity_tracking: 'Whether initiators of the group are connected.',
      portset: 'The set of ports that the group may use.',
    }),
    uuid: { doc: 'The UUID of the initiator group.', kind: uuid() },
    name: { doc: 'The name of the initiator group.' },
    svm: { doc: 'The SVM that owns the initiator group.', ref: 'svm/svms' },
    os_type: { doc: 'The operating system of the hosts.', kind: text() },
    protocol: {
      doc: 'The protocols that the group is for.',
      kind: oneOf({ fcp: 'Fibre Channel.', iscsi: 'iSCSI.', mixed: 'Fibre Channel and iSCSI.' }),
    },
    comment: { doc: 'A note about the initiator group.', since: '9.9.1' },
    delete_on_unmap: { doc: 'Whether the group is deleted with its last LUN map.', kind: flag() },
    initiators: {
      doc: 'The initiators of the group.',
      kind: each({ name: { kind: text(), doc: 'The IQN or WWPN of the initiator.' } }),
    },
    igroups: {
      doc: 'The initiator groups within the group.',
      kind: each({
        name: { kind: text(), doc: 'The name of the initiator group.' },
        uuid: { kind: uuid(), doc: 'The UUID of the initiator group.' },
      }),
      since: '9.9.1',
    },
    parent_igroups: {
      doc: 'The initiator groups that the group is within.',
      kind: each({
        name: { kind: text(), doc: 'The name of the initiator group.' },
        uuid: { kind: uuid(), doc: 'The UUID of the initiator group.' },
      }),
      since: '9.9.1',
    },
    supports_igroups: { doc: 'Whether the group may have groups within it.', kind: flag(), since: '9.9.1' },
    lun_maps: {
      doc: 'The LUNs that the initiators of the group see.',
      kind: each({
        logical_unit_number: { kind: count(), doc: 'The number by which hosts address the LUN.' },
        lun: {
          kind: group({
            name: { kind: text(), doc: 'The path of the LUN.' },
            uuid: { kind: uuid(), doc: 'The UUID of the LUN.' },
          }),
          doc: 'The LUN.',
        },
      }),
    },
    'portset.name': { doc: 'The name of the set of ports that the group may use.', since: '9.9.1' },
    'portset.uuid': { doc: 'The UUID of the set of ports that the group may use.', kind: uuid(), since: '9.9.1' },
    'connectivity_tracking.connection_state': {
      doc: 'Whether the initiators are logged in.',
      kind: oneOf({
        full: 'All initiators are logged in.',
        partial: 'Some initiators are logged in.',
        none: 'No initiator is logged in.',
        no_initiators: 'The group has no initiators.',
        no_lun_maps: 'The group has no LUNs.',
      }),
      since: '9.11.1',
    },
  },
})
