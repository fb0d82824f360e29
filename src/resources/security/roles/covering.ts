/** Nobody gives away more than they have: neither an account, nor a key, nor a role that may do what their own may not. */
import type { Cluster } from '../../../core/cluster.ts'
import type { Caller } from '../../../core/verb.ts'
import { covers, type Role } from '../../../model/access.ts'
import { failure } from '../../../model/failure.ts'
import { clusterOwner } from '../owners.ts'
import { findRole } from './known-roles.ts'

/** Fails with `denied` where a role may do something that the caller may not. A role that is not there may do nothing. */
export async function insistOnCovering(cluster: Cluster, caller: Caller, role: Role | undefined): Promise<void> {
  if (caller.role === 'admin' || role === undefined) return
  const own = await findRole(cluster, await clusterOwner(cluster), caller.role)
  if (own !== undefined && covers(own, role)) return
  throw failure('roleExceedsOwn', { role: role.name, own: caller.role })
}
