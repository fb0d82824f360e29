import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { each, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import { lastSample, operationFields, totals } from '../../metric-readings.ts'
import { serverFaces, serverFields } from './server-fields.ts'
import { createServer, modifyServer, removeServer } from './server-verbs.ts'
import { USERS } from './services/user-keys.ts'
import type { ObjectServer } from '../../../records/rows.ts'
import type { DraftOf } from '../../../model/rows.ts'

const svmOf = (row: DraftOf<'protocols/s3/services'>) => row['svm.uuid'] ?? ''

const usersOfServers: Derivation<ObjectServer> = {
  gives: ['users'],
  async from(cluster, rows) {
    const shown: Row[] = []
    for (const row of rows) {
      const users = (await cluster.rows(USERS, svmOf(row))).map((user): Row => ({
        name: user['name'],
        comment: user['comment'] ?? '',
        access_key: user['access_key'] ?? null,
      }))
      shown.push({ users })
    }
    return shown
  },
}

const servicesResource = resource({
  path: '/protocols/s3/services',
  noun: 'object store server',
  doc: 'Object store servers, addressed by their SVM. If an SVM has several, only the first is shown.',
  key: ['svm.uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  ...serverFaces,
  within: { svm: 'blocks', certificate: 'blocks', root_volume: 'blocks', data_volumes: 'blocks' },
  fields: {
    ...serverFields({ rootIsRequired: false }),
    users: {
      doc: 'The users of the object store server. Make and change them at `/protocols/s3/services/{svm.uuid}/users`.',
      kind: each({
        name: { kind: text(), doc: 'The name of the user.' },
        comment: { kind: text(), doc: 'A comment that describes the user.' },
        access_key: { kind: text(), doc: 'The access key of the user. The secret key is never shown.' },
      }),
      isExpensive: true,
    },
    ...operationFields,
  },
})

export const services: Behaviour<typeof servicesResource> = define(servicesResource, {
  derive: [usersOfServers, lastSample(svmOf), totals('object_store_server', svmOf)],
  create: { ...createServer, example: { name: 's3.example.com', 'svm.name': 'svm_example' } },
  modify: { ...modifyServer, example: { comment: 'Backups of the office' } },
  remove: removeServer,
})
