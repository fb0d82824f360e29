/**
 * Everything that can go wrong in an answer: what kind of failure it is (a face makes a status of it), the stable
 * numeric code that clients decide by, a plain sentence, and the field concerned.
 *
 * Codes are those that shipping clients of the interface know; where several exist for a case, the one they match.
 */
export type FailureKind =
  /** The request itself cannot be understood: bad JSON, bad filter, unknown query argument. */
  | 'malformed'
  /** The request is understood and one of its values does not do. */
  | 'invalid'
  | 'unauthenticated'
  | 'denied'
  | 'not-found'
  /** The object exists already, is in use or is busy. */
  | 'conflict'
  /** Too much at once: try again later. */
  | 'limited'
  /** The resource is there; this method is not. */
  | 'unsupported'
  /** Not served now: starting, draining, or a part is restarting. */
  | 'unavailable'
  /** A disk has no space left for it. */
  | 'full'
  | 'internal'

export interface FailureDetail {
  readonly target?: string | undefined
  /** What stands in the message from case to case, for clients that write their own. */
  readonly givens?: readonly string[]
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

export class Failure extends Error {
  readonly kind: FailureKind
  readonly code: number
  readonly target: string | undefined
  readonly givens: readonly string[]
  readonly retryAfterSeconds: number | undefined

  constructor(kind: FailureKind, code: number, message: string, detail: FailureDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'Failure'
    this.kind = kind
    this.code = code
    this.target = detail.target
    this.givens = detail.givens ?? (detail.target === undefined ? [] : [detail.target])
    this.retryAfterSeconds = detail.retryAfterSeconds
  }
}

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
