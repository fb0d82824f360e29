import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { plainCreate, plainModify, plainRemove } from '../../../core/plain.ts'
import { sealSecrets, unsealed } from '../../../core/access/sealed.ts'
import { each, flag, secret, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { accountName, LOCAL_GROUPS, LOCAL_USERS, sidLock, withSid } from './local-accounts.ts'
import type { DraftOf, RowOf } from '../../../model/rows.ts'

const NAME_CHARACTERS_MAX = 36
const PASSWORD_CHARACTERS_MIN = 6

/** The groups that a user is in, by name. */
const membership: Derivation<RowOf<'protocols/cifs/local-users'>> = {
  gives: ['membership'],
  async from(cluster, rows, once) {
    const groups = await once('local groups', () => cluster.rows(LOCAL_GROUPS))
    return rows.map((row): DraftOf<typeof LOCAL_USERS> => {
      const isIn = (group: RowOf<typeof LOCAL_GROUPS>) =>
        (group['members'] ?? []).some((one) => one.name === row['name'])
      const own = groups.filter((group) => group['svm.uuid'] === row['svm.uuid'] && isIn(group))
      return own.length === 0 ? {} : { membership: own.map((group) => ({ name: group['name'], sid: group['sid'] })) }
    })
  },
}

const localUsersResource = resource({
  path: `/${LOCAL_USERS}`,
  noun: 'local CIFS user',
  doc: 'Local users of CIFS servers. Stored without effect: nobody can log in yet.',
  since: '9.9.1',
  key: ['svm.uuid', 'sid'],
  recordKey: ['svm.uuid', 'sid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  fields: {
    svm: { doc: 'The SVM of the local user.', ref: 'svm/svms', set: 'create', required: true },
    sid: { doc: 'The Windows security identifier (SID) of the user.', kind: text() },
    name: {
      doc: 'The name of the user, unique within its SVM.',
      kind: accountName(NAME_CHARACTERS_MAX),
      set: 'always',
      required: true,
    },
    full_name: { doc: 'The full name of the user.', kind: text({ charactersMax: 256 }), set: 'always' },
    description: { doc: 'A comment that describes the user.', kind: text({ charactersMax: 256 }), set: 'always' },
    account_disabled: {
      doc: 'Whether the user is disabled.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.10.1',
    },
    password: {
      doc: 'The password of the user. Stored encrypted and never shown.',
      kind: secret({ charactersMin: PASSWORD_CHARACTERS_MIN, charactersMax: 256 }),
      set: 'always',
      required: true,
      since: '9.10.1',
    },
    membership: {
      doc: 'The local groups that the user is in.',
      kind: each({
        name: { kind: text(), doc: 'The name of the group.' },
        sid: { kind: text(), doc: 'The Windows security identifier (SID) of the group.' },
      }),
    },
  },
})

export const localUsers: Behaviour<typeof localUsersResource> = define(localUsersResource, {
  derive: [membership],
  secrets: {
    password: {
      read: (cluster, row) => unsealed(cluster, row['$password']),
      isSame: (cluster, row, given) => Promise.resolve(unsealed(cluster, row['$password']) === given),
    },
  },
  create: {
    ...plainCreate(LOCAL_USERS, {
      example: { name: 'bernd', 'svm.name': 'svm1', password: 'a password to show' },
      async check(cluster, row) {
        return sealSecrets(cluster, LOCAL_USERS, await withSid(cluster, row))
      },
    }),
    alone: sidLock,
  },
  modify: plainModify(LOCAL_USERS, {
    exampleChange: { full_name: 'Bernd Example' },
    check: (cluster, row) => sealSecrets(cluster, LOCAL_USERS, row),
  }),
  remove: plainRemove(LOCAL_USERS),
})
