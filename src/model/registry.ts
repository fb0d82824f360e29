/** All resources, by type and by path. Made once from the list in `resources/index.ts`. */
import type { Resource } from './resource.ts'

export interface PathMatch {
  readonly resource: Resource
  /** Values of the keys in the path, by dotted name; also of those that narrow a collection. */
  readonly pathValues: Readonly<Record<string, string>>
  /** The last words of the path, which address one record; none for the collection or a singleton. */
  readonly instance: readonly string[]
  /** The path has the first keys of its records and not all: the collection of those that have them. */
  readonly isNarrowed?: true
}

export interface Registry {
  readonly resources: readonly Resource[]
  resource(type: string): Resource
  /** `/storage/volumes/<uuid>` without `/api`, segments decoded. Several may fit: each path is its own resource. */
  match(segments: readonly string[]): PathMatch | undefined
}

export function registry(resources: readonly Resource[]): Registry {
  const byType = new Map<string, Resource>()
  const patterns: { words: readonly string[]; resource: Resource }[] = []
  for (const each of resources) {
    if (byType.has(each.type)) throw new Error(`Two resources have the path ${each.path}.`)
    byType.set(each.type, each)
    for (const path of [each.path, ...each.aliases]) patterns.push({ words: path.slice(1).split('/'), resource: each })
  }
  // Literal words before parameters: /cluster/version is not a node named "version".
  const sorted = patterns.toSorted((a, b) => parameters(a.words) - parameters(b.words))
  return {
    resources,
    resource(type) {
      const found = byType.get(type)
      if (found === undefined) throw new Error(`No resource has the type ${type}.`)
      return found
    },
    match(segments) {
      for (const { words, resource } of sorted) {
        const extra = segments.length - words.length
        if (extra !== 0 && extra !== resource.key.length) continue
        const pathValues = fit(words, segments)
        if (pathValues !== undefined) return { resource, pathValues, instance: segments.slice(words.length) }
      }
      return narrowed(sorted, segments)
    },
  }
}

/** `/protocols/cifs/shares/<uuid of the SVM>`: tools delete a share so, with its name in the query. */
function narrowed(
  patterns: readonly { readonly words: readonly string[]; readonly resource: Resource }[],
  segments: readonly string[],
): PathMatch | undefined {
  for (const { words, resource } of patterns) {
    const given = segments.slice(words.length)
    if (given.length === 0 || given.length >= resource.key.length) continue
    const pathValues = fit(words, segments)
    if (pathValues === undefined) continue
    for (const [at, value] of given.entries()) pathValues[resource.key[at] ?? ''] = value
    return { resource, pathValues, instance: [], isNarrowed: true }
  }
  return undefined
}

function parameters(words: readonly string[]): number {
  return words.filter((word) => word.startsWith('{')).length
}

function fit(words: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const values: Record<string, string> = {}
  for (const [at, word] of words.entries()) {
    const segment = segments[at] ?? ''
    if (word.startsWith('{')) values[word.slice(1, -1)] = segment
    else if (word !== segment) return undefined
  }
  return values
}
