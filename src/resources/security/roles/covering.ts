/** Nobody gives away more than they have: neither an account, nor a key, nor a role that may do what their own may not. */
import type { Cluster } from '../../../core/cluster.ts'
import type { Caller } from '../../../core/verb.ts'
import { covers, type Role } from '../../../model/access.ts'
import { Failure } from '../../../model/failure.ts'
import { clusterOwner } from '../owners.ts'
import { findRole } from './known-roles.ts'

const DENIED = 6

/** Fails with `denied` where a role may do something that the caller may not. A role that is not there may do nothing. */
export async function insistOnCovering(cluster: Cluster, caller: Caller, role: Role | undefined): Promise<void> {
  if (caller.role === 'admin' || role === undefined) return
  const own = await findRole(cluster, await clusterOwner(cluster), caller.role)
  if (own !== undefined && covers(own, role)) return
  throw new Failure(
    'denied',
    DENIED,
    `not authorized for that command: the role ${role.name} may do more than your own, ${caller.role}.`,
    { target: 'role.name' },
  )
}
