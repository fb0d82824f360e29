import { type Behaviour, define } from '../../core/behaviour.ts'
import { removeRecord } from '../../core/plain.ts'
import type { Cluster } from '../../core/cluster.ts'
import { inline } from '../../core/verb.ts'
import { roleOf } from '../../model/access.ts'
import { groups, resource } from '../../model/resource.ts'
import { failure } from '../../model/failure.ts'
import { flag, text } from '../../model/kinds/index.ts'
import type { RowOf } from '../../model/rows.ts'
import { clusterOwner, ownerFields, ownerNamed, ownerNames, type Owner } from './owners.ts'
import { insistOnCovering } from './roles/covering.ts'
import { ACCOUNTS_LOCK, builtInRolesOf, findRole, privilegesOf, ROLES } from './roles/known-roles.ts'
import { privilegesKind, settledPrivileges } from './roles/privilege-list.ts'

/** Roles that were made, of the cluster and of all SVMs. */
const ROLES_MAX = 1000

const rolesResource = resource({
  path: `/${ROLES}`,
  noun: 'role',
  doc: 'Roles say what accounts may do, by paths of this interface. Built-in roles cannot be changed.',
  key: ['owner.uuid', 'name'],
  recordKey: ['owner.uuid', 'name'],
  parent: 'owner.uuid',
  parentType: 'svm/svms',
  nameWithin: 'owner.uuid',
  columns: ['name', 'owner.name', 'builtin', 'privileges.path', 'privileges.access'],
  form: { Role: ['name', 'owner.name', 'privileges'] },
  removal: 'disruptive',
  fields: {
    ...groups({ owner: 'The cluster or the SVM that the role belongs to.' }),
    name: {
      doc: 'The name of the role.',
      kind: text({
        charactersMin: 1,
        charactersMax: 128,
        pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
        patternDoc: 'letters, digits and "_.-"',
      }),
      set: 'create',
      required: true,
    },
    ...ownerFields,
    privileges: {
      doc: 'The privileges of the role. The longest matching path decides; requests that match no path are refused.',
      kind: privilegesKind(),
      set: 'create',
      required: true,
    },
    builtin: { doc: 'Whether the role is built in.', kind: flag() },
  },
})

export const roles: Behaviour<typeof rolesResource> = define(rolesResource, {
  rows: allRoles,
  derive: [ownerNames],
  create: inline({
    example: { name: 'role_example', privileges: [{ path: '/api/storage/volumes', access: 'readonly' }] },
    alone: () => [ACCOUNTS_LOCK],
    async plan(cluster, { caller, draft }) {
      const owner = await ownerNamed(cluster, draft['owner.name'])
      const role = draft['name']
      if ((await findRole(cluster, owner, role)) !== undefined) throw failure('roleNameTaken')
      if ((await cluster.rows(ROLES)).length >= ROLES_MAX) {
        throw failure('clusterLimitReached', { max: ROLES_MAX, things: 'roles' })
      }
      const privileges = settledPrivileges(privilegesOf(draft))
      await insistOnCovering(cluster, caller, roleOf(role, privileges))
      const row = { name: role, 'owner.uuid': owner.uuid, scope: owner.scope, builtin: false, privileges }
      return { key: `${owner.uuid}/${role}`, input: row }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await cluster.commit([cluster.put(ROLES, input, { expect: 'absent' })])
      },
    },
  }),
  remove: inline({
    alone: () => [ACCOUNTS_LOCK],
    plan(_cluster, { row }) {
      insistOnMade(row)
      const [owner, role] = [row['owner.uuid'], row['name']]
      return Promise.resolve({ key: `${owner}/${role}`, input: {} })
    },
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        await removeRecord(cluster, ROLES, key, {
          inUse({ name }) {
            return failure('roleInUse', { account: name })
          },
        })
      },
    },
  }),
})

/** A role, be it made or one that every cluster comes with. */
type RoleRow = RowOf<typeof ROLES>

async function allRoles(cluster: Cluster): Promise<RoleRow[]> {
  const svms = (await cluster.rows('svm/svms')).map((svm) => ({ uuid: svm['uuid'], scope: 'svm' }) as const)
  const owners: Pick<Owner, 'uuid' | 'scope'>[] = [await clusterOwner(cluster), ...svms]
  const builtIn = owners.flatMap(({ uuid, scope }) =>
    builtInRolesOf(scope).map(({ name, privileges }): RoleRow => ({
      name,
      'owner.uuid': uuid,
      scope,
      builtin: true,
      privileges: privileges.map(({ path, access }) => ({ path, access })),
    })),
  )
  return [...builtIn, ...(await cluster.rows(ROLES))]
}

/** The role at the keys of a path, be it made or not. */
export async function roleAt(cluster: Cluster, path: Readonly<Record<string, string>>): Promise<RoleRow> {
  const found = (await allRoles(cluster)).find(
    (role) => role['owner.uuid'] === path['owner.uuid'] && role['name'] === path['name'],
  )
  if (found === undefined) throw failure('roleNotFound')
  return found
}

export function insistOnMade(role: RoleRow): void {
  if (role['builtin'] === true) {
    throw failure('builtInRole')
  }
}
