/** The privileges of a role: an access for each path of this interface, or for each command of the command line. */
import { type Access } from '../../../model/access.ts'
import { failure } from '../../../model/failure.ts'
import { each, oneOf, text } from '../../../model/kinds/index.ts'
import { asMembers } from '../../../model/fields-below.ts'
import type { ValueOf } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'

/** Privileges of one role. */
const PRIVILEGES_MAX = 1024

export const privilegeFields = {
  path: {
    doc: 'A path such as `/api/storage/volumes`, including all paths below it, where `*` matches one part; or a command such as `volume show`.',
    kind: text({ charactersMin: 1, charactersMax: 1024 }),
    set: 'create',
    required: true,
  },
  access: {
    doc: 'The access that the privilege grants.',
    kind: oneOf({
      all: 'Read, create, change and delete.',
      readonly: 'Read.',
      none: 'Nothing.',
      read_create: 'Read and create.',
      read_modify: 'Read and change.',
      read_create_modify: 'Read, create and change.',
    } as const satisfies Readonly<Record<Access, string>>),
    set: 'always',
    default: 'all',
  },
  query: {
    doc: 'The objects that a command is limited to. Not allowed for paths.',
    kind: text({ charactersMax: 1024 }),
    set: 'always',
    since: '9.11.1',
  },
} as const satisfies Fields

export const privilegesKind = () => {
  const members = asMembers(privilegeFields)
  const query = { ...members.query, since: privilegeFields.query.since }
  return each({ ...members, query }, { elementsMax: PRIVILEGES_MAX })
}

/** A privilege as it is given, or lies in the record of its role. There it has an access. */
export type RolePrivilege = ValueOf<ReturnType<typeof privilegesKind>>[number]

/** Whole and checked, each path once. */
export function settledPrivileges(given: readonly RolePrivilege[]): readonly RolePrivilege[] {
  const privileges = given.map((privilege): RolePrivilege => ({ access: 'all', ...privilege }))
  for (const [at, privilege] of privileges.entries()) {
    check(privilege)
    if (privileges.findIndex(({ path }) => path === privilege.path) !== at) {
      throw failure('privilegeTaken', { path: privilege.path.slice(0, 80) })
    }
  }
  return privileges
}

function check({ path, access, query = '' }: RolePrivilege): void {
  if (!path.startsWith('/')) {
    if (access !== 'all' && access !== 'readonly' && access !== 'none') {
      throw failure('privilegeAccessUnfit')
    }
    return
  }
  if (!/^\/api(\/[^/\s]+)*$/.test(path)) {
    throw failure('privilegePathMalformed')
  }
  if (query !== '') throw failure('privilegeQueryNeedless')
}
