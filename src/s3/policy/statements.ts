import type { Statement } from '../../records/statements.ts'
import { actionNames, otherActionNames } from './actions.ts'
import { compileCondition, conditionProblem, isLimiting, keysOf } from './conditions.ts'
import type { Condition } from '../../records/conditions.ts'
import { compilePattern, variableKeys } from './pattern.ts'
import type { Lookup } from './pattern.ts'
import { wildcard } from './wildcard.ts'

/** Who asks. Without a name: someone without credentials. */
export interface Principal {
  readonly name?: string
  /** The policy may name an earlier user of the name: then it does not mean this one. */
  readonly isNamesake?: boolean
  readonly groups?: readonly string[]
}

export type Decision = 'allow' | 'deny' | 'none'

/**
 * `action` as in `s3:GetObject`; `resource` is `bucket`, `bucket/key`, or `*` for the service itself. Of the request only
 * what conditions and variables name is asked for, and only of statements that fit otherwise. Without a context nothing is
 * known but the name of the user.
 *
 * Measured on one core of a 2-core AMD EPYC machine, Node 24, 20 statements of which the last alone allows: 1.2 µs when
 * they differ by resource, 2.8 µs when they differ by a condition each, every other one on the address.
 */
export type Policy = (principal: Principal, action: string, resource: string, context?: Lookup) => Decision

export const statementsMax = 200
/** Names in one list of a statement. */
export const namesMax = 500
export const nameCharactersMax = 2048
/** Conditions of one statement. */
export const conditionsMax = 100

/** Makes the fast form of statements that passed `policyProblem`. */
export function compilePolicy(statements: readonly Statement[]): Policy {
  const compiled = statements.map(compileStatement)
  // Denials first: the first match then decides.
  const ordered = [
    ...compiled.filter(({ effect }) => effect === 'deny'),
    ...compiled.filter(({ effect }) => effect === 'allow'),
  ]
  return (principal, action, resource, context) => {
    const lowerAction = action.toLowerCase()
    const lookup = lookupOf(principal, context)
    const named = principal.isNamesake === true ? lookupOfNamesake(lookup) : lookup
    const match = ordered.find(
      (statement) =>
        statement.actions(lowerAction) &&
        statement.principals(principal) &&
        statement.resources(resource, lookup) &&
        statement.conditions.every((holds) => holds(named, lookup)),
    )
    return match?.effect ?? 'none'
  }
}

/** The condition keys that statements look at, in conditions and in variables, as `conditionKey` writes them. */
export function conditionKeysOf(statements: readonly Statement[]): ReadonlySet<string> {
  const keys = new Set(keysOf(statements.flatMap(({ conditions }) => conditions ?? [])))
  for (const { resources, notResources } of statements) {
    for (const pattern of [...resources, ...(notResources ?? [])])
      for (const key of variableKeys(pattern)) keys.add(key)
  }
  return keys
}

/** Whether a bucket policy lets everybody do something: what GetBucketPolicyStatus answers. */
export function isPublicPolicy(statements: readonly Statement[]): boolean {
  return statements.some(
    ({ effect, principals, notPrincipals, conditions }) =>
      effect === 'allow' &&
      (notPrincipals !== undefined || principals?.includes('*') === true) &&
      !(conditions ?? []).some(isLimiting),
  )
}

/** Several policies at once, such as those of a user's groups and that of the bucket: one deny is enough. */
export function combineDecisions(decisions: readonly Decision[]): Decision {
  if (decisions.includes('deny')) return 'deny'
  return decisions.includes('allow') ? 'allow' : 'none'
}

export interface PolicyProblem {
  /** Such as `statements[2].actions`. */
  readonly field: string
  readonly message: string
}

/**
 * The first thing wrong with a policy, if any. With `bucket` it is that bucket's policy, which names principals and cannot
 * reach beyond its bucket.
 */
export function policyProblem(
  statements: readonly Statement[],
  options: { readonly bucket?: string } = {},
): PolicyProblem | undefined {
  if (statements.length > statementsMax) {
    return { field: 'statements', message: `A policy has at most ${statementsMax} statements.` }
  }
  for (const [index, statement] of statements.entries()) {
    const problem = statementProblem(statement, options.bucket)
    if (problem !== undefined) return { field: `statements[${index}].${problem.field}`, message: problem.message }
  }
  return undefined
}

interface CompiledStatement {
  readonly effect: 'allow' | 'deny'
  readonly principals: (principal: Principal) => boolean
  readonly actions: (action: string) => boolean
  readonly resources: (resource: string, lookup: Lookup) => boolean
  readonly conditions: readonly ReturnType<typeof compileCondition>[]
}

function compileStatement(statement: Statement): CompiledStatement {
  const options = { isLiteral: statement.isLiteral === true }
  return {
    effect: statement.effect,
    principals: compilePrincipals(statement),
    actions: compileActions(statement),
    resources: compileResources(statement, options),
    conditions: (statement.conditions ?? []).map((condition) => compileCondition(condition, options)),
  }
}

/** The name of the user is known from the principal, whatever else is. */
function lookupOf(principal: Principal, context: Lookup | undefined): Lookup {
  return (key) => {
    if (key !== 'aws:username' && key !== 'aws:userid') return context?.(key)
    return principal.name === undefined ? undefined : [principal.name]
  }
}

/** A condition that names a user means the earlier one too. Variables stand for the name, whoever has it. */
function lookupOfNamesake(lookup: Lookup): Lookup {
  return (key) => (userKeys.has(key) ? [somebodyElse] : lookup(key))
}

const userKeys: ReadonlySet<string> = new Set(['aws:username', 'aws:userid', 'aws:principalarn'])
/** No user can have this name, nor does a policy that is not made for it. */
const somebodyElse = '\u0000'

function compilePrincipals({ principals, notPrincipals }: Statement): (principal: Principal) => boolean {
  if (notPrincipals !== undefined) {
    const isNamed = isOneOf(notPrincipals)
    return (principal) => !isNamed(principal)
  }
  return principals === undefined ? () => true : isOneOf(principals)
}

function isOneOf(principals: readonly string[]): (principal: Principal) => boolean {
  if (principals.includes('*')) return () => true
  const names = new Set(principals)
  return ({ name, isNamesake, groups }) =>
    (name !== undefined && isNamesake !== true && names.has(name)) ||
    (groups ?? []).some((group) => names.has(`${groupPrefix}${group}`))
}

function compileActions({ actions, notActions }: Statement): (action: string) => boolean {
  const lower = (names: readonly string[]): string[] => names.map((name) => fullAction(name).toLowerCase())
  if (notActions === undefined) return anyOf(lower(actions))
  const isNamed = anyOf(lower(notActions))
  return (action) => !isNamed(action)
}

function compileResources(
  { resources, notResources }: Statement,
  options: { readonly isLiteral: boolean },
): (resource: string, lookup: Lookup) => boolean {
  const bare = (notResources ?? resources).map(bareResource)
  const isPlain = (pattern: string): boolean => options.isLiteral || !pattern.includes('${')
  const isNamed = anyOf(bare.filter(isPlain))
  const patterns = bare.filter((pattern) => !isPlain(pattern)).map((pattern) => compilePattern(pattern, options))
  const fits = (resource: string, lookup: Lookup): boolean =>
    isNamed(resource) || patterns.some((matches) => matches(resource, lookup))
  return notResources === undefined ? fits : (resource, lookup) => !fits(resource, lookup)
}

function anyOf(patterns: readonly string[]): (text: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !/[*?]/.test(pattern)))
  const matchers = patterns.filter((pattern) => /[*?]/.test(pattern)).map(wildcard)
  return (text) => exact.has(text) || matchers.some((matches) => matches(text))
}

function statementProblem(statement: Statement, bucket: string | undefined): PolicyProblem | undefined {
  const { sid, effect, principals, notPrincipals, actions, notActions, resources, notResources } = statement
  if (effect !== 'allow' && effect !== 'deny') return { field: 'effect', message: 'The effect is allow or deny.' }
  if (sid !== undefined && !/^[\x21-\x7e ]{0,256}$/.test(sid)) {
    return { field: 'sid', message: 'A statement identifier has at most 256 printable characters.' }
  }
  const named = notPrincipals ?? principals
  if (bucket === undefined && named !== undefined) {
    return { field: 'principals', message: 'A server policy has no principals: attach it to users or groups.' }
  }
  if (bucket !== undefined && named === undefined) {
    return { field: 'principals', message: 'A bucket policy statement names its principals. Use * for everyone.' }
  }
  if (notPrincipals !== undefined && effect === 'allow') {
    return { field: 'principals', message: 'To allow everyone but some is refused: it would allow the unknown too.' }
  }
  return (
    (named === undefined ? undefined : listProblem('principals', named, principalProblem)) ??
    listProblem('actions', notActions ?? actions, actionProblem) ??
    listProblem('resources', notResources ?? resources, (resource) => resourceProblem(resource, bucket)) ??
    conditionsProblem(statement.conditions ?? [])
  )
}

function conditionsProblem(conditions: readonly Condition[]): PolicyProblem | undefined {
  if (conditions.length > conditionsMax) {
    return { field: 'conditions', message: `A statement has at most ${conditionsMax} conditions.` }
  }
  for (const condition of conditions) {
    const problem = conditionProblem(condition)
    if (problem !== undefined) return { field: 'conditions', message: problem.message }
    const isLong = condition.values.some((value) => value.length > nameCharactersMax)
    if (isLong) return { field: 'conditions', message: `A value has at most ${nameCharactersMax} characters.` }
  }
  return undefined
}

function listProblem(
  field: string,
  names: readonly string[],
  problemOf: (name: string) => string | undefined,
): PolicyProblem | undefined {
  if (names.length === 0) return { field, message: `A statement has at least one of its ${field}.` }
  if (names.length > namesMax) return { field, message: `A statement has at most ${namesMax} of its ${field}.` }
  for (const name of names) {
    if (name.length > nameCharactersMax)
      return { field, message: `A name has at most ${nameCharactersMax} characters.` }
    const message = problemOf(name)
    if (message !== undefined) return { field, message }
  }
  return undefined
}

export function principalProblem(name: string): string | undefined {
  if (name === '*') return undefined
  if (name === '' || name === groupPrefix) return 'A principal is a user name, group/<name>, or *.'
  return /[*?]/.test(name) ? `Principal "${name}" has a wildcard, but only * alone may be one.` : undefined
}

/** In lower case. */
const knownActions = new Set([...actionNames, ...otherActionNames].map((name) => name.toLowerCase()))

export function actionProblem(name: string): string | undefined {
  const full = fullAction(name).toLowerCase()
  if (!full.startsWith(actionPrefix)) return `Action "${name}" does not belong to s3.`
  if (knownActions.has(full)) return undefined
  const matches = wildcard(full)
  return [...knownActions].some(matches) ? undefined : `There is no action "${name}".`
}

export function resourceProblem(resource: string, bucket: string | undefined): string | undefined {
  const bare = bareResource(resource)
  if (bare === '' || bare.startsWith('/') || bare.startsWith('arn:')) {
    return `Resource "${resource}" is not of the form bucket, bucket/key or arn:aws:s3:::bucket/key.`
  }
  if (bucket === undefined || bare === bucket || bare.startsWith(`${bucket}/`)) return undefined
  // `*` and `buck*` are taken for what they cover of this bucket.
  return /[*?]/.test(bare) && wildcard(bare.split('/')[0] ?? '')(bucket)
    ? undefined
    : `Resource "${resource}" does not belong to bucket ${bucket}.`
}

/** `GetObject` is `s3:GetObject`, `*` is every action. */
export function fullAction(name: string): string {
  return name.includes(':') ? name : `${actionPrefix}${name}`
}

/** `arn:aws:s3:::bucket/key` is `bucket/key`; the partition does not count. */
export function bareResource(resource: string): string {
  return resource.replace(/^arn:[a-z-]+:s3:::/, '')
}

const actionPrefix = 's3:'
const groupPrefix = 'group/'
