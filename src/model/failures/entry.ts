/**
 * A row of the table of failures. Its texts are templates: `{name}` stands for the parameter of that name, whose presence
 * the compiler checks where the failure is thrown, and `{name:short}` for the same, truncated to keep replies small.
 *
 *   volumeNameTaken: duplicate('A volume named "{name}"', 'name', { code: '917526' })
 *   throw failure('volumeNameTaken', { name: 'vol1' })
 */
import { errno } from './errno.ts'

/** A face makes a status of it. */
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

export interface FailureEntry {
  readonly kind: FailureKind
  /** As on the wire. Codes are those that shipping clients of the interface know. */
  readonly code: string
  /** What a client of the XML interface gets instead of the code. */
  readonly errno: number
  /** One plain sentence, and often a second one that says what to do. */
  readonly message: string
  /** What the caller can do about it: a sentence that stands alone. */
  readonly action: string
  /** The field or argument concerned. */
  readonly target?: string | undefined
  /** Changing parts of the message, for clients that word their own; the target unless said. */
  readonly givens?: readonly string[]
  readonly retryAfterSeconds?: number
}

/** Names of the parameters in a template. Braces around quotes are text: JSON in an example. */
export type ParametersOf<Template> = Template extends `${string}{${infer Name}}${infer Rest}`
  ?
      | (Name extends `${string}"${string}` ? never : Name extends `${infer Short}:short` ? Short : Name)
      | ParametersOf<Rest>
  : never

export type Parameters = Readonly<Record<string, string | number>>

/** Fills the parameters into a template. */
export function fill(template: string, parameters: Parameters): string {
  return template.replaceAll(PARAMETER, (_, name: string, isShort: string | undefined) => {
    const given = String(parameters[name])
    return isShort === undefined ? given : truncated(given)
  })
}

const PARAMETER = /\{(\w+)(:short)?\}/g

function truncated(given: string): string {
  return given.length > GIVEN_CHARACTERS_MAX ? `${given.slice(0, GIVEN_CHARACTERS_MAX)}…` : given
}

const GIVEN_CHARACTERS_MAX = 160

/** The errno of failures that have no better one. */
export const usualErrno: Readonly<Record<FailureKind, number>> = {
  malformed: errno.invalidInput,
  invalid: errno.invalidInput,
  unauthenticated: errno.authentication,
  denied: errno.privilege,
  'not-found': errno.objectNotFound,
  conflict: errno.apiError,
  limited: errno.apiError,
  unsupported: errno.apiNotFound,
  unavailable: errno.apiError,
  full: errno.apiError,
  internal: errno.internal,
}
