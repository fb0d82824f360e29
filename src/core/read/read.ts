/** Reading a resource: rows from records or computed, what is derived, filters, order and pages. */
import { failure } from '../../model/failure.ts'
import { passes, placeOf, placeOrder, type Filter, type Order, type Place } from '../../model/query.ts'
import { fieldAt, identityPaths, printedKey, type Resource } from '../../model/resource.ts'
import type { Search } from '../../model/search.ts'
import type { Row } from '../../model/value.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Cluster } from '../cluster.ts'
import { derive, isDerived } from './derive.ts'
import { FirstOf, type Bound } from './first-of.ts'
import { Sieve } from './sieve.ts'
import { charactersOf } from './long-values.ts'
import { firstWhere } from './sorted-list.ts'
import { keeping, shownCharacters, shownOf } from './shown-rows.ts'
import { wholeRow, wholeRows } from './whole-rows.ts'

/** What takes a millisecond or more to show. */
const LONG_CHARACTERS = 8 * 1024

export interface CollectionQuery {
  readonly path: Readonly<Record<string, string>>
  readonly fields: ReadonlySet<string>
  readonly filters: readonly Filter[]
  readonly orders: readonly Order[]
  readonly limit: number
  readonly offset: number
  /** Those of the behaviour's own. */
  readonly args?: Row
  /** Only rows that come after this place. */
  readonly after?: Place
  /** Only rows that have what is looked for. */
  readonly search?: Search | undefined
  /** Only counts, all of them, be there a limit or not. */
  readonly isCount?: boolean
}

export interface Page {
  readonly rows: readonly Row[]
  /** How many rows the page has, or all of them where that is asked for. */
  readonly count: number
  /** Where the next page begins, when there is one. */
  readonly next?: Place
  /** The place of one of the rows. */
  place(at: number): Place | undefined
}

/**
 * The rows are those of one instant, but for long values of long ones, which are read when the page is known, as what is
 * derived of them is: some rows at a time. A page that is very long ends before its limit.
 */
export function readCollection(cluster: Cluster, behaviour: Behaviour, query: CollectionQuery): Promise<Page> {
  return cluster.pages.make((hasRows) => readPage(cluster, behaviour, query, hasRows))
}

async function readPage(
  cluster: Cluster,
  behaviour: Behaviour,
  query: CollectionQuery,
  hasRows: (rows: number) => Promise<void>,
): Promise<Page> {
  const { resource } = behaviour
  const { limit, offset, after, search } = query
  const orders = query.orders.length > 0 ? query.orders : resource.order
  const key = identityPaths(resource)
  const compare = placeOrder(resource, orders)
  const isPaged = behaviour.rows === undefined && pathParent(resource, query.path) !== undefined
  if (isPaged) await insistOnParents(cluster, behaviour, query.path)
  const isSliced = isPaged || behaviour.rowPages !== undefined
  const rows = isSliced ? [] : await shortRowsOf(cluster, behaviour, query.path, query.args)
  // One more than the page has tells whether there is another.
  const bound: Bound<Placed> = {
    count: offset + limit + 1,
    weightless: offset,
    weightMax: cluster.pages.charactersMax,
    weight: ({ row }) => shownCharacters(row, query.fields),
  }
  const isInOrder = orders.length === 0 && areInOrder(behaviour, query.path)
  const found = isInOrder ? new InOrder<Placed>(bound) : new FirstOf<Placed>(bound, (a, b) => compare(a.place, b.place))
  const from =
    isInOrder && after !== undefined && query.isCount !== true
      ? firstWhere(rows, (row) => compare(placeOf(row, [], key), after) > 0)
      : 0
  const sieve = new Sieve(cluster, behaviour, query.filters, [
    ...orders.map(({ path }) => path),
    ...(search?.paths ?? []),
  ])
  const hasOwnKeys = resource.key.some((each) => query.path[each] !== undefined)
  let count = 0
  const slices = isPaged
    ? pagesUnder(cluster, resource, query.path)
    : (behaviour.rowPages?.(cluster) ?? sieve.candidates(from === 0 ? rows : rows.slice(from)))
  const kept = keeping(behaviour, query.fields, !isPaged)
  for await (const slice of slices) {
    const within = hasOwnKeys ? slice.filter((row) => isWithin(resource, row, query.path)) : slice
    const sifted = await sieve.sift(within)
    const passing = search === undefined ? sifted : sifted.filter((row) => search.test(row))
    count += passing.length
    if (query.isCount === true) continue
    await hasRows(Math.min(count, limit))
    const placed = passing.map((row): Placed => ({ row: kept(row), place: placeOf(row, orders, key) }))
    found.add(after === undefined ? placed : placed.filter(({ place }) => compare(place, after) > 0))
    if (found.isFull) break
  }
  const chosen = found.items().slice(offset, offset + limit)
  const page = await shownOf(
    cluster,
    behaviour,
    chosen.map(({ row }) => row),
    query.fields,
  )
  const last = chosen[page.seen - 1]
  return {
    rows: page.rows.map(({ row }) => row),
    count: query.isCount === true ? Math.max(0, count - offset) : page.rows.length,
    // What was chosen may have been removed meanwhile, and what comes after it was not looked at.
    ...((found.isCut || found.items().length > offset + page.seen) && last !== undefined ? { next: last.place } : {}),
    place: (at) => chosen[page.rows[at]?.at ?? -1]?.place,
  }
}

function pathParent({ parent }: Resource, path: Readonly<Record<string, string>>): string | undefined {
  return parent === undefined ? undefined : path[parent]
}

/** The rows under the keys of a path, some at a time. */
async function* pagesUnder(
  cluster: Cluster,
  resource: Resource,
  path: Readonly<Record<string, string>>,
): AsyncGenerator<readonly Row[], void, void> {
  const others = resource.pathKeys.filter((key) => key !== resource.parent)
  for await (const page of cluster.rowPages(resource.rowsOf, pathParent(resource, path))) {
    yield page.filter((row) => others.every((key) => row[key] === path[key]))
  }
}

/** Whether all records of a type are asked for, which come in the order of the type. */
function areInOrder(behaviour: Behaviour, path: Readonly<Record<string, string>>): boolean {
  const { resource } = behaviour
  const isAll = resource.parent === undefined || path[resource.parent] === undefined
  const isStored = identityPaths(resource).every((each) => !isDerived(behaviour, each))
  return behaviour.rows === undefined && resource.rowsOf === resource.type && isAll && isStored
}

/** Items that come in order already. */
class InOrder<Item> {
  readonly #items: Item[] = []
  readonly #bound: Bound<Item>
  #weight = 0
  #isCut = false

  constructor(bound: Bound<Item>) {
    this.#bound = bound
  }

  /** With one more than is wanted, which tells whether there is another. */
  get isFull(): boolean {
    return this.#isCut
  }

  get isCut(): boolean {
    return this.#isCut
  }

  add(items: readonly Item[]): void {
    for (const item of items) {
      if (this.#isCut) return
      this.#isCut = this.#items.length + 1 >= this.#bound.count || this.#weight >= this.#bound.weightMax
      if (this.#items.length >= this.#bound.weightless) this.#weight += this.#bound.weight(item)
      this.#items.push(item)
    }
  }

  items(): readonly Item[] {
    return this.#items
  }
}

/** Whether a row has the keys of a path that are its own, too. */
function isWithin(resource: Resource, row: Row, path: Readonly<Record<string, string>>): boolean {
  return resource.key.every((key) => path[key] === undefined || printedKey(resource, key, row) === path[key])
}

interface Placed {
  readonly row: Row
  readonly place: Place
}

/** The rows under the keys of a path. A parent that is not there is a failure, not an empty list. */
export async function rowsOf(
  cluster: Cluster,
  behaviour: Behaviour,
  path: Readonly<Record<string, string>>,
): Promise<Row[]> {
  const rows: Row[] = []
  for await (const some of wholeRows(cluster, behaviour.resource, await shortRowsOf(cluster, behaviour, path), 'all')) {
    rows.push(...some.map(({ row }) => row))
  }
  return rows
}

/** The same rows; long ones may lack their long values. */
async function shortRowsOf(
  cluster: Cluster,
  behaviour: Behaviour,
  path: Readonly<Record<string, string>>,
  args: Row = {},
): Promise<Row[]> {
  const { resource } = behaviour
  await insistOnParents(cluster, behaviour, path)
  if (behaviour.rows !== undefined) return (await behaviour.rows(cluster, path, args)) as Row[]
  const parent = resource.parent === undefined ? undefined : path[resource.parent]
  const rows = await cluster.shortRows(resource.rowsOf, parent)
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
  if (row === undefined)
    throw failure('recordNotFound', { noun: behaviour.resource.noun }, { target: behaviour.resource.key[0] })
  // Of readers that come together, each shows its own in a turn of its own.
  if (isLong(row) && shownCharacters(row, fields) > LONG_CHARACTERS) await cluster.system.turn()
  const [derived] = await derive(cluster, behaviour, [row], fields)
  return derived ?? row
}

function isLong(row: Row): boolean {
  let characters = 0
  for (const path in row) {
    const value = row[path]
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null) characters += charactersOf(value)
    if (characters > LONG_CHARACTERS) return true
  }
  return false
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
    const isHere = (found: Row | undefined) =>
      found !== undefined && resource.pathKeys.every((key) => found[key] === path[key])
    if (isHere(row)) return row
    if (resource.alsoBy === undefined) return undefined
    if (resource.alsoBy === 'name' && resource.nameWithin !== false) {
      const within = resource.nameWithin === undefined ? '' : path[resource.nameWithin]
      const key = await cluster.keyOfName(resource.rowsOf, instance[0] ?? '', within)
      const named = key === undefined ? undefined : await cluster.find(resource.rowsOf, key)
      return isHere(named) ? named : undefined
    }
  }
  const rows = await shortRowsOf(cluster, behaviour, behaviour.rows === undefined ? path : known)
  const byKey = rows.find((row) => resource.key.every((key) => printedKey(resource, key, row) === known[key]))
  const { alsoBy } = resource
  const found = byKey ?? (alsoBy === undefined ? undefined : rows.find((row) => row[alsoBy] === instance[0]))
  return found === undefined ? undefined : wholeRow(cluster, resource, found)
}

/** Whether a row passes filters, also those on what is derived of it. */
export async function hasAll(
  cluster: Cluster,
  behaviour: Behaviour,
  row: Row,
  filters: readonly Filter[],
): Promise<boolean> {
  if (filters.length === 0) return true
  const [derived = row] = await derive(cluster, behaviour, [row], new Set(filters.map(({ path }) => path)))
  return passes(derived, filters)
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
      throw failure('recordNotFound', { noun: cluster.registry.resource(reference.type).noun }, { target: key })
    }
  }
}
