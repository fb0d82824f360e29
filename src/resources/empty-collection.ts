import { type Behaviour, define } from '../core/behaviour.ts'
import { type DeclaredResource, type Exactly, resource, type ResourceDeclaration } from '../model/resource.ts'

/**
 * A collection that clients list on every cluster and that never has a record here, because the product does not have
 * what it is about. Reads and filters of its fields work; nothing can be created.
 */
export function emptyCollection<const Of extends ResourceDeclaration>(
  declared: Of & Exactly<Of>,
): Behaviour<DeclaredResource<Of>> {
  const whole: ResourceDeclaration = { nameWithin: false, ...declared }
  return define(resource(whole) as DeclaredResource<Of>, { rows: () => Promise.resolve([]) })
}
