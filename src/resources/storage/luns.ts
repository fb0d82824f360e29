import { bytes, flag, oneOf, text, uuid } from '../../model/kinds/index.ts'
import { groups } from '../../model/resource.ts'
import { emptyCollection } from '../empty-collection.ts'

export const luns = emptyCollection({
  path: '/storage/luns',
  noun: 'LUN',
  doc: 'Block devices for SAN hosts. The product serves objects only, so the collection is empty.',
  key: ['uuid'],
  fields: {
    ...groups({
      location: 'Where the LUN lies.',
      'location.volume': 'The volume that holds the LUN.',
      'location.qtree': 'The qtree that holds the LUN.',
      'location.node': 'The node that serves the LUN.',
      space: 'The space of the LUN.',
      status: 'The state of the LUN.',
    }),
    uuid: { doc: 'The UUID of the LUN.', kind: uuid() },
    name: { doc: 'The path of the LUN: `/vol/<volume>/<qtree>/<lun>`.' },
    svm: { doc: 'The SVM that owns the LUN.', ref: 'svm/svms' },
    os_type: { doc: 'The operating system of the hosts.', kind: text() },
    serial_number: { doc: 'The serial number that hosts see, in ASCII.', kind: text() },
    serial_number_hex: { doc: 'The serial number that hosts see, in hexadecimal digits.', since: '9.8' },
    class: { doc: 'The kind of the LUN.', kind: oneOf('regular', 'protocol_endpoint', 'vvol') },
    enabled: { doc: 'Whether hosts may use the LUN.', kind: flag() },
    comment: { doc: 'A note about the LUN.' },
    'location.volume.name': { doc: 'The name of the volume that holds the LUN.' },
    'location.qtree.name': { doc: 'The name of the qtree that holds the LUN.' },
    'location.node.name': { doc: 'The name of the node that serves the LUN.', since: '9.10.1' },
    'location.logical_unit': { doc: 'The last part of the path of the LUN.' },
    'space.size': { doc: 'The size of the LUN in bytes.', kind: bytes() },
    'space.used': { doc: 'Bytes that the LUN uses of its volume.', kind: bytes() },
    'status.state': {
      doc: 'Whether the LUN is served.',
      kind: oneOf('online', 'offline', 'nvfail', 'foreign_lun_error'),
    },
    'status.mapped': { doc: 'Whether an initiator group has the LUN.', kind: flag() },
    'status.read_only': { doc: 'Whether the LUN can only be read.', kind: flag() },
  },
})
