/** Reading a resource: rows from records or computed, what is derived, filters, order and pages. */
import { failures } from '../model/failure.ts'
import { comparePlaces, passes, placeOf, type Filter, type Order, type Place } from '../model/query.ts'
import { fieldAt, printedKey } from '../model/resource.ts'
import type { Row } from '../model/value.ts'
import type { Behaviour, Derivation } from './behaviour.ts'
import type { Cluster } from './cluster.ts'
import { referenceDerivations } from './references.ts'

export interface CollectionQuery {
  readonly path: Readonly<Record<string, string>>
  readonly fields: ReadonlySet<string>
  readonly filters: readonly Filter[]
  readonly orders: readonly Order[]
  readonly limit: number
  readonly offset: number
  /** Those of the behaviour's own. */
  readonly args?: Readonly<Record<string, string>>
  /** Only rows that come after this place. */
  readonly after?: Place
}

export interface Page {
  readonly rows: readonly Row[]
  /** Where the next page begins, when there is one. */
  readonly next?: Place
}

export async function readCollection(cluster: Cluster, behaviour: Behaviour, query: CollectionQuery): Promise<Page> {
  const { resource } = behaviour
  const orders = query.orders.length > 0 ? query.orders : resource.order
  const asked = [...query.filters.map((filter) => filter.path), ...orders.map((order) => order.path)]
  let rows = await rowsOf(cluster, behaviour, query.path, query.args)
  rows = await derive(cluster, behaviour, rows, new Set(asked))
  rows = rows.filter((row) => passes(row, query.filters))
  const places = new Map(rows.map((row) => [row, placeOf(row, orders, identity(behaviour))]))
  const order = (a: Place, b: Place) => comparePlaces(resource, orders, a, b)
  const sorted = rows.toSorted((a, b) => order(places.get(a) ?? [], places.get(b) ?? []))
  const { after } = query
  const from = after === undefined ? sorted : sorted.filter((row) => order(places.get(row) ?? [], after) > 0)
  const page = from.slice(query.offset, query.offset + query.limit)
  const last = page.at(-1)
  const isMore = from.length > query.offset + page.length && last !== undefined
  return {
    rows: await derive(cluster, behaviour, page, query.fields),
    ...(isMore ? { next: places.get(last) ?? [] } : {}),
  }
}

/** The rows under the keys of a path. A parent that is not there is a failure, not an empty list. */
export async function rowsOf(
  cluster: Cluster,
  behaviour: Behaviour,
  path: Readonly<Record<string, string>>,
  args: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  const { resource } = behaviour
  await insistOnParents(cluster, behaviour, path)
  if (behaviour.rows !== undefined) return behaviour.rows(cluster, path, args)
  const parent = resource.parent === undefined ? undefined : path[resource.parent]
  const rows = await cluster.rows(resource.rowsOf, parent)
  const others = resource.pathKeys.filter((key) => key !== resource.parent)
  return others.length === 0 ? rows : rows.filter((row) => others.every((key) => row[key] === path[key]))
}

/** The row that an instance path addresses, with the fields asked for. */
export async function readInstance(
  cluster: Cluster,
  behaviour: Behaviour,
  path: Readonly<Record<string, string>>,
  instance: readonly string[],
  fields: ReadonlySet<string>,
): Promise<Row> {
  const row = await findInstance(cluster, behaviour, path, instance)
  if (row === undefined) throw failures.notFound(behaviour.resource.noun, behaviour.resource.key[0])
  const [derived] = await derive(cluster, behaviour, [row], fields)
  return derived ?? row
}

export async function findInstance(
  cluster: Cluster,
  behaviour: Behaviour,
  path: Readonly<Record<string, string>>,
  instance: readonly string[],
): Promise<Row | undefined> {
  const { resource } = behaviour
  const known: Record<string, string> = { ...path }
  for (const [at, key] of resource.key.entries()) known[key] = instance[at] ?? ''
  if (behaviour.rows === undefined && resource.recordKey.every((key) => known[key] !== undefined)) {
    await insistOnParents(cluster, behaviour, path)
    const row = await cluster.find(resource.rowsOf, resource.recordKey.map((key) => known[key]).join('/'))
    if (row !== undefined && resource.pathKeys.every((key) => row[key] === path[key])) return row
    if (resource.alsoBy === undefined) return undefined
  }
  const rows = await rowsOf(cluster, behaviour, behaviour.rows === undefined ? path : known)
  const byKey = rows.find((row) => resource.key.every((key) => printedKey(resource, key, row) === known[key]))
  const { alsoBy } = resource
  return byKey ?? (alsoBy === undefined ? undefined : rows.find((row) => row[alsoBy] === instance[0]))
}

export async function insistOnParents(
  cluster: Cluster,
  behaviour: Behaviour,
  path: Readonly<Record<string, string>>,
): Promise<void> {
  for (const key of behaviour.resource.pathKeys) {
    const reference = fieldAt(behaviour.resource, key)?.field.reference
    if (reference?.part !== 'uuid') continue
    if ((await cluster.find(reference.type, path[key] ?? '')) === undefined) {
      throw failures.notFound(cluster.registry.resource(reference.type).noun, key)
    }
  }
}

/** Adds derived fields to rows: only those that are needed. */
export async function derive(
  cluster: Cluster,
  behaviour: Behaviour,
  rows: readonly Row[],
  paths: ReadonlySet<string>,
): Promise<Row[]> {
  let derived = [...rows]
  if (derived.length === 0) return derived
  for (const derivation of derivationsOf(behaviour)) {
    const isNeeded = [...paths].some((path) =>
      derivation.gives.some((given) => path === given || path.startsWith(`${given}.`)),
    )
    if (!isNeeded) continue
    const added = await derivation.from(cluster, derived)
    derived = derived.map((row, at) => ({ ...row, ...added[at] }))
  }
  return derived
}

const derivations = new WeakMap<Behaviour, readonly Derivation[]>()

function derivationsOf(behaviour: Behaviour): readonly Derivation[] {
  const known = derivations.get(behaviour)
  if (known !== undefined) return known
  const made = [...referenceDerivations(behaviour.resource), ...(behaviour.derive ?? [])]
  derivations.set(behaviour, made)
  return made
}

/** What tells rows apart and orders them where nothing else does: the name first, for people. */
function identity(behaviour: Behaviour): readonly string[] {
  const { resource } = behaviour
  const hasName = resource.fields.has('name') && !resource.key.includes('name')
  return [...(hasName ? ['name'] : []), ...resource.key]
}
