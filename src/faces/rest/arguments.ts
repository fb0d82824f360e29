/** The query arguments of a request: the general ones, those the verb declares, and filters on fields. */
import { argumentsOf, parseArgument } from '../../model/arguments.ts'
import { failure } from '../../model/failure.ts'
import { selectFields } from '../../model/fields.ts'
import { parseFilter, parseOrder, type Filter, type Order, type Place } from '../../model/query.ts'
import { isServed, printRelease, type Release } from '../../model/release.ts'
import type { Fields, Resource } from '../../model/resource.ts'
import { parseSearch, type Search } from '../../model/search.ts'
import type { Row, Value } from '../../model/value.ts'
import { fieldsAskedFor, shared } from '../requests/field-sets.ts'
import type { Dialect } from './dialects.ts'

export const RETURN_TIMEOUT_SECONDS_MAX = 120
export const PAGE_MAX = 10_000
const ARGUMENTS_MAX = 256

export interface ReadArguments {
  readonly fields: ReadonlySet<string>
  readonly filters: readonly Filter[]
  readonly orders: readonly Order[]
  readonly limit: number
  readonly offset: number
  readonly after?: Place
  readonly returnRecords: boolean
  /** No records, and no pages: only how many there are. */
  readonly isCount: boolean
  readonly search: Search | undefined
  readonly args: Row
}

export interface WriteArguments {
  readonly returnRecords: boolean
  readonly returnTimeoutSeconds: number
  readonly args: Row
}

/** Arguments that are taken anywhere and change nothing that is served. */
const HARMLESS = new Set(['pretty', 'ignore_unknown_fields', 'return_timeout', 'return_records'])

export function readArguments(
  resource: Resource,
  given: URLSearchParams,
  dialect: Dialect,
  release: Release,
  isCollection: boolean,
  declared?: Fields,
): ReadArguments {
  insistOnCount(given)
  returnTimeout(given, 15)
  const isLenient = booleanArgument(given, 'ignore_unknown_fields', false)
  const expressions = given.getAll('fields').filter((expression) => expression.replaceAll(',', '').trim() !== '')
  const isKeys = expressions.length === 0 && isCollection && dialect.fieldsByDefault === 'keys'
  const asked = [printRelease(release), dialect.keysAlways, isLenient, isKeys, ...expressions].join(' ')
  let fields = fieldsAskedFor(resource, asked, () => {
    const identity = keyFields(resource, release)
    const selected = isKeys
      ? new Set([...identity, ...resource.shownUnasked])
      : selectFields(resource, expressions.length > 0 ? expressions : ['*'], release, isLenient)
    if (dialect.keysAlways) for (const path of identity) selected.add(path)
    return shared(resource, selected)
  })

  const filters: Filter[] = []
  const args: Record<string, Value> = {}
  const known = argumentsOf(declared)
  for (const [name, expression] of given) {
    if (HARMLESS.has(name) || name === 'fields') continue
    // Tools send these with everything, be it a collection or one record.
    if (SEARCH.has(name) && isCollection && !resource.fields.has(name)) continue
    if (PAGING.has(name) || (name === 'limit' && !resource.fields.has('limit'))) continue
    const argument = isCollection ? known.get(name) : undefined
    if (argument !== undefined) args[name] = parseArgument(argument, expression)
    else filters.push(parseFilter(resource, name, expression, release))
  }
  if (dialect.showsFiltered && filters.length > 0) {
    fields = shared(resource, new Set([...fields, ...filters.map(({ path }) => path)]))
  }
  const limit = given.get('max_records') ?? (resource.fields.has('limit') ? null : given.get('limit'))
  const start = given.get('start')
  const returnRecords = booleanArgument(given, 'return_records', true)
  return {
    fields,
    filters,
    orders: parseOrder(resource, [...given.getAll('order_by'), ...given.getAll('$orderBy')].join(','), release),
    limit:
      limit === null ? dialect.pageByDefault : pageLimit(given.has('max_records') ? 'max_records' : 'limit', limit),
    offset: offsetArgument(given),
    ...(start === null ? {} : { after: decodePlace(start) }),
    returnRecords,
    isCount: !returnRecords && limit === null && start === null,
    search: isCollection && !resource.fields.has('query') ? searchOf(resource, given, release) : undefined,
    args,
  }
}

const SEARCH = new Set(['query', 'query_fields'])

function searchOf(resource: Resource, given: URLSearchParams, release: Release): Search | undefined {
  return parseSearch(resource, given.get('query'), given.getAll('query_fields'), release)
}

const PAGING = new Set(['max_records', 'offset', 'order_by', '$orderBy', 'start'])

export function writeArguments(
  resource: Resource,
  given: URLSearchParams,
  dialect: Dialect,
  declared: Fields | undefined,
): WriteArguments {
  insistOnCount(given)
  const args: Record<string, Value> = {}
  const known = argumentsOf(declared)
  for (const [name, value] of given) {
    if (HARMLESS.has(name)) continue
    const argument = known.get(name)
    if (argument === undefined) {
      if (resource.fields.has(name)) {
        throw failure('fieldsInQuery', { name })
      }
      throw failure('argumentUnexpected', { name })
    }
    args[name] = parseArgument(argument, value)
  }
  return {
    args,
    returnRecords: booleanArgument(given, 'return_records', dialect.createShowsRecords),
    returnTimeoutSeconds: returnTimeout(given, dialect.returnTimeoutSeconds),
  }
}

export interface ManyArguments extends BulkArguments {
  readonly filters: readonly Filter[]
  readonly orders: readonly Order[]
  readonly limit: number
  readonly after?: Place
}

export interface BulkArguments extends WriteArguments {
  /** Goes on with the others when one fails. */
  readonly continueOnFailure: boolean
  /** Each is done before the next is begun. */
  readonly isSerial: boolean
}

/** How many one request changes when it does not say: those that remain follow by the link to the next page. */
const CHANGED_BY_DEFAULT = 1000
/** A write of many waits this long where it is not said otherwise, whoever asks. */
const MANY_TIMEOUT_SECONDS = 15
const TOGETHER = ['continue_on_failure', 'serial_records']

/** Of a write of all records that a query chooses. Fails where no field is in the query: nobody means all of them. */
export function manyArguments(
  resource: Resource,
  given: URLSearchParams,
  release: Release,
  declared: Fields | undefined,
): ManyArguments {
  insistOnCount(given)
  const filters: Filter[] = []
  const args: Record<string, Value> = {}
  const known = argumentsOf(declared)
  for (const [name, expression] of given) {
    if (HARMLESS.has(name) || MANY.has(name)) continue
    const argument = known.get(name)
    if (argument !== undefined) args[name] = parseArgument(argument, expression)
    else filters.push(parseFilter(resource, name, expression, release))
  }
  if (filters.length === 0) {
    throw failure('writeWithoutFilter')
  }
  const limit = given.get('max_records')
  const start = given.get('start')
  return {
    filters,
    args,
    orders: parseOrder(resource, given.getAll('order_by').join(','), release),
    limit: limit === null ? CHANGED_BY_DEFAULT : pageLimit('max_records', limit),
    ...(start === null ? {} : { after: decodePlace(start) }),
    returnRecords: booleanArgument(given, 'return_records', false),
    returnTimeoutSeconds: returnTimeout(given, MANY_TIMEOUT_SECONDS),
    ...together(given),
  }
}

/** No offset: what it passes over changes with every record that goes. */
const MANY = new Set([...TOGETHER, 'max_records', 'order_by', 'start'])

/** Of a write whose body lists the records. */
export function bulkArguments(
  resource: Resource,
  given: URLSearchParams,
  dialect: Dialect,
  declared: Fields | undefined,
): BulkArguments {
  const own = new URLSearchParams([...given].filter(([name]) => !TOGETHER.includes(name)))
  return { ...writeArguments(resource, own, dialect, declared), ...together(given) }
}

function together(given: URLSearchParams) {
  return {
    continueOnFailure: booleanArgument(given, 'continue_on_failure', false),
    isSerial: booleanArgument(given, 'serial_records', false),
  }
}

/** Of a change of one record. Fields in the query are conditions: what does not have them is not there. */
export function changeArguments(
  resource: Resource,
  given: URLSearchParams,
  dialect: Dialect,
  release: Release,
  declared: Fields | undefined,
): WriteArguments & { readonly filters: readonly Filter[] } {
  const own = new URLSearchParams()
  const filters: Filter[] = []
  for (const [name, value] of given) {
    if (HARMLESS.has(name) || argumentsOf(declared).has(name)) own.append(name, value)
    else filters.push(parseFilter(resource, name, value, release))
  }
  insistOnCount(given)
  return { ...writeArguments(resource, own, dialect, declared), filters }
}

/** The fields that tell one from another: the key, the name, and what it belongs to where its path says so. */
export function keyFields(resource: Resource, release: Release): string[] {
  const parents = resource.pathKeys.flatMap((key) => [key, key.replace(/uuid$/, 'name')])
  return ['uuid', ...resource.key, 'name', ...parents].filter((path, at, all) => {
    const field = resource.fields.get(path)
    return field !== undefined && isServed(field.since, release) && all.indexOf(path) === at
  })
}

/** A place in an order, for the link to the next page. */
export function encodePlace(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

export function decodePlace(text: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (
      Array.isArray(place) &&
      place.length <= 32 &&
      place.every((part) => part === null || typeof part !== 'object')
    ) {
      return place as Place
    }
  } catch {
    // Refused below, as any other text that is not ours.
  }
  throw failure('startUnknown')
}

function returnTimeout(given: URLSearchParams, byDefault: number): number {
  const text = given.get('return_timeout')
  return text === null ? byDefault : integer('return_timeout', text, 0, RETURN_TIMEOUT_SECONDS_MAX)
}

/** How many records a page has, where it is said. */
export function pageLimit(name: 'max_records' | 'limit', text: string): number {
  return integer(name, text, 1, PAGE_MAX)
}

/** How many records are passed over before the page begins. */
export function offsetArgument(given: URLSearchParams): number {
  return integer('offset', given.get('offset') ?? '0', 0, Number.MAX_SAFE_INTEGER)
}

function integer(name: string, text: string, min: number, max: number): number {
  if (text === '') throw failure('argumentEmpty', { name })
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw failure('argumentOutOfBounds', { min, max, name })
  }
  return value
}

function booleanArgument(given: URLSearchParams, name: string, byDefault: boolean): boolean {
  const text = given.get(name)
  if (text === null) return byDefault
  const word = text.toLowerCase()
  if (word !== 'true' && word !== 'false') throw failure('argumentNotFlag', { name })
  return word === 'true'
}

export function insistOnCount(given: URLSearchParams): void {
  if (given.size > ARGUMENTS_MAX) {
    throw failure('tooManyArguments', { max: ARGUMENTS_MAX })
  }
}
