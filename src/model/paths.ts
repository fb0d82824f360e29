/** The paths of the interface that lead to records. */
import { printedKey, type Resource } from './resource.ts'
import type { Row } from './value.ts'

/** The path of a record within the given collection path. */
export function recordPath(resource: Resource, collection: string, row: Row): string {
  if (resource.isSingleton) return collection
  return `${collection}/${resource.key.map((key) => encodeURIComponent(printedKey(resource, key, row))).join('/')}`
}

/** Whether two paths of fields are the same, or one is within the other. */
export function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

/** The words of the path of a collection, or of a record in it, below `/api`. */
export function segmentsTo(
  resource: Resource,
  keys: Readonly<Record<string, string>>,
  instance: readonly string[],
): string[] {
  const words = resource.path.slice(1).split('/')
  return [...words.map((word) => (word.startsWith('{') ? (keys[word.slice(1, -1)] ?? '') : word)), ...instance]
}

/** The collection's path, with the keys of its parents filled in. */
export function collectionPath(resource: Resource, keys: Readonly<Record<string, string>>): string {
  return `/api${resource.path.replaceAll(/\{([^}]+)\}/g, (_, key: string) => encodeURIComponent(keys[key] ?? ''))}`
}
