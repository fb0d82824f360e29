import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { each, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { lastSample, operationFields, totals } from '../../metric-readings.ts'
import { serverFaces, serverFields } from './server-fields.ts'
import { createServer, modifyServer, removeServer } from './server-verbs.ts'
import { USERS } from './services/user-keys.ts'
import type { ObjectServer } from '../../../records/rows.ts'
import type { DraftOf, RowOf } from '../../../model/rows.ts'

const svmOf = (row: DraftOf<'protocols/s3/services'>) => row['svm.uuid'] ?? ''

const usersOfServers: Derivation<ObjectServer> = {
  gives: ['users'],
  async from(cluster, rows) {
    const shown: DraftOf<'protocols/s3/services'>[] = []
    for (const row of rows) {
      const users = (await cluster.rows(USERS, svmOf(row))).map(shownUser)
      shown.push({ users })
    }
    return shown
  },
}

function shownUser({ name, comment = '', access_key }: RowOf<typeof USERS>) {
  return { name, comment, ...(access_key === undefined ? {} : { access_key }) }
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
