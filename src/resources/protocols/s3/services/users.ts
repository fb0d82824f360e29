import { define } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { plainModify, plainRemove } from '../../../../core/plain.ts'
import { inline } from '../../../../core/verb.ts'
import { failures } from '../../../../model/failure.ts'
import { name, text } from '../../../../model/kinds/index.ts'
import { textAt } from '../../../../model/value.ts'

export const USERS = 'protocols/s3/services/{svm.uuid}/users'

/** Where an access key leads to its user: keys are unique in the cluster. */
export const ACCESS_KEYS = 's3:access-key'

const ACCESS_KEY_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ACCESS_KEY_CHARACTERS = 20

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
      access_key: {
        doc: 'The access key. Without it, one is made.',
        kind: text({
          charactersMin: 3,
          charactersMax: 128,
          pattern: /^[\w.+=/-]+$/,
          patternDoc: 'letters, digits and _.+=/-',
        }),
        set: 'create',
      },
      secret_key: {
        doc: 'The secret key. Without it, one is made. It is shown once; when it is lost, delete the user and make it again.',
        kind: text({
          charactersMin: 8,
          charactersMax: 128,
          pattern: /^[\x21-\x7e]+$/,
          patternDoc: 'printable characters',
        }),
        set: 'create',
        shownOnce: true,
      },
    },
  },
  {
    secrets: {
      // A pair: one without the other is refused.
      access_key: { read: (_cluster, row) => textAt(row, 'access_key') },
      secret_key: { read: (cluster, row) => cluster.secrets.unseal(textAt(row, '$secret')) },
    },
    create: inline({
      example: { name: 'user_example', comment: 'made to show how' },
      async plan(cluster, { draft }) {
        const key = `${textAt(draft, 'svm.uuid')}/${textAt(draft, 'name')}`
        if ((await cluster.find(USERS, key)) !== undefined)
          throw failures.duplicate('A user of that name', 'name', 92405817)
        const [given, secret] = [draft['access_key'], draft['secret_key']]
        if ((given === undefined) !== (secret === undefined)) {
          throw failures.invalid('secret_key', 'Give both access_key and secret_key, or neither.', 92406201)
        }
        const accessKey = typeof given === 'string' ? given : makeAccessKey(cluster)
        const secretKey = typeof secret === 'string' ? secret : cluster.system.random.bytes(30).toString('base64url')
        if ((await cluster.catalog.holder(ACCESS_KEYS, accessKey)) !== undefined) {
          throw failures.duplicate('A user with that access key', 'access_key', 92406200)
        }
        const { secret_key: _, ...rest } = draft
        return {
          key,
          input: { ...rest, access_key: accessKey, $secret: cluster.secrets.seal(secretKey) },
          reveal: { access_key: accessKey, secret_key: secretKey },
        }
      },
      step: {
        name: 'write record',
        async run(cluster, { input }) {
          await cluster.commit([
            cluster.put(USERS, input, { expect: 'absent', unique: { [ACCESS_KEYS]: textAt(input, 'access_key') } }),
          ])
        },
      },
    }),
    modify: plainModify(USERS, { unique: (row) => ({ [ACCESS_KEYS]: textAt(row, 'access_key') }) }),
    remove: plainRemove(USERS),
  },
)

function makeAccessKey(cluster: Cluster): string {
  const bytes = cluster.system.random.bytes(ACCESS_KEY_CHARACTERS)
  return Array.from(bytes, (byte) => ACCESS_KEY_LETTERS.charAt(byte % ACCESS_KEY_LETTERS.length)).join('')
}
