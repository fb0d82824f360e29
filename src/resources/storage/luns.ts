import { bytes, count, each, flag, group, oneOf, text, time, uuid } from '../../model/kinds/index.ts'
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
      'space.guarantee': 'The space that is set aside for the LUN.',
      consistency_group: 'The consistency group of the LUN.',
    }),
    uuid: { doc: 'The UUID of the LUN.', kind: uuid() },
    name: { doc: 'The path of the LUN: `/vol/<volume>/<qtree>/<lun>`.' },
    svm: { doc: 'The SVM that owns the LUN.', ref: 'svm/svms' },
    os_type: { doc: 'The operating system of the hosts.', kind: text() },
    serial_number: { doc: 'The serial number that hosts see, in ASCII.', kind: text() },
    serial_number_hex: { doc: 'The serial number that hosts see, in hexadecimal digits.', since: '9.8' },
    class: {
      doc: 'The kind of the LUN.',
      kind: oneOf({
        regular: 'A LUN for hosts.',
        protocol_endpoint: 'An endpoint for virtual volumes.',
        vvol: 'A virtual volume.',
      }),
    },
    enabled: { doc: 'Whether hosts may use the LUN.', kind: flag() },
    comment: { doc: 'A note about the LUN.' },
    'location.volume.name': { doc: 'The name of the volume that holds the LUN.' },
    'location.qtree.name': { doc: 'The name of the qtree that holds the LUN.' },
    'location.node.name': { doc: 'The name of the node that serves the LUN.', since: '9.10.1' },
    'location.logical_unit': { doc: 'The last part of the path of the LUN.' },
    'space.size': { doc: 'The size of the LUN in bytes.', kind: bytes() },
    'space.used': { doc: 'Bytes that the LUN uses of its volume.', kind: bytes() },
    'space.guarantee.requested': { doc: 'Whether space is to be set aside for the LUN.', kind: flag() },
    'space.guarantee.reserved': { doc: 'Whether space is set aside for the LUN.', kind: flag() },
    'space.scsi_thin_provisioning_support_enabled': {
      doc: 'Whether hosts may give back space that they do not need.',
      kind: flag(),
      since: '9.10.1',
    },
    create_time: { doc: 'When the LUN was created.', kind: time(), since: '9.7' },
    auto_delete: { doc: 'Whether the LUN may be deleted to make room in its volume.', kind: flag() },
    'consistency_group.name': { doc: 'The name of the consistency group of the LUN.', since: '9.10.1' },
    'consistency_group.uuid': {
      doc: 'The UUID of the consistency group of the LUN.',
      kind: uuid(),
      since: '9.10.1',
    },
    qos_policy: { doc: 'The QoS policy of the LUN.', ref: 'storage/qos/policies' },
    lun_maps: {
      doc: 'The initiator groups that see the LUN.',
      kind: each({
        logical_unit_number: { kind: count(), doc: 'The number by which hosts see the LUN.' },
        igroup: {
          kind: group({
            name: { kind: text(), doc: 'The name of the initiator group.' },
            uuid: { kind: uuid(), doc: 'The UUID of the initiator group.' },
          }),
          doc: 'The initiator group.',
        },
      }),
    },
    'status.state': {
      doc: 'Whether the LUN is served.',
      kind: oneOf({
        online: 'Hosts can use the LUN.',
        offline: 'Hosts cannot use the LUN.',
        nvfail: 'The LUN was taken offline after a failure of NVRAM.',
        foreign_lun_error: 'The imported LUN has an error.',
      }),
    },
    'status.mapped': { doc: 'Whether an initiator group has the LUN.', kind: flag() },
    'status.read_only': { doc: 'Whether the LUN can only be read.', kind: flag() },
  },
})
