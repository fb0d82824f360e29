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

  /** Whether it is the failure of this name, told by its code: a failure that is retold knows no more. */
  is(name: FailureName): boolean {
    return this.code === codeOf(name)
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
