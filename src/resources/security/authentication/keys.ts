import { type Behaviour, define } from '../../../core/behaviour.ts'
import { inline, uuidOfNew } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { name, oneOf, text, time, uuid } from '../../../model/kinds/index.ts'
import { builtinRoles } from '../../../model/access.ts'
import { insistOnCovering } from '../roles/covering.ts'
import { clusterOwner, userOwnerNames } from '../owners.ts'
import { ACCOUNTS } from '../accounts.ts'
import { plainRemove } from '../../../core/plain.ts'
import { makeToken } from '../../../core/access/token.ts'
import { resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import { textOf } from '../../../model/value.ts'

export const KEYS = 'security/authentication/keys'
const KEYS_MAX = 1000

const keysResource = resource({
  path: '/security/authentication/keys',
  noun: 'API key',
  doc: 'Long-lived keys, each for one user and one role. The key itself is shown once, in the answer that makes it.',
  since: '9.8',
  key: ['uuid'],
  parent: 'user.owner.uuid',
  parentType: 'svm/svms',
  nameWithin: false,
  // Keys are made for users that have no account, too.
  within: { user: namesBy(ACCOUNTS, 'deleted', 'user.name', { under: 'user.owner.uuid', isLoose: true }) },
  columns: ['user.name', 'role.name', 'create_time'],
  form: { Key: ['user.name', 'role.name'] },
  removal: 'disruptive',
  fields: {
    uuid: { doc: 'The UUID of the key.', kind: uuid() },
    user: { doc: 'The user that the key logs in.', isGroup: true },
    'user.name': {
      doc: 'The name of the user that the key logs in.',
      kind: name({ charactersMax: 64 }),
      set: 'create',
      required: true,
    },
    'user.owner': { doc: 'The cluster or the SVM that the user belongs to.', isGroup: true },
    'user.owner.name': {
      doc: 'The name of the cluster or the SVM that the user belongs to.',
      kind: text({ charactersMax: 255 }),
      set: 'create',
    },
    'user.owner.uuid': { doc: 'The UUID of the cluster or the SVM that the user belongs to.', kind: uuid() },
    role: { doc: 'The role that limits what the key may do.', isGroup: true },
    'role.name': {
      doc: 'The role of requests with the key.',
      kind: oneOf({ admin: 'Everything.', readonly: 'Read, but nothing of security.', none: 'Nothing.' }),
      set: 'create',
      required: true,
    },
    create_time: { doc: 'When the key was created.', kind: time() },
    key: { doc: 'The key. Send it as `Authorization: Bearer <key>`. Shown only once.', kind: text(), shownOnce: true },
  },
})

export const keys: Behaviour<typeof keysResource> = define(keysResource, {
  derive: [userOwnerNames],
  create: inline({
    example: { 'user.name': 'admin', 'role.name': 'readonly' },
    async plan(cluster, { caller, draft }) {
      const wanted = builtinRoles.find((role) => role.name === draft['role.name'])
      await insistOnCovering(cluster, caller, wanted)
      const { 'user.owner.name': ownerName, ...given } = draft
      const self = await clusterOwner(cluster)
      const named = textOf(ownerName ?? self.name)
      const owner = named === self.name ? self.uuid : await cluster.keyOfName('svm/svms', named)
      if (owner === undefined) throw failure('keyOwnerUnknown', { owner: named })
      if ((await cluster.rows(KEYS)).length >= KEYS_MAX) {
        throw failure('clusterLimitReached', { max: KEYS_MAX, things: 'API keys' })
      }
      const key = uuidOfNew(cluster, draft)
      const user = draft['user.name']
      const token = makeToken(key, user, cluster.system.random.bytes(32))
      const input = {
        ...given,
        uuid: key,
        'user.owner.uuid': owner,
        create_time: cluster.now(),
        $digest: cluster.secrets.digest(token),
      }
      return { key, input, reveal: { key: token } }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await cluster.commit([cluster.put(KEYS, input, { expect: 'absent' })])
      },
    },
  }),
  remove: plainRemove(KEYS),
})
