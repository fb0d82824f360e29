import { type Behaviour, define } from '../../../core/behaviour.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failure } from '../../../model/failure.ts'
import { groups, resource } from '../../../model/resource.ts'
import type { FieldDeclaration } from '../../../model/resource.ts'
import { totalFields } from '../../metric-readings.ts'
import { serviceFields } from './services/fields.ts'

export const NFS_SERVICES = 'protocols/nfs/services'

/** No files are served yet, so nothing is counted, and none of these is set. Tools filter by them. */
const uncounted = Object.assign(
  {},
  ...['v3', 'v4', 'v41'].map((version) => totalFields(`statistics.${version}`)),
) as Record<string, FieldDeclaration>

const plain = plainVerbs(NFS_SERVICES, {
  example: { 'svm.name': 'svm1', protocol: { v3_enabled: true, v40_enabled: false } },
  check(_cluster, row) {
    if (row['transport.tcp_enabled'] === false && row['transport.udp_enabled'] === false && row['enabled'] === true) {
      throw failure('nfsTransportMissing')
    }
    return { ...row, state: row['enabled'] === true ? 'online' : 'offline' }
  },
})

const nfsServicesResource = resource({
  path: `/${NFS_SERVICES}`,
  noun: 'NFS service',
  doc: 'NFS services of SVMs. Stored without effect: files are not served yet.',
  key: ['svm.uuid'],
  recordKey: ['svm.uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  columns: ['svm.name', 'enabled', 'protocol.v3_enabled', 'protocol.v40_enabled', 'protocol.v41_enabled'],
  form: {
    Service: ['svm.name', 'enabled'],
    Versions: ['protocol.v3_enabled', 'protocol.v40_enabled', 'protocol.v41_enabled'],
  },
  removal: 'undoable',
  fields: {
    ...groups({
      protocol: 'Versions of NFS and their features.',
      'protocol.v3_features': 'Features of NFSv3.',
      'protocol.v40_features': 'Features of NFSv4.0.',
      'protocol.v41_features': 'Features of NFSv4.1.',
      'protocol.v42_features': 'Features of NFSv4.2.',
      transport: 'Transport protocols of NFS.',
      credential_cache: 'How long credentials of NFS clients are cached.',
      exports: 'How clients are matched to export rules.',
      qtree: 'Exports of qtrees.',
      root: 'Rights of the user root.',
      security: 'Ownership, ACLs and Kerberos of NFS.',
      windows: 'How NFS treats Windows users and clients.',
      statistics: 'Operations by version of NFS.',
      'statistics.v3': 'Operations of NFSv3.',
      'statistics.v4': 'Operations of NFSv4.0.',
      'statistics.v41': 'Operations of NFSv4.1.',
    }),
    ...serviceFields,
    ...uncounted,
  },
})

export const nfsServices: Behaviour<typeof nfsServicesResource> = define(nfsServicesResource, {
  ...plain,
  create: {
    ...plain.create,
    async plan(cluster, request) {
      if ((await cluster.find(NFS_SERVICES, request.draft['svm.uuid'])) !== undefined) {
        throw failure('nfsServiceTaken')
      }
      return plain.create.plan(cluster, request)
    },
  },
})
