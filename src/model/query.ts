/** What a GET of a collection or an instance asks for, checked against the resource; and its evaluation over rows. */
import { failure } from './failure.ts'
import { compileFilter, type Test } from './filter.ts'
import { isServed, type Release } from './release.ts'
import { declaredName, fieldAt, type Order, type Resource } from './resource.ts'
import { valuesAt } from './values-at.ts'
import { type Row, type Value, textOf } from './value.ts'

export type { Order } from './resource.ts'

export interface Filter {
  readonly path: string
  readonly test: Test
}

/** A filter on an object is one on its name. Failures call the field by the name that the client used. */
export function parseFilter(
  resource: Resource,
  given: string,
  expression: string,
  served: Release,
  name = given,
): Filter {
  const path = namePath(resource, given)
  const found = fieldAt(resource, path)
  if (found === undefined || !isServed(found.field.since, served)) throw failure('argumentUnexpected', { name })
  if (found.kind.isSecret === true || found.field.shownOnce) {
    throw failure('fieldNotFilterable', { name })
  }
  return { path, test: compileFilter(name, found.kind, expression) }
}

/** The path that a name means: of what has a name and is no plain value, that name. */
function namePath(resource: Resource, given: string): string {
  const name = declaredName(resource, given)
  const found = fieldAt(resource, name)
  return found === undefined || found.kind.members?.['name'] !== undefined ? `${name}.name` : name
}

const ORDERS_MAX = 16

/**
 * `space.used desc,name`: a plus or a blank stands between name and direction. Clients that have other names for fields say
 * which path each means.
 */
export function parseOrder(
  resource: Resource,
  expression: string,
  served: Release,
  pathOf: (name: string) => string = (name) => name,
): Order[] {
  const refuse = (problem: string) => failure('orderByUnfit', { problem })
  const orders = expression
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [given = '', direction = 'asc', ...rest] = part.split(/\s+/)
      const path = namePath(resource, pathOf(given))
      const found = fieldAt(resource, path)
      if (found === undefined || !isServed(found.field.since, served)) {
        throw refuse(`"${given.slice(0, 80)}" is not a field of ${resource.noun}.`)
      }
      const { isSecret, element, members } = found.kind
      if (isSecret === true || found.field.shownOnce || element !== undefined || members !== undefined) {
        throw refuse(`nothing can be sorted by "${given.slice(0, 80)}".`)
      }
      const word = direction.toLowerCase()
      if (rest.length > 0 || (word !== 'asc' && word !== 'desc')) {
        throw refuse(`"${part.slice(0, 80)}" is not a field with asc or desc.`)
      }
      return { path, isDescending: word === 'desc' }
    })
  if (orders.length > ORDERS_MAX) throw refuse(`it names more than ${ORDERS_MAX} fields.`)
  return orders
}

export function passes(row: Row, filters: readonly Filter[]): boolean {
  return filters.every((filter) => filter.test(valuesAt(row, filter.path)))
}

/** Makes the function that tells of many rows whether they pass: for what is one plain value no list is made. */
export function predicate(filters: readonly Filter[]): (row: Row) => boolean {
  const tests = filters.map(({ path, test }) => {
    // A test looks at it before the next row comes.
    const one: Value[] = [null]
    return (row: Row) => {
      const value = row[path]
      if (value === undefined || value === null || Array.isArray(value)) return test(valuesAt(row, path))
      one[0] = value
      return test(one)
    }
  })
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (row) => tests.every((test) => test(row))
}

/** The place of a row in an order: its values at the ordered paths, then its key. Equal only for the same row. */
export type Place = readonly (Value | null)[]

export function placeOf(row: Row, orders: readonly Order[], key: readonly string[]): Place {
  return [...orders.map((order) => valuesAt(row, order.path)[0] ?? null), ...key.map((path) => row[path] ?? null)]
}

/** How places compare in an order; what is not set comes last. */
export function placeOrder(resource: Resource, orders: readonly Order[]): (a: Place, b: Place) => number {
  const compares = orders.map(({ path, isDescending }) => {
    const field = fieldAt(resource, path)?.kind
    const kind = field?.element ?? field
    const compare = (left: Value, right: Value) => kind?.compare(left, right) ?? compareKeys(left, right)
    return isDescending ? (left: Value, right: Value) => -compare(left, right) : compare
  })
  return (a, b) => {
    for (let at = 0; at < a.length; at++) {
      const left = a[at] ?? null
      const right = b[at] ?? null
      if (left === null || right === null) {
        if (left !== right) return left === null ? 1 : -1
        continue
      }
      const compared = (compares[at] ?? compareKeys)(left, right)
      if (compared !== 0) return compared
    }
    return 0
  }
}

/** How rows compare by what is stored at some paths, as their places do where no order is asked for. */
export function rowOrder(paths: readonly string[]): (a: Row, b: Row) => number {
  return (a, b) => {
    for (const path of paths) {
      const left = a[path] ?? null
      const right = b[path] ?? null
      if (left === null || right === null) {
        if (left !== right) return left === null ? 1 : -1
        continue
      }
      const compared = compareKeys(left, right)
      if (compared !== 0) return compared
    }
    return 0
  }
}

/** Numbers by their size: the tenth event does not come after the first. */
function compareKeys(left: Value, right: Value): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const [a, b] = typeof left === 'string' && typeof right === 'string' ? [left, right] : [textOf(left), textOf(right)]
  return a < b ? -1 : a > b ? 1 : 0
}
