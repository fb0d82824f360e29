import { actionNames } from './actions.ts'
import { wildcard } from './wildcard.ts'

/**
 * Statements decide who may do what. A deny wins over any allow, in whatever order they stand, and what no statement
 * matches is refused. Names may be written as Amazon does (`s3:GetObject`, `arn:aws:s3:::bucket/key*`) or as ONTAP does
 * (`GetObject`, `bucket/key*`).
 */
export interface Statement {
  readonly sid?: string
  readonly effect: 'allow' | 'deny'
  /**
   * Only in bucket policies: user names, `*` for everyone (also without credentials), `group/<name>`. A server policy has
   * none, as it belongs to those it is attached to.
   */
  readonly principals?: readonly string[]
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  /** Not evaluated yet, so a statement that has any is refused: ignoring one would allow more than was meant. */
  readonly conditions?: readonly unknown[]
}

/** Who asks. Without a name: someone without credentials. */
export interface Principal {
  readonly name?: string
  readonly groups?: readonly string[]
}

export type Decision = 'allow' | 'deny' | 'none'

/** `action` as in `s3:GetObject`; `resource` is `bucket`, `bucket/key`, or `*` for the service itself. */
export type Policy = (principal: Principal, action: string, resource: string) => Decision

export const statementsMax = 200
/** Names in one list of a statement. */
export const namesMax = 500
export const nameCharactersMax = 2048

/** Makes the fast form of statements that passed `policyProblem`. */
export function compilePolicy(statements: readonly Statement[]): Policy {
  const compiled = statements.map(compileStatement)
  // Denials first: the first match then decides.
  const ordered = [
    ...compiled.filter(({ effect }) => effect === 'deny'),
    ...compiled.filter(({ effect }) => effect === 'allow'),
  ]
  return (principal, action, resource) => {
    const lowerAction = action.toLowerCase()
    const match = ordered.find(
      (statement) => statement.actions(lowerAction) && statement.resources(resource) && statement.principals(principal),
    )
    return match?.effect ?? 'none'
  }
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
  readonly resources: (resource: string) => boolean
}

function compileStatement(statement: Statement): CompiledStatement {
  if (statement.conditions !== undefined && statement.conditions.length > 0) throw new Error(conditionsRefused)
  return {
    effect: statement.effect,
    principals: compilePrincipals(statement.principals),
    actions: anyOf(statement.actions.map((name) => fullAction(name).toLowerCase())),
    resources: anyOf(statement.resources.map(bareResource)),
  }
}

function compilePrincipals(principals: readonly string[] | undefined): (principal: Principal) => boolean {
  if (principals === undefined || principals.includes('*')) return () => true
  const names = new Set(principals)
  return ({ name, groups }) =>
    (name !== undefined && names.has(name)) || (groups ?? []).some((group) => names.has(`${groupPrefix}${group}`))
}

function anyOf(patterns: readonly string[]): (text: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !/[*?]/.test(pattern)))
  const matchers = patterns.filter((pattern) => /[*?]/.test(pattern)).map(wildcard)
  return (text) => exact.has(text) || matchers.some((matches) => matches(text))
}

function statementProblem(statement: Statement, bucket: string | undefined): PolicyProblem | undefined {
  const { sid, effect, principals, actions, resources, conditions } = statement
  if (effect !== 'allow' && effect !== 'deny') return { field: 'effect', message: 'The effect is allow or deny.' }
  if (sid !== undefined && !/^[\x21-\x7e ]{0,256}$/.test(sid)) {
    return { field: 'sid', message: 'A statement identifier has at most 256 printable characters.' }
  }
  if (conditions !== undefined && conditions.length > 0) return { field: 'conditions', message: conditionsRefused }
  if (bucket === undefined && principals !== undefined) {
    return { field: 'principals', message: 'A server policy has no principals: attach it to users or groups.' }
  }
  if (bucket !== undefined && principals === undefined) {
    return { field: 'principals', message: 'A bucket policy statement names its principals. Use * for everyone.' }
  }
  return (
    (principals === undefined ? undefined : listProblem('principals', principals, principalProblem)) ??
    listProblem('actions', actions, actionProblem) ??
    listProblem('resources', resources, (resource) => resourceProblem(resource, bucket))
  )
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

function principalProblem(name: string): string | undefined {
  if (name === '*') return undefined
  if (name === '' || name === groupPrefix) return 'A principal is a user name, group/<name>, or *.'
  return /[*?]/.test(name) ? `Principal "${name}" has a wildcard, but only * alone may be one.` : undefined
}

function actionProblem(name: string): string | undefined {
  const full = fullAction(name).toLowerCase()
  if (!full.startsWith(actionPrefix)) return `Action "${name}" does not belong to s3.`
  const matches = wildcard(full)
  return actionNames.some((action) => matches(action.toLowerCase())) ? undefined : `There is no action "${name}".`
}

function resourceProblem(resource: string, bucket: string | undefined): string | undefined {
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
function fullAction(name: string): string {
  return name.includes(':') ? name : `${actionPrefix}${name}`
}

/** `arn:aws:s3:::bucket/key` is `bucket/key`; the partition does not count. */
function bareResource(resource: string): string {
  return resource.replace(/^arn:[a-z-]+:s3:::/, '')
}

const actionPrefix = 's3:'
const groupPrefix = 'group/'
const conditionsRefused = 'Conditions are not supported. Leave them out, or write statements that need none.'
