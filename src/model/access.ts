/**
 * Who may do what: a role is a list of paths with an access; the longest path that fits decides. A path stands for all
 * below it, and `*` in it for any one word: `/api/svm/svms/*`.
 */
export const ACCESSES = ['all', 'readonly', 'none', 'read_create', 'read_modify', 'read_create_modify'] as const
export type Access = (typeof ACCESSES)[number]

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

/** The roles that every SVM has. */
export const builtinSvmRoles: readonly Role[] = [
  { name: 'vsadmin', privileges: [{ path: '/api', access: 'all' }] },
  { name: 'vsadmin-readonly', privileges: [{ path: '/api', access: 'readonly' }] },
]

/** A role that was made, by what its record says. Commands of the command line are kept there, and grant nothing here. */
export function roleOf(name: string, privileges: readonly (Pick<Privilege, 'path'> & Partial<Privilege>)[] = []): Role {
  const ofPaths = privileges.filter(({ path }) => path.startsWith('/'))
  return { name, privileges: ofPaths.map(({ path, access = 'none' }) => ({ path, access })) }
}

/** Whether some access level is about this method. */
export function hasMethod(method: string): boolean {
  return METHODS.all.includes(method)
}

/** What everybody who has logged in may call, whatever their role: the verb looks at who asks. */
const FOR_EVERYBODY: ReadonlySet<string> = new Set(['POST /api/security/authentication/password'])

export function mayDo(role: Role, path: string, method: string): boolean {
  if (FOR_EVERYBODY.has(`${method} ${path}`)) return true
  const words = path.split('/')
  const fitting = role.privileges
    .filter((privilege) => fits(privilege.path.split('/'), words))
    .toSorted((a, b) => specificity(b.path) - specificity(a.path) || b.path.length - a.path.length)[0]
  return fitting !== undefined && METHODS[fitting.access].includes(method)
}

/** More paths than this are not tried one by one: then nothing is said to be covered. */
const TRIED_MAX = 20_000

/**
 * Whether all that the other role may do, this one may do too. What a role may do changes only at the paths that either of
 * them names, and where two of these meet: so it is enough to ask at these, with each `*` as every word that a path has in
 * its place, and as one that none has; and once below each.
 */
export function covers(role: Role, other: Role): boolean {
  const patterns = [...role.privileges, ...other.privileges].map(({ path }) => path.split('/'))
  const words: Set<string>[] = []
  for (const pattern of patterns) {
    for (const [at, word] of pattern.entries()) (words[at] ??= new Set([NO_WORD])).add(word === '*' ? NO_WORD : word)
  }
  let tried = 0
  for (const pattern of patterns) {
    let paths: string[][] = [[]]
    for (const [at, word] of pattern.entries()) {
      const choices = word === '*' ? [...(words[at] ?? [NO_WORD])] : [word]
      if (paths.length * choices.length > TRIED_MAX) return false
      paths = paths.flatMap((path) => choices.map((choice) => path.concat(choice)))
    }
    tried += paths.length
    if (tried > TRIED_MAX) return false
    for (const path of paths) {
      for (const tested of [path.join('/'), [...path, NO_WORD].join('/')]) {
        if (METHODS.all.some((method) => mayDo(other, tested, method) && !mayDo(role, tested, method))) return false
      }
    }
  }
  return true
}

/** A word that no path of the interface has. */
const NO_WORD = '\u0000'

const READ = ['GET', 'HEAD', 'OPTIONS']
const CREATE = ['POST', 'PUT']

const METHODS: Readonly<Record<Access, readonly string[]>> = {
  none: [],
  readonly: READ,
  read_create: [...READ, ...CREATE],
  read_modify: [...READ, 'PATCH'],
  read_create_modify: [...READ, ...CREATE, 'PATCH'],
  all: [...READ, ...CREATE, 'PATCH', 'DELETE'],
}

function fits(pattern: readonly string[], words: readonly string[]): boolean {
  return pattern.length <= words.length && pattern.every((word, at) => word === '*' || word === words[at])
}

/** How many words it has; of as many, the one with fewer `*`. */
function specificity(path: string): number {
  const words = path.split('/')
  return words.length - words.filter((word) => word === '*').length / (words.length + 1)
}
