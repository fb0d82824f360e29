/** What a GET of a collection or an instance asks for, checked against the resource; and its evaluation over rows. */
import { failures } from './failure.ts'
import { compileFilter, type Test } from './filter.ts'
import { isServed, type Release } from './release.ts'
import { fieldAt, valuesAt, type Order, type Resource } from './resource.ts'
import { type Row, type Value, textOf } from './value.ts'

export type { Order } from './resource.ts'

export interface Filter {
  readonly path: string
  readonly test: Test
}

/** The paths that a `fields` expression selects: `name,space`, `*`, `**`, `space.*`, `!space.used`, `a.{b,c}`. */
export function selectFields(
  resource: Resource,
  expressions: readonly string[],
  served: Release,
  isLenient = false,
): Set<string> {
  const selected = new Set<string>()
  const excluded: string[] = []
  for (const expression of expressions) {
    for (const word of splitFields(expression)) {
      if (word.startsWith('!')) excluded.push(...matching(word.slice(1)))
      else for (const path of matching(word)) selected.add(path)
    }
  }
  for (const path of excluded) selected.delete(path)
  return selected

  function matching(word: string): string[] {
    const fields = [...resource.fields.values()].filter(
      (field) => isServed(field.since, served) && field.kind.isSecret !== true && !field.shownOnce,
    )
    if (word === '**') return fields.map((field) => field.path)
    if (word === '*') return fields.filter((field) => !field.isExpensive).map((field) => field.path)
    const base = word.endsWith('.*') ? word.slice(0, -2) : word
    const within = fields.filter((field) => field.path === base || field.path.startsWith(`${base}.`))
    if (within.length > 0) return within.map((field) => field.path)
    const found = fieldAt(resource, base)
    if (found?.member !== undefined && isServed(found.field.since, served)) return [base]
    if (isLenient) return []
    throw failures.badArgument('fields', `"${word.slice(0, 80)}" is not a field of ${resource.noun}.`)
  }
}

function splitFields(expression: string): string[] {
  const words: string[] = []
  const open: string[] = []
  let word = ''
  const flush = () => {
    const trimmed = word.trim()
    if (trimmed !== '') words.push([...open, trimmed].join('.'))
    word = ''
  }
  for (const character of expression) {
    if (character === ',') flush()
    else if (character === '{') {
      open.push(word.trim().replace(/\.$/, ''))
      word = ''
      if (open.length > 16) throw failures.badArgument('fields', 'braces are nested too deeply.')
    } else if (character === '}') {
      flush()
      if (open.pop() === undefined) throw failures.badArgument('fields', 'a closing brace has no opening one.')
    } else word += character
  }
  flush()
  if (open.length > 0) throw failures.badArgument('fields', 'an opening brace is not closed.')
  return words
}

export function parseFilter(resource: Resource, name: string, expression: string, served: Release): Filter {
  const path = fieldAt(resource, name) === undefined ? `${name}.name` : name
  const found = fieldAt(resource, path)
  if (found === undefined || !isServed(found.field.since, served)) throw failures.unexpected(name)
  if (found.kind.isSecret === true || found.field.shownOnce) {
    throw failures.badArgument(name, 'it is secret and cannot be filtered by.')
  }
  return { path, test: compileFilter(name, found.kind, expression) }
}

const ORDERS_MAX = 16

/** `space.used desc,name`: a plus or a blank stands between name and direction. */
export function parseOrder(resource: Resource, expression: string, served: Release): Order[] {
  const orders = expression
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [path = '', direction = 'asc', ...rest] = part.split(/\s+/)
      const found = fieldAt(resource, path)
      if (found === undefined || !isServed(found.field.since, served)) {
        throw failures.badArgument('order_by', `"${path.slice(0, 80)}" is not a field of ${resource.noun}.`)
      }
      if (found.kind.isSecret === true || rest.length > 0 || (direction !== 'asc' && direction !== 'desc')) {
        throw failures.badArgument('order_by', `"${part.slice(0, 80)}" is not a field with asc or desc.`)
      }
      return { path, isDescending: direction === 'desc' }
    })
  if (orders.length > ORDERS_MAX) throw failures.badArgument('order_by', `it names more than ${ORDERS_MAX} fields.`)
  return orders
}

export function passes(row: Row, filters: readonly Filter[]): boolean {
  return filters.every((filter) => filter.test(valuesAt(row, filter.path)))
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

/** Numbers by their size: the tenth event does not come after the first. */
function compareKeys(left: Value, right: Value): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const [a, b] = typeof left === 'string' && typeof right === 'string' ? [left, right] : [textOf(left), textOf(right)]
  return a < b ? -1 : a > b ? 1 : 0
}
