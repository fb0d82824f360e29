import { define } from '../../../../core/behaviour.ts'
import { plainRemove } from '../../../../core/plain.ts'
import { inline } from '../../../../core/verb.ts'
import { failures } from '../../../../model/failure.ts'
import { name, text } from '../../../../model/kinds/index.ts'
import { textAt } from '../../../../model/value.ts'
import { keyFields, modifyUser, uniqueKey, USERS, withKeys } from './user-keys.ts'

export { USERS } from './user-keys.ts'

export const users = define(
  {
    path: '/protocols/s3/services/{svm.uuid}/users',
    noun: 'object store user',
    doc: 'Users of object store servers. A user has one pair of keys and works with every server of the cluster.',
    key: ['name'],
    recordKey: ['svm.uuid', 'name'],
    parent: 'svm.uuid',
    nameWithin: 'svm.uuid',
    fields: {
      name: { doc: 'The name of the user.', kind: name({ charactersMax: 64 }), set: 'create', required: true },
      svm: { doc: 'The SVM the user is of.', ref: 'svm/svms', set: 'create', required: true },
      comment: { doc: 'Who it is.', kind: text({ charactersMax: 256 }), set: 'always' },
      ...keyFields,
    },
  },
  {
    secrets: {
      // A pair: one without the other is refused. A user whose keys were taken away has neither.
      access_key: { read: (_cluster, row) => textAt(row, 'access_key') || undefined },
      secret_key: {
        read: (cluster, row) =>
          textAt(row, '$secret') === '' ? undefined : cluster.secrets.unseal(textAt(row, '$secret')),
      },
    },
    create: inline({
      example: { name: 'user_example', comment: 'made to show how' },
      async plan(cluster, { draft }) {
        const key = `${textAt(draft, 'svm.uuid')}/${textAt(draft, 'name')}`
        if ((await cluster.find(USERS, key)) !== undefined)
          throw failures.duplicate('A user of that name', 'name', 92405817)
        const { row, reveal } = await withKeys(cluster, draft)
        return { key, input: row, reveal }
      },
      step: {
        name: 'write record',
        async run(cluster, { input }) {
          await cluster.commit([cluster.put(USERS, input, { expect: 'absent', unique: uniqueKey(input) })])
        },
      },
    }),
    modify: modifyUser,
    remove: plainRemove(USERS),
  },
)
