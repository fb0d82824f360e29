import { bytes, count, flag, oneOf, text, uuid } from '../../model/kinds/index.ts'
import { groups } from '../../model/resource.ts'
import { emptyCollection } from '../empty-collection.ts'

export const namespaces = emptyCollection({
  path: '/storage/namespaces',
  noun: 'NVMe namespace',
  doc: 'Block devices for NVMe hosts. The product serves objects only, so the collection is empty.',
  key: ['uuid'],
  fields: {
    ...groups({
      location: 'Where the namespace lies.',
      'location.volume': 'The volume that holds the namespace.',
      'location.qtree': 'The qtree that holds the namespace.',
      'location.node': 'The node that serves the namespace.',
      space: 'The space of the namespace.',
      status: 'The state of the namespace.',
      subsystem_map: 'The subsystem that the namespace is mapped to.',
      'subsystem_map.subsystem': 'The subsystem that the namespace is mapped to.',
    }),
    uuid: { doc: 'The UUID of the namespace.', kind: uuid() },
    name: { doc: 'The path of the namespace: `/vol/<volume>/<qtree>/<namespace>`.' },
    svm: { doc: 'The SVM that owns the namespace.', ref: 'svm/svms' },
    os_type: { doc: 'The operating system of the hosts.', kind: text() },
    enabled: { doc: 'Whether hosts may use the namespace.', kind: flag() },
    comment: { doc: 'A note about the namespace.' },
    'location.volume.name': { doc: 'The name of the volume that holds the namespace.' },
    'location.qtree.name': { doc: 'The name of the qtree that holds the namespace.' },
    'location.node.name': { doc: 'The name of the node that serves the namespace.' },
    'space.block_size': { doc: 'The size of a block in bytes.', kind: count({ unit: 'bytes' }) },
    'space.size': { doc: 'The size of the namespace in bytes.', kind: bytes() },
    'space.used': { doc: 'Bytes that the namespace uses of its volume.', kind: bytes() },
    'status.state': {
      doc: 'Whether the namespace is served.',
      kind: oneOf({
        online: 'Hosts can use the namespace.',
        offline: 'Hosts cannot use the namespace.',
        nvfail: 'The namespace was taken offline after a failure of NVRAM.',
      }),
    },
    'status.read_only': { doc: 'Whether the namespace can only be read.', kind: flag() },
    'status.mapped': { doc: 'Whether a subsystem has the namespace.', kind: flag() },
    'subsystem_map.nsid': { doc: 'The number of the namespace within its subsystem.' },
    'subsystem_map.subsystem.name': { doc: 'The name of the subsystem that has the namespace.' },
    'subsystem_map.subsystem.uuid': { doc: 'The UUID of the subsystem that has the namespace.', kind: uuid() },
  },
})
