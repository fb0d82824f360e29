/** PATCH and DELETE of a command: changes the records that its query names. */
import { failure } from '../../model/failure.ts'
import type { RestReply } from '../rest/answer.ts'
import { collections } from './collections.ts'
import type { Given } from './given.ts'
import type { CommandQuery, Filters } from './query.ts'
import type { Address, Reach } from './reach.ts'
import { Sights, speaker } from './say.ts'

/** Records of one collection that one command changes. */
const CHANGED_MAX = 10_000

/** Changes the records one after the other. The first failure ends it. */
export async function change(
  reach: Reach,
  query: CommandQuery,
  method: 'PATCH' | 'DELETE',
  given: Given,
): Promise<RestReply> {
  const { resource, where } = query.command
  const filters = query.filters(query.command)
  const said = filters.plain.length + filters.conditions.length - Object.keys(where).length
  if (said === 0 && !resource.isSingleton) throw failure('commandTargetMissing')
  const addresses = await find(reach, query, filters)
  if (addresses.length === 0) throw failure('recordNotFound', { noun: resource.noun })
  for (const address of addresses) await reach.change(method, resource, address, given)
  return { status: 200, headers: {}, body: { num_records: addresses.length } }
}

/** The addresses of the records that pass. */
export async function find(reach: Reach, query: CommandQuery, filters: Filters): Promise<Address[]> {
  const { command } = query
  const { resource } = command
  const { conditions } = filters
  const key = resource.key.map((path) => [path, path] as const)
  // Of what there is one of, fields are no filters.
  const reading = query.reading(command, key, resource.isSingleton ? { plain: [], conditions } : filters)
  const sights = new Sights(reach)
  const addresses: Address[] = []
  for (const { pathValues } of await collections(reach, query, filters.plain)) {
    const read = () => ({ ...reading(), limit: CHANGED_MAX })
    const { admission, rows } = await reach.read(resource, { pathValues }, read)
    const say = await speaker(command, reading, [], conditions, sights)
    for (const row of rows) {
      if (say(row) === undefined) continue
      addresses.push({ pathValues, instance: resource.isSingleton ? [] : admission.instanceOf(row) })
    }
  }
  return addresses
}
