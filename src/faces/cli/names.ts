/**
 * What the command line calls the fields of a resource: flat, with `_` where the model has dots, and with names where
 * the model has references. `svm.name` is `vserver`, the name of a thing is what the thing is called.
 */
import { isServed, type Release } from '../../model/release.ts'
import type { Resource } from '../../model/resource.ts'
import type { PathOf, RecordType } from '../../model/rows.ts'
import type { Phrase } from './phrases.ts'

/** The words of a path as a command: `storage volume snapshot` for `/storage/volumes/{volume.uuid}/snapshots`. */
export function wordsOf(resource: Resource): string[] {
  return resource.path
    .split('/')
    .filter((word) => word !== '' && !word.startsWith('{'))
    .map(singular)
}

/** A field of the model, or what is made of some. */
export type Meaning<Path extends string = string> = Path | Phrase<Path>

/** What the command line says of a type of records, and what it means: paths that these have, or what is made of some. */
export type Spelled<Type extends RecordType> = Readonly<Record<string, Meaning<PathOf<Type>>>>

export interface Names {
  /** What a name means. Dashes and underscores are the same. */
  meaningOf(name: string): Meaning | undefined
  /** The names under which every record of the release shows what it is. */
  readonly keys: readonly (readonly [name: string, meaning: Meaning])[]
  /** All names, but those of secrets and of what has to be asked for. */
  readonly all: readonly (readonly [name: string, meaning: Meaning])[]
  /** Whether the release has a field, or one under it. */
  isServed(path: string): boolean
}

export function namesOf(
  resource: Resource,
  thing: string,
  served: Release,
  spelled: Readonly<Record<string, Meaning>> = {},
): Names {
  const meanings = new Map(Object.entries(spelled))
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
    if (!meanings.has(plain)) meanings.set(plain, reference?.part === 'list' ? `${path}.name` : path)
  }
  const nameOf = (path: string) => [...meanings].find(([, one]) => one === path)?.[0]
  const isPlain = (meaning: Meaning) => {
    if (typeof meaning !== 'string') return true
    const field = resource.fields.get(meaning)
    if (field === undefined || field.isExpensive || field.shownOnce) return false
    return field.kind.isSecret !== true && isServed(field.since, served)
  }
  const isThere = (path: string) => {
    for (const field of resource.fields.values()) {
      if ((field.path === path || field.path.startsWith(`${path}.`)) && isServed(field.since, served)) return true
    }
    return false
  }
  const parents = resource.pathKeys.map((key) => key.replace(/uuid$/, 'name'))
  const own = isThere('name') ? ['name'] : resource.key
  // What came with a later release says nothing of any record.
  const identity = [...new Set(['svm.name', ...parents, ...own])].filter(isThere)
  return {
    isServed: isThere,
    all: [...meanings].filter(([, meaning]) => isPlain(meaning)),
    meaningOf: (name) => meanings.get(underscored(name)),
    keys: identity.flatMap((path) => {
      const name = nameOf(path)
      return name === undefined ? [] : [[name, path] as const]
    }),
  }
}

/** As records show a name. */
export const underscored = (name: string) => name.toLowerCase().replaceAll(/[-.]/g, '_')

/** Words that end in an s and mean one. */
const ONE: ReadonlySet<string> = new Set(['dns', 'nis', 'cifs', 'nfs', 'ems', 'qos', 'metrics', 'analytics', 'address'])

function singular(word: string): string {
  const last = word.slice(Math.max(word.lastIndexOf('-'), word.lastIndexOf('.')) + 1)
  if (ONE.has(last) || !word.endsWith('s')) return word
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.slice(0, -1)
}
