import { each, flag, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { groups } from '../../../model/resource.ts'
import { emptyCollection } from '../../empty-collection.ts'

export const igroups = emptyCollection({
  path: '/protocols/san/igroups',
  noun: 'initiator group',
  doc: 'Groups of SAN hosts that LUNs are mapped to. The product serves objects only, so the collection is empty.',
  key: ['uuid'],
  fields: {
    ...groups({ connectivity_tracking: 'Whether initiators of the group are connected.' }),
    uuid: { doc: 'The UUID of the initiator group.', kind: uuid() },
    name: { doc: 'The name of the initiator group.' },
    svm: { doc: 'The SVM that owns the initiator group.', ref: 'svm/svms' },
    os_type: { doc: 'The operating system of the hosts.', kind: text() },
    protocol: { doc: 'The protocols that the group is for.', kind: oneOf('fcp', 'iscsi', 'mixed') },
    comment: { doc: 'A note about the initiator group.', since: '9.9.1' },
    delete_on_unmap: { doc: 'Whether the group is deleted with its last LUN map.', kind: flag() },
    initiators: {
      doc: 'The initiators of the group.',
      kind: each({ name: { kind: text(), doc: 'The IQN or WWPN of the initiator.' } }),
    },
    'connectivity_tracking.connection_state': {
      doc: 'Whether the initiators are logged in.',
      kind: oneOf('full', 'partial', 'none', 'no_initiators', 'no_lun_maps'),
      since: '9.11.1',
    },
  },
})
