/** Who may do what through a share: one entry for each user or group. */
import { failure } from '../../../../model/failure.ts'
import { each, oneOf, text } from '../../../../model/kinds/index.ts'
import type { Fields } from '../../../../model/resource.ts'
import type { Row } from '../../../../model/value.ts'

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

export const EVERYONE: Row = { user_or_group: 'Everyone', type: 'windows', permission: 'full_control' }

export const aclsKind = () =>
  each(
    Object.fromEntries(
      Object.entries(aclFields).map(([name, { kind, doc, ...rest }]) => [
        name,
        { kind, doc, required: 'required' in rest },
      ]),
    ),
    { elementsMax: ACLS_MAX },
  )

export function settledAcls(given: readonly Row[]): readonly Row[] {
  const acls = given.map((acl): Row => ({ type: 'windows', ...acl }))
  for (const [at, acl] of acls.entries()) {
    if (acls.findIndex((other) => isSameWho(other, acl)) !== at) {
      throw failure('shareAclTaken', { account: JSON.stringify(acl['user_or_group']).slice(0, 80) })
    }
  }
  return acls
}

/** Windows does not tell A from a. */
export function isSameWho(a: Row, b: Row): boolean {
  const [left, right] = [a, b].map(({ user_or_group: who = '' }) => JSON.stringify(who))
  if (a['type'] !== b['type']) return false
  return a['type'] === 'windows' ? left?.toLowerCase() === right?.toLowerCase() : left === right
}
