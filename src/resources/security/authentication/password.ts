import { type Behaviour, define } from '../../../core/behaviour.ts'
import { inline } from '../../../core/verb.ts'
import { name, oneOf, secret, text } from '../../../model/kinds/index.ts'
import { groups, resource } from '../../../model/resource.ts'
import { planPassword, writeAccount } from '../accounts.ts'
import { ownerNamed } from '../owners.ts'
import { PASSWORD_CHARACTERS_MIN } from '../passwords.ts'

const passwordsResource = resource({
  path: '/security/authentication/password',
  noun: 'password',
  doc: 'Changes the password of an account. Every user may change their own password. To change the password of another user, a role must be able to change accounts and include all privileges of the other user.',
  key: ['name'],
  recordKey: ['name'],
  nameWithin: false,
  fields: {
    name: { doc: 'The name of the user.', kind: name({ charactersMax: 64 }), set: 'create', required: true },
    ...groups({ owner: 'The cluster or the SVM that the account belongs to.' }),
    'owner.name': {
      doc: 'The name of the cluster or the SVM that the account belongs to. Default: the cluster.',
      kind: text({ charactersMax: 255 }),
      set: 'create',
    },
    'owner.uuid': {
      doc: 'The UUID of the cluster or of the SVM that the account belongs to.',
      kind: text({ charactersMin: 1, charactersMax: 64 }),
      set: 'create',
    },
    password: {
      doc: 'The new password. Never shown.',
      kind: secret({ charactersMin: PASSWORD_CHARACTERS_MIN, charactersMax: 128 }),
      set: 'create',
      required: true,
    },
    password_hash_algorithm: {
      doc: 'The hash algorithm of the password. Accepted without effect: passwords are stored with scrypt.',
      kind: oneOf({ sha512: 'SHA-512.', sha256: 'SHA-256.', md5: 'MD5.' }),
      since: '9.11.1',
      set: 'create',
    },
  },
})

export const passwords: Behaviour<typeof passwordsResource> = define(passwordsResource, {
  rows: () => Promise.resolve([]),
  create: inline({
    example: { name: 'account_example', password: 'another password to show' },
    async plan(cluster, { caller, draft }) {
      const owner = (draft['owner.uuid'] ?? '') || (await ownerNamed(cluster, draft['owner.name'])).uuid
      const key = `${owner}/${draft['name']}`
      return planPassword(cluster, caller, key, draft['password'])
    },
    step: writeAccount,
  }),
})
