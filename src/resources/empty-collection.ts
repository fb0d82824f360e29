import { type Behaviour, define } from '../core/behaviour.ts'
import { resource, type ResourceDeclaration } from '../model/resource.ts'

/**
 * A collection that clients list on every cluster and that never has a record here, because the product does not have
 * what it is about. Reads and filters of its fields work; nothing can be created.
 */
export function emptyCollection(declared: ResourceDeclaration): Behaviour {
  return define(resource({ nameWithin: false, ...declared }), { rows: () => Promise.resolve([]) })
}
