import type { Condition } from '../../records/conditions.ts'
import { readIsoDate } from '../config/elements.ts'
import { addressRange } from './address.ts'
import { compilePattern, compileText, conditionKey, variableKeys } from './pattern.ts'
import type { Lookup } from './pattern.ts'

/** Values of one condition. */
export const conditionValuesMax = 500

/**
 * Makes the fast form of a condition that passed `conditionProblem`. Of several values one must fit; with an operator that
 * says "not", none may. A key that nothing is known about fits no value.
 */
export function compileCondition(
  { operator, key, values }: Condition,
  options: { readonly isLiteral: boolean },
): (lookup: Lookup, variables?: Lookup) => boolean {
  const parsed = parseOperator(operator)
  if (parsed === undefined) throw new Error(`There is no condition operator "${operator}".`)
  const name = conditionKey(key)
  const { base, isNegated, ifExists, quantifier } = parsed
  if (base === 'null') {
    const isMissingWanted = values.some((value) => value.toLowerCase() === 'true')
    const isPresentWanted = values.some((value) => value.toLowerCase() === 'false')
    return (lookup) => (hasValue(lookup(name)) ? isPresentWanted : isMissingWanted)
  }
  const tests = values.map((value) => compileValue(base, value, options))
  const fits = (text: string, lookup: Lookup): boolean => tests.some((test) => test(text, lookup)) !== isNegated
  return (lookup, variables = lookup) => {
    const known = lookup(name)
    if (!hasValue(known)) return ifExists || (quantifier === undefined ? isNegated : quantifier === 'all')
    if (quantifier === 'all') return known.every((text) => fits(text, variables))
    if (quantifier === 'any' || !isNegated) return known.some((text) => fits(text, variables))
    return known.every((text) => fits(text, variables))
  }
}

export function conditionProblem({ operator, key, values }: Condition): ConditionProblem | undefined {
  const parsed = parseOperator(operator)
  if (parsed === undefined) return { kind: 'operator', message: `There is no condition operator "${operator}".` }
  if (!isConditionKey(key)) return { kind: 'key', message: `There is no condition key "${key}".` }
  if (values.length === 0 || values.length > conditionValuesMax) {
    return { kind: 'value', message: `A condition has 1 to ${conditionValuesMax} values.` }
  }
  const bad = values.find((value) => !isValueOf(parsed.base, value))
  return bad === undefined ? undefined : { kind: 'value', message: `"${bad}" is no value for ${operator}.` }
}

export interface ConditionProblem {
  readonly kind: 'operator' | 'key' | 'value'
  readonly message: string
}

/** A key that nobody fills in would make a statement that never holds, so only what is known may be named. */
export function isConditionKey(name: string): boolean {
  const key = conditionKey(name)
  const slash = key.indexOf('/')
  return slash < 0 ? plainKeys.has(key) : slash < key.length - 1 && tagKeys.has(key.slice(0, slash))
}

/** The keys that statements look at, as `conditionKey` writes them: what need not be known need not be read. */
export function keysOf(conditions: readonly Condition[]): ReadonlySet<string> {
  return new Set(conditions.flatMap(({ key, values }) => [conditionKey(key), ...values.flatMap(variableKeys)]))
}

/** Whether a condition limits a statement to some fixed values, so that what it allows is not open to everybody. */
export function isLimiting({ operator, key, values }: Condition): boolean {
  const parsed = parseOperator(operator)
  if (parsed === undefined || parsed.isNegated || parsed.ifExists || parsed.quantifier === 'all') return false
  const name = conditionKey(key)
  if (name === 'aws:sourceip') return parsed.base === 'ip' && values.every(isNarrow)
  return limitingKeys.has(name) && parsed.base !== 'null' && values.every((value) => !/[*?]|\$\{/.test(value))
}

type Base =
  | 'equals'
  | 'equalsIgnoreCase'
  | 'like'
  | 'bool'
  | 'ip'
  | 'null'
  | `number${Comparison}`
  | `date${Comparison}`
type Comparison = '=' | '<' | '<=' | '>' | '>='

interface Operator {
  readonly base: Base
  readonly isNegated: boolean
  readonly ifExists: boolean
  readonly quantifier: 'any' | 'all' | undefined
}

const bases = new Map<string, readonly [Base, boolean]>([
  ['stringequals', ['equals', false]],
  ['stringnotequals', ['equals', true]],
  ['stringequalsignorecase', ['equalsIgnoreCase', false]],
  ['stringnotequalsignorecase', ['equalsIgnoreCase', true]],
  ['stringlike', ['like', false]],
  ['stringnotlike', ['like', true]],
  ['arnequals', ['like', false]],
  ['arnlike', ['like', false]],
  ['arnnotequals', ['like', true]],
  ['arnnotlike', ['like', true]],
  ['bool', ['bool', false]],
  ['ipaddress', ['ip', false]],
  ['notipaddress', ['ip', true]],
  ['null', ['null', false]],
  ...comparisons('numeric', 'number'),
  ...comparisons('date', 'date'),
])

function comparisons(name: string, sort: 'number' | 'date'): [string, readonly [Base, boolean]][] {
  return [
    [`${name}equals`, [`${sort}=`, false]],
    [`${name}notequals`, [`${sort}=`, true]],
    [`${name}lessthan`, [`${sort}<`, false]],
    [`${name}lessthanequals`, [`${sort}<=`, false]],
    [`${name}greaterthan`, [`${sort}>`, false]],
    [`${name}greaterthanequals`, [`${sort}>=`, false]],
  ]
}

function parseOperator(operator: string): Operator | undefined {
  const match = /^(?:(forallvalues|foranyvalue):)?([a-z]+?)(ifexists)?$/.exec(operator.toLowerCase())
  const found = bases.get(match?.[2] ?? '')
  if (match === null || found === undefined) return undefined
  const [base, isNegated] = found
  if (base === 'null' && match[3] !== undefined) return undefined
  const quantifiers = { forallvalues: 'all', foranyvalue: 'any' } as const
  const quantifier = match[1] === undefined ? undefined : quantifiers[match[1] as keyof typeof quantifiers]
  return { base, isNegated, ifExists: match[3] !== undefined, quantifier }
}

function hasValue(values: readonly string[] | undefined): values is readonly string[] {
  return values !== undefined && values.length > 0
}

function compileValue(
  base: Exclude<Base, 'null'>,
  value: string,
  options: { readonly isLiteral: boolean },
): (text: string, lookup: Lookup) => boolean {
  if (base === 'equals') {
    const wanted = compileText(value, options)
    return (text, lookup) => wanted(lookup) === text
  }
  if (base === 'equalsIgnoreCase') {
    const wanted = compileText(value, options)
    return (text, lookup) => wanted(lookup)?.toLowerCase() === text.toLowerCase()
  }
  if (base === 'like') return compilePattern(value, options)
  if (base === 'bool') return (text) => text.toLowerCase() === value.toLowerCase()
  if (base === 'ip') return addressRange(value) ?? (() => false)
  const isDate = base.startsWith('date')
  const read = isDate ? dateOf : numberOf
  const wanted = read(value)
  const compare = comparing[base.slice(isDate ? 'date'.length : 'number'.length) as Comparison]
  return (text) => {
    const number = read(text)
    return number !== undefined && wanted !== undefined && compare(number, wanted)
  }
}

const comparing: Readonly<Record<Comparison, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

function isValueOf(base: Base, value: string): boolean {
  if (base === 'bool' || base === 'null') return /^(?:true|false)$/i.test(value)
  if (base === 'ip') return addressRange(value) !== undefined
  if (base.startsWith('number')) return numberOf(value) !== undefined
  return base.startsWith('date') ? dateOf(value) !== undefined : true
}

function numberOf(text: string): number | undefined {
  return /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : undefined
}

/** An ISO 8601 date, or seconds since 1970. */
function dateOf(text: string): number | undefined {
  return /^\d{5,12}$/.test(text) ? Number(text) * 1000 : readIsoDate(text)
}

/** Amazon counts a range wider than /8, or /32 of IPv6, as everybody. */
function isNarrow(range: string): boolean {
  const bits = /\/(\d+)$/.exec(range)?.[1]
  return bits === undefined || Number(bits) >= (range.includes(':') ? 32 : 8)
}

const limitingKeys = new Set(['aws:username', 'aws:userid', 'aws:principalarn', 'aws:principaltype'])

const tagKeys = new Set(['s3:existingobjecttag', 's3:requestobjecttag'])

/** Headers that are keys under their own name: `s3:x-amz-acl`. */
export const headerKeys: readonly string[] = [
  'x-amz-acl',
  'x-amz-content-sha256',
  'x-amz-copy-source',
  'x-amz-grant-full-control',
  'x-amz-grant-read',
  'x-amz-grant-read-acp',
  'x-amz-grant-write',
  'x-amz-grant-write-acp',
  'x-amz-metadata-directive',
  'x-amz-object-ownership',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
]

const plainKeys: ReadonlySet<string> = new Set([
  'aws:currenttime',
  'aws:epochtime',
  'aws:principalarn',
  'aws:principaltype',
  'aws:referer',
  'aws:securetransport',
  'aws:sourceip',
  'aws:useragent',
  'aws:userid',
  'aws:username',
  's3:authtype',
  's3:delimiter',
  's3:if-match',
  's3:if-none-match',
  's3:max-keys',
  's3:object-lock-legal-hold',
  's3:object-lock-mode',
  's3:object-lock-remaining-retention-days',
  's3:object-lock-retain-until-date',
  's3:objectcreationoperation',
  's3:prefix',
  's3:requestobjecttagkeys',
  's3:signatureage',
  's3:signatureversion',
  's3:tlsversion',
  's3:versionid',
  ...headerKeys.map((name) => `s3:${name}`),
])
