import { printedKey, type Resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'

/** The path of a record within the given collection path. */
export function recordPath(resource: Resource, collectionPath: string, row: Row): string {
  if (resource.isSingleton) return collectionPath
  return `${collectionPath}/${resource.key.map((key) => encodeURIComponent(printedKey(resource, key, row))).join('/')}`
}

/** The collection's path, with the keys of its parents filled in. */
export function collectionPath(resource: Resource, keys: Readonly<Record<string, string>>): string {
  return `/api${resource.path.replaceAll(/\{([^}]+)\}/g, (_, key: string) => encodeURIComponent(keys[key] ?? ''))}`
}

export const jobPath = (uuid: string) => `/api/cluster/jobs/${uuid}`
