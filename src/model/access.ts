/** Who may do what: a role is a list of path prefixes with an access; the longest prefix that fits decides. */
export type Access = 'all' | 'readonly' | 'none'

export interface Privilege {
  readonly path: string
  readonly access: Access
}

export interface Role {
  readonly name: string
  readonly privileges: readonly Privilege[]
}

/** The roles that every cluster has. */
export const builtinRoles: readonly Role[] = [
  { name: 'admin', privileges: [{ path: '/api', access: 'all' }] },
  {
    name: 'readonly',
    privileges: [
      { path: '/api', access: 'readonly' },
      // Records of who can log in say more about the cluster's defences than a metrics collector needs.
      { path: '/api/security', access: 'none' },
    ],
  },
  { name: 'none', privileges: [{ path: '/api', access: 'none' }] },
]

export function mayDo(role: Role, path: string, method: string): boolean {
  const fitting = role.privileges
    .filter((privilege) => path === privilege.path || path.startsWith(`${privilege.path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
  if (fitting === undefined || fitting.access === 'none') return false
  return fitting.access === 'all' || method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
