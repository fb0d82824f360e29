import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { unsealed } from '../../../../core/access/sealed.ts'
import { removeRecord } from '../../../../core/plain.ts'
import { inline } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { name, text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import { sealedSecret } from '../../../../records/access-keys.ts'
import { giveUpName, insistOnName, takeName } from './namesakes.ts'
import { keyActions, keyFields, modifyUser, uniqueKey, USERS, withKeys } from './user-keys.ts'

export { USERS } from './user-keys.ts'

export const GROUPS = 'protocols/s3/services/{svm.uuid}/groups'

const usersResource = resource({
  path: '/protocols/s3/services/{svm.uuid}/users',
  noun: 'object store user',
  doc: 'Users of object store servers. A user has one pair of keys, which is valid at all servers of the cluster.',
  key: ['name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'access_key', 'key_expiry_time', 'comment'],
  form: { User: ['name', 'svm.name', 'comment'], Keys: ['key_time_to_live', 'access_key', 'secret_key'] },
  fields: {
    name: { doc: 'The name of the user.', kind: name({ charactersMax: 64 }), set: 'create', required: true },
    svm: { doc: 'The SVM that the user belongs to.', ref: 'svm/svms', set: 'create', required: true },
    comment: { doc: 'A comment that describes the user.', kind: text({ charactersMax: 256 }), set: 'always' },
    ...keyFields,
  },
})

export const users: Behaviour<typeof usersResource> = define(usersResource, {
  secrets: {
    // A pair: one without the other is refused. A user whose keys were taken away has neither.
    access_key: { read: (_cluster, row) => row['access_key'] },
    secret_key: {
      read: (cluster, row) => unsealed(cluster, row[sealedSecret]),
    },
  },
  create: inline({
    example: { name: 'user_example', comment: 'made to show how' },
    async plan(cluster, { draft }) {
      const key = `${draft['svm.uuid']}/${draft['name']}`
      if ((await cluster.find(USERS, key)) !== undefined) throw failure('objectStoreUserTaken')
      const { row, reveal } = await withKeys(cluster, draft)
      return { key, input: row, reveal }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        const row = { ...input, ...(await takeName(cluster, 'user', input['name'])) }
        await cluster.commit([
          insistOnName('user', row),
          cluster.put(USERS, row, { expect: 'absent', unique: uniqueKey(row) }),
        ])
      },
    },
  }),
  modify: modifyUser,
  actions: keyActions,
  remove: inline({
    plan: (_cluster, { row }) => {
      const key = `${row['svm.uuid']}/${row['name']}`
      return Promise.resolve({ key, input: {}, locks: [`${USERS}:${key}`] })
    },
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        const user = await cluster.find(USERS, key)
        if (user === undefined) return
        await removeRecord(cluster, USERS, key, { goesWith: () => [giveUpName('user', user['name'])] })
      },
    },
  }),
})
