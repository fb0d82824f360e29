/**
 * What the command line calls the fields of a resource: flat, with `_` where the model has dots, and with names where
 * the model has references. `svm.name` is `vserver`, the name of a thing is what the thing is called.
 */
import { isServed, type Release } from '../../model/release.ts'
import type { Resource } from '../../model/resource.ts'

/** The words of a path as a command: `storage volume snapshot` for `/storage/volumes/{volume.uuid}/snapshots`. */
export function wordsOf(resource: Resource): string[] {
  return resource.path
    .split('/')
    .filter((word) => word !== '' && !word.startsWith('{'))
    .map(singular)
}

export interface Names {
  /** The field that a name means. Dashes and underscores are the same. */
  pathOf(name: string): string | undefined
  /** The names under which every record shows what it is, with their fields. */
  readonly keys: readonly (readonly [name: string, path: string])[]
  /** All names, but those of secrets and of what has to be asked for. */
  readonly all: readonly (readonly [name: string, path: string])[]
}

export function namesOf(
  resource: Resource,
  thing: string,
  served: Release,
  spelled: Readonly<Record<string, string>> = {},
): Names {
  const paths = new Map(Object.entries(spelled))
  for (const field of resource.fields.values()) {
    const { path, reference } = field
    if (reference?.part === 'uuid') continue
    const name =
      path === 'svm.name'
        ? 'vserver'
        : path === 'name'
          ? thing
          : reference?.part === 'list'
            ? singular(path)
            : path.replace(/\.name$/, '')
    const plain = underscored(name)
    if (!paths.has(plain)) paths.set(plain, reference?.part === 'list' ? `${path}.name` : path)
  }
  const nameOf = (path: string) => [...paths].find(([, one]) => one === path)?.[0]
  const parents = resource.pathKeys.map((key) => key.replace(/uuid$/, 'name'))
  const own = resource.fields.has('name') ? ['name'] : resource.key
  const identity = [...new Set(['svm.name', ...parents, ...own])]
  const isPlain = (path: string) => {
    const field = resource.fields.get(path)
    if (field === undefined || field.isExpensive || field.shownOnce) return false
    return field.kind.isSecret !== true && isServed(field.since, served)
  }
  return {
    all: [...paths].filter(([, path]) => isPlain(path)),
    pathOf: (name) => paths.get(underscored(name)),
    keys: identity.flatMap((path) => {
      const name = nameOf(path)
      return name === undefined ? [] : [[name, path] as const]
    }),
  }
}

const underscored = (name: string) => name.toLowerCase().replaceAll(/[-.]/g, '_')

/** Words that end in an s and mean one. */
const ONE: ReadonlySet<string> = new Set(['dns', 'nis', 'cifs', 'nfs', 'ems', 'qos', 'metrics', 'analytics', 'address'])

function singular(word: string): string {
  const last = word.slice(Math.max(word.lastIndexOf('-'), word.lastIndexOf('.')) + 1)
  if (ONE.has(last) || !word.endsWith('s')) return word
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.slice(0, -1)
}
