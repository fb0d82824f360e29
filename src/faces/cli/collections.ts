/** The collections that a command is about: one, or one within each of its parents, as snapshots lie within volumes. */
import { failure } from '../../model/failure.ts'
import { type Filter, parseOrder } from '../../model/query.ts'
import { fieldAt } from '../../model/resource.ts'
import type { SomeType } from '../../model/rows.ts'
import { textOf } from '../../model/value.ts'
import type { CommandQuery, Said } from './query.ts'
import type { Address, Reach } from './reach.ts'
import type { Command } from './tree.ts'

/** Parents within which one command looks. */
const PARENTS_MAX = 10_000

export interface Collection extends Address {
  /** The UUID of what it lies within. */
  readonly parent: string
}

interface Parent {
  readonly type: SomeType
  /** What fields call it: `volume`. */
  readonly base: string
  /** The key of the path: `volume.uuid`. */
  readonly key: string
}

/** What the records of a command lie within. */
export function parentOf({ resource }: Command, { request }: Reach): Parent | undefined {
  const [key, ...more] = resource.pathKeys
  if (key === undefined) return undefined
  const reference = fieldAt(resource, key)?.field.reference
  if (reference?.part !== 'uuid' || more.length > 0) throw failure('apiNotFound', { path: request.target })
  return { type: reference.type, base: reference.base, key }
}

/** The collections that are not excluded by what is said of the names of parents and of their SVMs. */
export async function collections(reach: Reach, query: CommandQuery, said: readonly Said[]): Promise<Collection[]> {
  const { command } = query
  const parent = parentOf(command, reach)
  if (parent === undefined) return [{ pathValues: {}, parent: '' }]
  const { registry, release } = reach.cluster
  const parents = registry.resource(parent.type)
  const { rows } = await reach.read(parents, { pathValues: {} }, () => ({
    fields: UUID,
    filters: said.flatMap((one): Filter[] => {
      if (one.path === `${parent.base}.name`) return [query.filter(parents, { ...one, path: 'name' })]
      return one.path === 'svm.name' && parent.base !== 'svm' ? [query.filter(parents, one)] : []
    }),
    orders: parseOrder(parents, 'uuid', release),
    limit: PARENTS_MAX,
  }))
  return rows.map((row) => {
    const uuid = textOf(row['uuid'])
    return { pathValues: { [parent.key]: uuid }, parent: uuid }
  })
}

const UUID: ReadonlySet<string> = new Set(['uuid'])
