/**
 * Everything that can go wrong in an answer. What it means is a row of the table in `failures/`, or one that a resource
 * declares for itself: its kind (a face makes a
 * status of it), the stable numeric code that clients decide by, a plain sentence, and the field concerned.
 */
import { fill, type FailureEntry, type FailureKind, type ParametersOf, usualErrno } from './failures/entry.ts'
import { type AnyFailure, failureTable, type FailureName, type FailureTable } from './failures/index.ts'

export type { FailureKind } from './failures/entry.ts'
export type { FailureName } from './failures/index.ts'

export interface FailureDetail {
  readonly target?: string | undefined
  /** Changing parts of the message, for clients that word their own. */
  readonly givens?: readonly string[]
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** What a failure knows of its row. */
export interface FailureRow {
  readonly name: string
  readonly errno: number
}

export class Failure extends Error {
  readonly kind: FailureKind
  readonly code: number
  readonly target: string | undefined
  readonly givens: readonly string[]
  readonly retryAfterSeconds: number | undefined
  /** Its row, where it is not retold from a record. */
  readonly row: FailureRow | undefined

  /** For a failure that is retold: from the record of a job, or with more about it. All others are rows of the table. */
  constructor(kind: FailureKind, code: number, message: string, detail: FailureDetail = {}, row?: FailureRow) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'Failure'
    this.kind = kind
    this.code = code
    this.target = detail.target
    this.givens = detail.givens ?? (detail.target === undefined ? [] : [detail.target])
    this.retryAfterSeconds = detail.retryAfterSeconds
    this.row = row
  }

  /** Whether it is the failure of this name, told by its code: a failure that is retold knows no more. */
  is(which: AnyFailure): boolean {
    return this.code === codeOf(which)
  }

  /** What clients of the XML interface decide by. */
  get errno(): number {
    return this.row?.errno ?? usualErrno[this.kind]
  }
}

type RowOf<Of extends AnyFailure> = Of extends FailureName ? FailureTable[Of] : Of

type ParameterName<Of extends AnyFailure> =
  | ParametersOf<RowOf<Of>['message']>
  | ParametersOf<NonNullable<RowOf<Of>['target']>>

export type FailureParameters<Of extends AnyFailure> = Readonly<Record<ParameterName<Of>, string | number>>

/** The failure of this name, or of a row of a resource. Its parameters are those that its message and target name. */
export function failure<Of extends AnyFailure>(
  which: Of,
  ...[parameters = {}, detail = {}]: [ParameterName<Of>] extends [never]
    ? [parameters?: Readonly<Record<string, never>>, detail?: FailureDetail]
    : [parameters: FailureParameters<Of>, detail?: FailureDetail]
): Failure {
  const entry = entryOf(which)
  const name = typeof which === 'string' ? which : which.name
  const filled = (template: string) => fill(template, parameters)
  const target = detail.target ?? (entry.target === undefined ? undefined : filled(entry.target))
  const { retryAfterSeconds = entry.retryAfterSeconds } = detail
  const given = { ...detail, target, retryAfterSeconds, ...(entry.givens && { givens: entry.givens.map(filled) }) }
  return new Failure(entry.kind, Number(entry.code), filled(entry.message), given, { name, errno: entry.errno })
}

/** The code of a failure, for what is told without throwing it. */
export function codeOf(which: AnyFailure): number {
  return Number(entryOf(which).code)
}

function entryOf(which: AnyFailure): FailureEntry {
  return typeof which === 'string' ? failureTable[which] : which
}

/** The names of failures about one value of one field, which a value of a kind can be refused with. */
export type ValueFailure = {
  [Name in FailureName]: ParameterName<Name> extends 'field' | 'problem'
    ? 'field' | 'problem' extends ParameterName<Name>
      ? Name
      : never
    : never
}[FailureName]
