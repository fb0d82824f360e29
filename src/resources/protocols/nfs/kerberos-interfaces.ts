import { address, flag, uuid } from '../../../model/kinds/index.ts'
import { groups } from '../../../model/resource.ts'
import { emptyCollection } from '../../empty-collection.ts'

export const kerberosInterfaces = emptyCollection({
  path: '/protocols/nfs/kerberos/interfaces',
  noun: 'Kerberos interface',
  doc: 'Network interfaces that serve NFS with Kerberos. The product does not serve NFS, so the collection is empty.',
  key: ['interface.uuid'],
  fields: {
    ...groups({
      interface: 'The network interface that uses Kerberos.',
      'interface.ip': 'The IP address of the network interface.',
    }),
    'interface.uuid': { doc: 'The UUID of the network interface.', kind: uuid() },
    'interface.name': { doc: 'The name of the network interface.' },
    'interface.ip.address': { doc: 'The address of the network interface.', kind: address() },
    svm: { doc: 'The SVM of the network interface.', ref: 'svm/svms' },
    enabled: { doc: 'Whether clients may use Kerberos at the interface.', kind: flag() },
    spn: { doc: 'The service principal name.' },
    organizational_unit: { doc: 'The organizational unit of the machine account.' },
  },
})
