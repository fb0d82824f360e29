/** Who may do what through a share: one entry for each user or group. */
import { failure } from '../../../../model/failure.ts'
import { each, oneOf, text } from '../../../../model/kinds/index.ts'
import { asMembers } from '../../../../model/fields-below.ts'
import type { ValueOf } from '../../../../model/kinds/index.ts'
import type { Fields } from '../../../../model/resource.ts'

/** Entries of one share. */
const ACLS_MAX = 1024

export const aclFields = {
  user_or_group: {
    doc: 'The user or group, with the domain before a backslash if there is one.',
    kind: text({ charactersMin: 1, charactersMax: 256, pattern: /^[^/]+$/, patternDoc: 'anything without "/"' }),
    set: 'create',
    required: true,
  },
  type: {
    doc: 'The kind of the user or group.',
    kind: oneOf({ windows: 'A Windows user or group.', unix_user: 'A UNIX user.', unix_group: 'A UNIX group.' }),
    set: 'create',
    default: 'windows',
  },
  permission: {
    doc: 'The permission of the user or group.',
    kind: oneOf({
      no_access: 'No access.',
      read: 'Read files.',
      change: 'Read, write and delete files.',
      full_control: 'Also change permissions.',
    }),
    set: 'always',
    required: true,
  },
} as const satisfies Fields

export const aclsKind = () => each(asMembers(aclFields), { elementsMax: ACLS_MAX })

export type Acl = ValueOf<ReturnType<typeof aclsKind>>[number]

export const EVERYONE: Acl = { user_or_group: 'Everyone', type: 'windows', permission: 'full_control' }

export function settledAcls(given: readonly Acl[]): readonly Acl[] {
  const acls = given.map((acl): Acl => ({ type: 'windows', ...acl }))
  for (const [at, acl] of acls.entries()) {
    if (acls.findIndex((other) => isSameWho(other, acl)) !== at) {
      throw failure('shareAclTaken', { account: JSON.stringify(acl['user_or_group']).slice(0, 80) })
    }
  }
  return acls
}

/** Windows does not tell A from a. */
export function isSameWho(a: Omit<Acl, 'permission'>, b: Omit<Acl, 'permission'>): boolean {
  const [left, right] = [a.user_or_group, b.user_or_group]
  if (a.type !== b.type) return false
  return a.type === 'windows' ? left.toLowerCase() === right.toLowerCase() : left === right
}
