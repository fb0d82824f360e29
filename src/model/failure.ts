/**
 * Everything that can go wrong in an answer. What it means is a row of the table in `failures/`: its kind (a face makes a
 * status of it), the stable numeric code that clients decide by, a plain sentence, and the field concerned.
 */
import { fill, type FailureEntry, type FailureKind, type ParametersOf, usualErrno } from './failures/entry.ts'
import { failureTable, type FailureName, type FailureTable } from './failures/index.ts'

export type { FailureKind } from './failures/entry.ts'
export type { FailureName } from './failures/index.ts'

export interface FailureDetail {
  readonly target?: string | undefined
  /** Changing parts of the message, for clients that word their own. */
  readonly givens?: readonly string[]
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

export class Failure extends Error {
  readonly kind: FailureKind
  readonly code: number
  readonly target: string | undefined
  readonly givens: readonly string[]
  readonly retryAfterSeconds: number | undefined
  /** Its row of the table, where it is not retold from a record. */
  readonly entryName: FailureName | undefined

  /** For a failure that is retold: from the record of a job, or with more about it. All others are rows of the table. */
  constructor(kind: FailureKind, code: number, message: string, detail: FailureDetail = {}, entryName?: FailureName) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'Failure'
    this.kind = kind
    this.code = code
    this.target = detail.target
    this.givens = detail.givens ?? (detail.target === undefined ? [] : [detail.target])
    this.retryAfterSeconds = detail.retryAfterSeconds
    this.entryName = entryName
  }

  /** What clients of the XML interface decide by. */
  get errno(): number {
    return this.entryName === undefined ? usualErrno[this.kind] : failureTable[this.entryName].errno
  }
}

type ParameterName<Name extends FailureName> =
  | ParametersOf<FailureTable[Name]['message']>
  | ParametersOf<NonNullable<FailureTable[Name]['target']>>

export type FailureParameters<Name extends FailureName> = Readonly<Record<ParameterName<Name>, string | number>>

/** The failure of this name. Its parameters are those that its message and target name. */
export function failure<Name extends FailureName>(
  name: Name,
  ...[parameters = {}, detail = {}]: [ParameterName<Name>] extends [never]
    ? [parameters?: Readonly<Record<string, never>>, detail?: FailureDetail]
    : [parameters: FailureParameters<Name>, detail?: FailureDetail]
): Failure {
  const entry: FailureEntry = failureTable[name]
  const filled = (template: string) => fill(template, parameters)
  const target = detail.target ?? (entry.target === undefined ? undefined : filled(entry.target))
  const { retryAfterSeconds = entry.retryAfterSeconds } = detail
  const given = { ...detail, target, retryAfterSeconds, ...(entry.givens && { givens: entry.givens.map(filled) }) }
  return new Failure(entry.kind, Number(entry.code), filled(entry.message), given, name)
}

/** The code of the failure of this name, for what is told without throwing it. */
export function codeOf(name: FailureName): number {
  return Number(failureTable[name].code)
}

/** The names of failures about one value of one field, which a value of a kind can be refused with. */
export type ValueFailure = {
  [Name in FailureName]: ParameterName<Name> extends 'field' | 'problem'
    ? 'field' | 'problem' extends ParameterName<Name>
      ? Name
      : never
    : never
}[FailureName]

/** What came from the request goes back cut, so that a huge name does not come back whole. */
function cut(given: string): string {
  return given.length > GIVEN_CHARACTERS_MAX ? `${given.slice(0, GIVEN_CHARACTERS_MAX)}…` : given
}

const GIVEN_CHARACTERS_MAX = 160

export const failures = {
  duplicate: (what: string, target: string, code = 1) =>
    new Failure('conflict', code, `${what} exists already (duplicate entry). Choose another ${target}.`, { target }),
  inUse: (message: string, target?: string, code = 8) => new Failure('conflict', code, message, { target }),
  readOnly: () => new Failure('conflict', 1638461, 'Only replication changes what the volume holds.'),
  notFound: (what: string, target?: string, code = 4) =>
    new Failure('not-found', code, `${what}: entry doesn't exist.`, { target }),
  noSuchPath: (path: string) => new Failure('not-found', 3, `API not found: ${cut(path)}.`, { givens: [cut(path)] }),
  unsupported: (method: string, path: string) =>
    new Failure('unsupported', 3, `${method} is not supported on ${cut(path)}.`, { givens: [method, cut(path)] }),
  denied: (method: string, path: string, role: string) =>
    new Failure('denied', 6, `not authorized for that command: the role ${role} may not ${method} ${cut(path)}.`, {
      givens: [role, method, cut(path)],
    }),
  unauthenticated: () =>
    new Failure('unauthenticated', 6691623, 'User is not authorized. Send the credentials of a user, or an API key.'),
  malformedJson: (message: string) => new Failure('malformed', 262199, message),
  unexpected: (name: string) =>
    new Failure('malformed', 262179, `Unexpected argument "${cut(name)}".`, { target: cut(name) }),
  badArgument: (name: string, message: string, code = 262185) =>
    new Failure('malformed', code, `Invalid value for "${name}": ${message}`, {
      target: name,
      givens: [name, message],
    }),
  badValue: (field: string, message: string, code = 262197) =>
    new Failure('invalid', code, `Invalid value for field "${field}": ${message}`, {
      target: field,
      givens: [field, message],
    }),
  unknownField: (field: string) =>
    new Failure('invalid', 262179, `Unexpected argument "${cut(field)}".`, { target: cut(field) }),
  notSettable: (field: string, when: 'create' | 'modify') =>
    new Failure('invalid', when === 'modify' ? 262203 : 262196, `Field "${field}" cannot be set in this operation.`, {
      target: field,
    }),
  missing: (field: string) => new Failure('invalid', 262212, `Field "${field}" is required.`, { target: field }),
  nothingToApply: () => new Failure('invalid', 262190, 'The body names no field to change.'),
  invalid: (field: string | undefined, message: string, code = 262186) =>
    new Failure('invalid', code, message, { target: field }),
  tooMany: (message: string, retryAfterSeconds: number) =>
    new Failure('limited', 262160, message, { retryAfterSeconds }),
  unavailable: (message: string, cause?: unknown) =>
    new Failure('unavailable', 65552, message, { retryAfterSeconds: 1, cause }),
  noSpace: (message: string, cause?: unknown) => new Failure('full', 1245212, message, { cause }),
  catalogFull: (cause: unknown) =>
    new Failure('full', 1245212, 'The disk of the catalog is full. Delete objects or snapshots, then try again.', {
      cause,
    }),
  internal: (cause: unknown) =>
    new Failure('internal', 262145, 'The request could not be carried out. The log has the details.', { cause }),
}
