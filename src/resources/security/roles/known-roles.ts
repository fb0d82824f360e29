/** The roles that accounts may have: those that clusters and SVMs come with, and those that were made. */
import type { Ground } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { builtinRoles, builtinSvmRoles, roleOf, type Role } from '../../../model/access.ts'
import { failure } from '../../../model/failure.ts'
import type { DraftOf } from '../../../model/rows.ts'
import type { RolePrivilege } from './privilege-list.ts'
import type { Owner } from '../owners.ts'

export const ROLES = 'security/roles'
/** Held while an account takes up a role, and while a role goes. */
export const ACCOUNTS_LOCK: Ground = { lock: 'accounts', types: [ROLES, 'security/accounts'] }

export function builtInRolesOf(scope: Owner['scope']): readonly Role[] {
  return scope === 'cluster' ? builtinRoles : builtinSvmRoles
}

/** The role of an owner with this name, or nothing. */
export async function findRole(
  cluster: Cluster,
  owner: Pick<Owner, 'uuid' | 'scope'>,
  name: string,
): Promise<Role | undefined> {
  const builtIn = builtInRolesOf(owner.scope).find((role) => role.name === name)
  if (builtIn !== undefined) return builtIn
  const row = await cluster.find(ROLES, `${owner.uuid}/${name}`)
  return row === undefined ? undefined : roleOf(name, row['privileges'])
}

export async function insistOnRole(cluster: Cluster, owner: Owner, name: string): Promise<void> {
  if ((await findRole(cluster, owner, name)) !== undefined) return
  throw failure('roleUnknown', { name: name.slice(0, 80) })
}

export function privilegesOf(role: DraftOf<typeof ROLES>): readonly RolePrivilege[] {
  return role['privileges'] ?? []
}
