import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline, type Verb, type VerbRequest } from '../../../core/verb.ts'
import { roleOf } from '../../../model/access.ts'
import { groups, resource } from '../../../model/resource.ts'
import { failure } from '../../../model/failure.ts'
import { insistOnCovering } from './covering.ts'
import { text, uuid } from '../../../model/kinds/index.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { insistOnMade, roleAt } from '../roles.ts'
import { ACCOUNTS_LOCK, privilegesOf, ROLES } from './known-roles.ts'
import { privilegeFields, settledPrivileges } from './privilege-list.ts'

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
    const of = { 'owner.uuid': role['owner.uuid'] ?? null, name: role['name'] ?? null }
    return privilegesOf(role).map((privilege) => Object.assign({}, privilege, of))
  },
  create: {
    ...changing(({ draft }, privileges) => [...privileges, privilege(draft)]),
    example: { path: '/api/storage/aggregates', access: 'readonly' },
  },
  modify: {
    ...changing(({ draft, row = {} }, privileges) =>
      privileges.map((each) => (each['path'] === row['path'] ? { ...each, ...draft } : each)),
    ),
    example: { access: 'readonly' },
  },
  remove: changing(({ row = {} }, privileges) => privileges.filter((each) => each['path'] !== row['path'])),
})

/** A verb that makes other privileges of those that the role has. */
function changing(change: (request: VerbRequest, privileges: readonly Row[]) => readonly Row[]): Verb {
  return inline({
    alone: () => [ACCOUNTS_LOCK],
    async plan(cluster, request) {
      const role = await roleAt(cluster, request.path)
      insistOnMade(role)
      const privileges = settledPrivileges(change(request, privilegesOf(role)))
      // Not to be widened by those who have it, nor by those who have less.
      const { caller } = request
      await insistOnCovering(cluster, caller, roleOf(textAt(role, 'name'), privileges))
      return {
        key: textAt({ ...request.row, ...request.draft }, 'path'),
        input: { role: `${textAt(role, 'owner.uuid')}/${textAt(role, 'name')}`, privileges },
      }
    },
    step: { name: 'write record', run: (cluster, { input }) => write(cluster, input) },
  })
}

async function write(cluster: Cluster, input: Row): Promise<void> {
  const record = await cluster.record(ROLES, textAt(input, 'role'))
  if (record === undefined) throw failure('roleNotFound')
  const role: Row = { ...record.body, privileges: input['privileges'] ?? [] }
  await cluster.commit([cluster.put(ROLES, role, { expect: record.revision })])
}

function privilege(draft: Row): Row {
  const { path = null, access = 'all', query } = draft
  return { path, access, ...(query === undefined ? {} : { query }) }
}
