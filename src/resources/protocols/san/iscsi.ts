import { flag, oneOf } from '../../../model/kinds/index.ts'
import { groups } from '../../../model/resource.ts'
import { emptyCollection } from '../../empty-collection.ts'

export const iscsiServices = emptyCollection({
  path: '/protocols/san/iscsi/services',
  noun: 'iSCSI service',
  doc: 'iSCSI services of SVMs. The product serves objects only, so the collection is empty.',
  key: ['svm.uuid'],
  fields: {
    ...groups({ target: 'The iSCSI target of the service.' }),
    svm: { doc: 'The SVM whose service it is.', ref: 'svm/svms' },
    enabled: { doc: 'Whether the service runs.', kind: flag() },
    'target.name': { doc: 'The IQN of the service.' },
    'target.alias': { doc: 'The alias of the service.' },
  },
})

export const iscsiCredentials = emptyCollection({
  path: '/protocols/san/iscsi/credentials',
  noun: 'iSCSI credential',
  doc: 'How iSCSI initiators log in. The product serves objects only, so the collection is empty.',
  key: ['svm.uuid', 'initiator'],
  fields: {
    ...groups({
      chap: 'CHAP authentication.',
      'chap.inbound': 'The credentials of initiators.',
      'chap.outbound': 'The credentials of the target.',
    }),
    svm: { doc: 'The SVM that the initiator logs in to.', ref: 'svm/svms' },
    initiator: { doc: 'The IQN of the initiator, or `default`.' },
    authentication_type: {
      doc: 'How the initiator logs in.',
      kind: oneOf({ chap: 'With CHAP.', none: 'Without authentication.', deny: 'Logins are refused.' }),
    },
    'chap.inbound.user': { doc: 'The name that the initiator logs in with.' },
    'chap.outbound.user': { doc: 'The name that the SVM answers with.' },
  },
})
