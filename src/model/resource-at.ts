import { kindAt } from './kinds/at-release.ts'
import { printRelease, type Release } from './release.ts'
import type { Field, Resource } from './resource.ts'

/**
 * The resource as a release has it: what kinds its fields are of. The fields themselves are all there, as records may
 * hold them; requests are asked about their `since`.
 */
export function resourceAt(resource: Resource, served: Release): Resource {
  const known = RESOURCES_AT.get(resource) ?? new Map<string, Resource>()
  RESOURCES_AT.set(resource, known)
  const name = printRelease(served)
  const at = known.get(name) ?? madeAt(resource, served)
  known.set(name, at)
  return at
}

/** Of declarations, which do not change: it is made once, for however many clusters a process has. */
const RESOURCES_AT = new WeakMap<Resource, Map<string, Resource>>()

function madeAt(resource: Resource, served: Release): Resource {
  const fields = [...resource.fields].map(([path, field]): [string, Field] => [
    path,
    { ...field, kind: kindAt(field.kind, served) },
  ])
  return { ...resource, fields: new Map(fields) }
}
