import { type Behaviour, define } from '../../../core/behaviour.ts'
import { type ChangeRequest, inline, type VerbRequest } from '../../../core/verb.ts'
import { roleOf } from '../../../model/access.ts'
import { groups, resource } from '../../../model/resource.ts'
import { failure } from '../../../model/failure.ts'
import { insistOnCovering } from './covering.ts'
import { text, uuid } from '../../../model/kinds/index.ts'
import type { DraftIn, NewDraftIn, RowIn } from '../../../model/rows.ts'
import { insistOnMade, roleAt } from '../roles.ts'
import { ACCOUNTS_LOCK, privilegesOf, ROLES } from './known-roles.ts'
import { privilegeFields, type RolePrivilege, settledPrivileges } from './privilege-list.ts'

const rolePrivilegesResource = resource({
  path: `/${ROLES}/{owner.uuid}/{name}/privileges`,
  noun: 'privilege of the role',
  doc: 'The privileges of a role. The field `privileges` of the role shows them too. Write slashes of the path as %2F.',
  key: ['path'],
  shownUnasked: ['access', 'query'],
  rowsOf: ROLES,
  nameWithin: false,
  fields: {
    ...groups({ owner: 'The cluster or the SVM that the role belongs to.' }),
    'owner.uuid': { doc: 'The UUID of the owner of the role: the cluster or an SVM.', kind: uuid() },
    name: { doc: 'The name of the role.', kind: text() },
    ...privilegeFields,
  },
})

export const rolePrivileges: Behaviour<typeof rolePrivilegesResource> = define(rolePrivilegesResource, {
  async rows(cluster, path) {
    const role = await roleAt(cluster, path)
    const of = { 'owner.uuid': role['owner.uuid'], name: role['name'] }
    return privilegesOf(role).map((privilege) => Object.assign({}, privilege, of))
  },
  create: {
    ...changing(({ draft }: Making, privileges) => {
      const { path, access = 'all', query } = draft
      const privilege = { path, access, ...(query === undefined ? {} : { query }) }
      return { path, privileges: [...privileges, privilege] }
    }),
    example: { path: '/api/storage/aggregates', access: 'readonly' },
  },
  modify: {
    ...changing(({ draft, row: { path } }: Changing, privileges) => ({
      path,
      privileges: privileges.map((each) => (each.path === path ? { ...each, ...draft } : each)),
    })),
    example: { access: 'readonly' },
  },
  remove: changing(({ row: { path } }: Changing, privileges) => ({
    path,
    privileges: privileges.filter((each) => each.path !== path),
  })),
})

type RolePrivileges = typeof rolePrivilegesResource
type Making = VerbRequest<RowIn<RolePrivileges>, NewDraftIn<RolePrivileges>>
type Changing = ChangeRequest<RowIn<RolePrivileges>, DraftIn<RolePrivileges>>

/** What a request makes of the list, and which path it is about. */
interface Changed {
  readonly path: string
  readonly privileges: readonly RolePrivilege[]
}

/** A verb that makes other privileges of those that the role has. */
function changing<Request extends VerbRequest>(
  change: (request: Request, privileges: readonly RolePrivilege[]) => Changed,
) {
  return inline({
    alone: (_request: Request) => [ACCOUNTS_LOCK],
    async plan(cluster, request: Request) {
      const role = await roleAt(cluster, request.path)
      insistOnMade(role)
      const { path, privileges: given } = change(request, privilegesOf(role))
      const privileges = settledPrivileges(given)
      // Not to be widened by those who have it, nor by those who have less.
      await insistOnCovering(cluster, request.caller, roleOf(role['name'], privileges))
      return { key: path, input: { role: `${role['owner.uuid']}/${role['name']}`, privileges } }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        const record = await cluster.record(ROLES, input.role)
        if (record === undefined) throw failure('roleNotFound')
        const role = { ...record.body, privileges: input.privileges }
        await cluster.commit([cluster.put(ROLES, role, { expect: record.revision })])
      },
    },
  })
}
