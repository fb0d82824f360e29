import { isUtf8 } from 'node:buffer'
import { repeatedName } from '../../model/repeated-name.ts'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { operations } from '../request/router.ts'
import { otherActionNames } from './actions.ts'
import { conditionProblem } from './conditions.ts'
import type { Condition } from '../../records/conditions.ts'
import {
  actionProblem,
  bareResource,
  conditionsMax,
  fullAction,
  principalProblem,
  resourceProblem,
  statementsMax,
} from './statements.ts'
import type { Statement } from '../../records/statements.ts'
import { wildcard } from './wildcard.ts'

/** Largest policy document, as it was sent. Amazon S3 User Guide, "Bucket policies". */
export const policyBytesMax = 20 * 1024

export interface PolicyDocument {
  /** Exactly what was given: GetBucketPolicy answers with it, as clients compare the two. */
  readonly text: string
  readonly version: string
  readonly id?: string
  readonly statements: readonly Statement[]
}

/** The body of PutBucketPolicy. All that is wrong with it is `MalformedPolicy`, in Amazon's words where it has any. */
export function readPolicyDocument(body: Uint8Array, bucket: string): PolicyDocument {
  if (body.length > policyBytesMax) {
    throw malformed(`Normalized policy document exceeds the maximum allowed size of ${policyBytesMax} bytes.`)
  }
  if (!isUtf8(body) || body[0] !== 0x7b) throw malformed(notJson)
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')
  const root = fieldsOf(parseJson(text), notJson)
  checkFields(root, ['Version', 'Id', 'Statement'])
  const version = root['Version'] ?? oldVersion
  if (version !== newVersion && version !== oldVersion) {
    throw malformed('The policy must contain a valid version string')
  }
  const id = findText(root, 'Id')
  const given = root['Statement']
  if (given === undefined) throw malformed('Missing required field Statement')
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw malformed('Could not parse the policy: Statement is empty!')
  if (list.length > statementsMax) throw malformed(`A policy has at most ${statementsMax} statements.`)
  const statements = list.map((one) => readStatement(one, bucket, version === oldVersion))
  const sids = statements.flatMap(({ sid }) => (sid === undefined || sid === '' ? [] : [sid]))
  if (new Set(sids).size !== sids.length) {
    throw malformed('Statement IDs (SID) in a single policy must be unique.')
  }
  return { text, version, ...(id === undefined ? {} : { id }), statements }
}

/** The document of statements that came by the management interface, for GetBucketPolicy. */
export function policyDocument(statements: readonly Statement[], options: { readonly id?: string } = {}): string {
  return JSON.stringify({
    Version: statements.some(({ isLiteral }) => isLiteral === true) ? oldVersion : newVersion,
    Id: options.id,
    Statement: statements.map((statement) => ({
      Sid: statement.sid,
      Effect: statement.effect === 'allow' ? 'Allow' : 'Deny',
      ...(statement.notPrincipals === undefined
        ? { Principal: printPrincipal(statement) }
        : { NotPrincipal: printPrincipals(statement.notPrincipals) }),
      ...(statement.notActions === undefined
        ? { Action: oneOrMany(statement.actions.map(fullAction)) }
        : { NotAction: oneOrMany(statement.notActions.map(fullAction)) }),
      ...(statement.notResources === undefined
        ? { Resource: oneOrMany(statement.resources.map(printResource)) }
        : { NotResource: oneOrMany(statement.notResources.map(printResource)) }),
      Condition: printConditions(statement.conditions ?? []),
    })),
  })
}

type JsonFields = Readonly<Record<string, unknown>>

const newVersion = '2012-10-17'
const oldVersion = '2008-10-17'
const notJson = "Policies must be valid JSON and the first byte must be '{'"

const statementFields = [
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
]

function readStatement(value: unknown, bucket: string, isLiteral: boolean): Statement {
  const fields = fieldsOf(value, 'Could not parse the policy: a Statement is not an object')
  checkFields(fields, statementFields)
  const effect = fields['Effect']
  if (effect === undefined) throw malformed('Missing required field Effect')
  if (effect !== 'Allow' && effect !== 'Deny') throw malformed(`Invalid effect: ${shown(effect)}`)
  const sid = findText(fields, 'Sid')
  if (sid !== undefined && !/^[\x20-\x7e]{0,256}$/.test(sid)) throw malformed('Invalid Sid in policy')

  const [principals, isNotPrincipals] = either(fields, 'Principal', 'NotPrincipal')
  const isForUsers = !isNotPrincipals && effect === 'Allow' && isAllUsers(principals)
  const names = isForUsers ? undefined : readPrincipals(principals)
  if (isNotPrincipals && effect === 'Allow') {
    throw malformed('Allow with NotPrincipal is not supported. Use Principal, or Deny.')
  }
  const [actions, isNotActions] = either(fields, 'Action', 'NotAction')
  const actionNames = texts(actions, 'Policy has invalid action')
  const badAction = actionNames.find((name) => !name.includes(':') && name !== '*') ?? actionNames.find(actionProblem)
  if (badAction !== undefined) throw malformed('Policy has invalid action', badAction)

  const [resources, isNotResources] = either(fields, 'Resource', 'NotResource')
  const resourceNames = texts(resources, 'Policy has invalid resource')
  const badResource = resourceNames.find(
    (name) => !(name === '*' || name.startsWith('arn:')) || resourceProblem(name, bucket) !== undefined,
  )
  if (badResource !== undefined) throw malformed('Policy has invalid resource', badResource)
  const isWhole = !isNotActions && !isNotResources
  if (isWhole && !actionNames.every((name) => applies(name, resourceNames.map(bareResource)))) {
    throw malformed('Action does not apply to any resource(s) in statement')
  }

  const conditions = readConditions(fields['Condition'])
  return {
    ...(sid === undefined ? {} : { sid }),
    effect: effect === 'Allow' ? 'allow' : 'deny',
    ...(names === undefined ? {} : isNotPrincipals ? { notPrincipals: names } : { principals: names }),
    actions: isNotActions ? [] : actionNames,
    ...(isNotActions ? { notActions: actionNames } : {}),
    resources: isNotResources ? [] : resourceNames,
    ...(isNotResources ? { notResources: resourceNames } : {}),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(isLiteral ? { isLiteral } : {}),
  }
}

/** One of a field and its opposite must be there, and only one. */
function either(fields: JsonFields, name: string, opposite: string): readonly [value: unknown, isOpposite: boolean] {
  const [value, other] = [fields[name], fields[opposite]]
  if (value === undefined && other === undefined) throw malformed(`Missing required field ${name}`)
  if (value !== undefined && other !== undefined) {
    throw malformed(`Statement/policy already has instance of ${name}`)
  }
  return value === undefined ? [other, true] : [value, false]
}

/** `"*"`, or `{ "AWS": … }` with names, ARNs or `*`. What else Amazon knows (services, federations) nobody is here. */
function readPrincipals(value: unknown): readonly string[] {
  const invalid = 'Invalid principal in policy'
  if (typeof value === 'string') {
    if (value !== '*') throw malformed(invalid, value)
    return ['*']
  }
  const fields = fieldsOf(value, invalid)
  const [kind, ...more] = Object.keys(fields)
  if (kind !== 'AWS' || more.length > 0) throw malformed(invalid, shown(value))
  return texts(fields['AWS'], invalid).map((name) => {
    const bare = principalName(name)
    if (bare === undefined || principalProblem(bare) !== undefined) throw malformed(invalid, name)
    return bare
  })
}

/** `arn:aws:iam::123456789012:user/team/alice` is `alice`. Any account will do: there is one set of users. */
function principalName(name: string): string | undefined {
  if (!name.startsWith('arn:')) return name
  const match = /^arn:[a-z-]+:iam::[^:]*:(user|group)\/(?:.*\/)?([^/]+)$/.exec(name)
  // As the name of a user, a star would be everybody.
  if (match === null || match[2] === '*') return undefined
  return match[1] === 'group' ? `group/${match[2]}` : match[2]
}

function readConditions(value: unknown): readonly Condition[] {
  if (value === undefined) return []
  const conditions: Condition[] = []
  for (const [operator, keys] of Object.entries(fieldsOf(value, 'Invalid Condition in policy'))) {
    for (const [key, given] of Object.entries(fieldsOf(keys, 'Invalid Condition in policy'))) {
      const list: readonly unknown[] = Array.isArray(given) ? given : [given]
      const values = list.map((one) => {
        if (typeof one !== 'string' && typeof one !== 'number' && typeof one !== 'boolean') {
          throw malformed('Invalid condition value in policy', shown(one))
        }
        return String(one)
      })
      const condition = { operator, key, values }
      const problem = conditionProblem(condition)
      if (problem?.kind === 'operator') throw malformed(`Invalid Condition type : ${operator}`)
      if (problem?.kind === 'key') throw malformed('Policy has an invalid condition key', key)
      if (problem !== undefined) throw malformed('Invalid condition value in policy', problem.message)
      conditions.push(condition)
    }
  }
  if (conditions.length > conditionsMax) throw malformed(`A statement has at most ${conditionsMax} conditions.`)
  return conditions
}

/**
 * Whether an action can happen to one of the resources: `s3:ListBucket` never happens to `bucket/*`, and a policy that
 * says so was meant otherwise.
 */
function applies(action: string, resources: readonly string[]): boolean {
  const name = fullAction(action).toLowerCase()
  const names = actionLevels.has(name) ? [name] : [...actionLevels.keys()].filter(wildcard(name))
  const levels = new Set(names.map((one) => actionLevels.get(one)))
  if (levels.has('any')) return true
  return resources.some(
    (resource) =>
      levels.has('service') ||
      (levels.has('object') && (resource.includes('/') || /[*]/.test(resource))) ||
      (levels.has('bucket') && !resource.includes('/')),
  )
}

/**
 * By names in lower case. Some requests to a bucket are about its objects (DeleteObjects, forms): those of an object say what
 * an action is about. Actions that no operation here needs may be about anything.
 */
const actionLevels: ReadonlyMap<string, 'service' | 'bucket' | 'object' | 'any'> = new Map(
  [
    ...operations.filter(({ level }) => level !== 'object').map(({ action, level }) => [action, level] as const),
    ...operations
      .filter(({ level }) => level === 'object')
      .flatMap(({ action, versionAction, sourceAction }) =>
        [action, versionAction, sourceAction]
          .filter((name) => name !== undefined)
          .map((name) => [name, 'object' as const] as const),
      ),
    ...['s3:GetObjectVersion', 's3:PutObjectVersionAcl', 's3:BypassGovernanceRetention'].map(
      (name) => [name, 'object'] as const,
    ),
    ...otherActionNames.map((name) => [name, 'any'] as const),
  ].map(([name, level]) => [name.toLowerCase(), level] as const),
)

function parseJson(text: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw malformed(notJson)
  }
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw malformed(`The policy has the field "${shown(repeated)}" twice in one place`)
  return parsed
}

function fieldsOf(value: unknown, message: string): JsonFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(message)
  return value as JsonFields
}

function checkFields(fields: JsonFields, names: readonly string[]): void {
  const unknown = Object.keys(fields).find((name) => !names.includes(name))
  if (unknown !== undefined) throw malformed(`Unknown field ${unknown}`)
}

function findText(fields: JsonFields, name: string): string | undefined {
  const value = fields[name]
  if (value !== undefined && typeof value !== 'string') throw malformed(`${name} must be a string`)
  return value
}

/** A string, or an array of at least one. */
function texts(value: unknown, message: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw malformed(message)
  return list.map((one) => {
    if (typeof one !== 'string' || one === '') throw malformed(message, shown(one))
    return one
  })
}

function shown(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 200)
}

function malformed(message: string, detail?: string): S3Error {
  return s3Error('MalformedPolicy', { message, ...(detail === undefined ? {} : { fields: { Detail: detail } }) })
}

/**
 * A statement of the management interface that grants and names nobody is for all users, but for nobody without
 * credentials. Amazon has no word for that; `*` would let everybody in, once the document is written back.
 */
const allUsers = 'arn:aws:iam:::user/*'

function isAllUsers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && JSON.stringify(value) === JSON.stringify({ AWS: allUsers })
}

function printPrincipal({ effect, principals }: Statement): unknown {
  if (principals === undefined && effect === 'allow') return { AWS: allUsers }
  return printPrincipals(principals ?? ['*'])
}

function printPrincipals(names: readonly string[]): unknown {
  if (names.includes('*')) return '*'
  return {
    AWS: oneOrMany(
      names.map((name) => (name.startsWith('group/') ? `arn:aws:iam:::${name}` : `arn:aws:iam:::user/${name}`)),
    ),
  }
}

function printResource(resource: string): string {
  return resource === '*' || resource.startsWith('arn:') ? resource : `arn:aws:s3:::${resource}`
}

function printConditions(conditions: readonly Condition[]): unknown {
  if (conditions.length === 0) return undefined
  const operators: Record<string, Record<string, unknown>> = {}
  for (const { operator, key, values } of conditions) {
    const keys = (operators[operator] ??= {})
    // Two conditions with the same operator and key hold together. A document says that with another spelling of the key,
    // as these are read in any case.
    let name = key
    for (let letter = 0; letter < key.length && name in keys; letter += 1) {
      name = key.slice(0, letter) + swapCase(key.charAt(letter)) + key.slice(letter + 1)
    }
    keys[name] = oneOrMany(values)
  }
  return operators
}

function swapCase(letter: string): string {
  return letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
}

function oneOrMany(values: readonly string[]): string | readonly string[] {
  const [only] = values
  return values.length === 1 && only !== undefined ? only : values
}
