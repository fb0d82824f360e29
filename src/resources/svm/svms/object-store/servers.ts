import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { resource } from '../../../../model/resource.ts'
import { serverFaces, serverFields } from '../../../protocols/s3/server-fields.ts'
import { createServer, modifyServer, removeServer } from '../../../protocols/s3/server-verbs.ts'

const serversResource = resource({
  path: '/svm/svms/{svm.uuid}/object-store/servers',
  noun: 'object store server',
  doc: 'The object store servers of an SVM.',
  key: ['uuid'],
  rowsOf: 'protocols/s3/services',
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  createMethod: 'PUT',
  ...serverFaces,
  fields: serverFields({ rootIsRequired: true }),
})

export const servers: Behaviour<typeof serversResource> = define(serversResource, {
  create: {
    ...createServer,
    example: {
      name: 's3_example',
      'root_volume.name': 'vol_root',
      data_volumes: [{ name: 'vol1' }],
      bucket_endpoint_style: 'path_style',
    },
  },
  modify: modifyServer,
  remove: removeServer,
})
