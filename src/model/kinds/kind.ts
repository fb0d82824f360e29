import type { ValueFailure } from '../failure.ts'
import { type Json, type Value, textOf } from '../value.ts'

/**
 * How values of a kind are read, written, compared and described. All cleverness about values lives in kinds. `T` is what
 * a field of the kind holds in a row, where it is set.
 */
export interface Kind<T = Value> {
  readonly name: string
  /** From a JSON value of a request. Throws `Misfit` with a sentence that says what would do. */
  parse(value: unknown): T
  /** From the text of a filter. */
  parseText(text: string): Value
  /** To the JSON of an answer. */
  print(value: Value): Json
  /** Order of two set values. */
  compare(a: Value, b: Value): number
  /** Whether `*` in a filter stands for any text. */
  readonly hasWildcards: boolean
  /** A secret is never printed, filtered or sorted by. */
  readonly isSecret?: boolean
  readonly schema: JsonSchema
  /** What a number counts or measures. Without it, the number identifies something or counts what its doc names. */
  readonly unit?: Unit
  /** What the words of an enumeration mean. */
  readonly meanings?: Meanings
  /** For lists: the kind of one element, or the fields of one. */
  readonly element?: Kind
  readonly members?: Readonly<Record<string, Member>>
}

export type Unit =
  | 'bytes'
  | 'bytes per second'
  | 'percent'
  | 'microseconds'
  | 'milliseconds'
  | 'seconds'
  | 'minutes'
  | 'hours'
  | 'days'
  | 'operations'
  | 'operations per second'

/** A word of an enumeration: what it means, and the release that introduced it where that is later than the field. */
export type Meanings = Readonly<Record<string, string | { readonly doc: string; readonly since: string }>>

export interface Member {
  readonly kind: Kind
  readonly doc: string
  readonly required?: boolean
  readonly readOnly?: boolean
  /** The release that introduced it, where that is later than the field. */
  readonly since?: string
}

/** What a field of this kind holds. */
export type ValueOf<Of> = Of extends { parse(value: unknown): infer T } ? T : never

/** What a record of these members holds. Of members that are not known before the product runs, any. */
export type MembersOf<Members> = string extends keyof Members
  ? { readonly [name: string]: Value }
  : {
      readonly [Name in keyof Members as IsRequired<Members[Name]> extends true ? Name : never]: ValueOf<
        KindOf<Members[Name]>
      >
    } & {
      readonly [Name in keyof Members as IsRequired<Members[Name]> extends true ? never : Name]?: ValueOf<
        KindOf<Members[Name]>
      >
    }

type IsRequired<Of> = Of extends { readonly required: true } ? true : false
type KindOf<Of> = Of extends { readonly kind: infer K } ? K : never

/** A doc, and after it what the words of an enumeration mean: for readers that show descriptions alone. */
export function docWithWords(doc: string, { element, meanings = element?.meanings }: Kind): string {
  const words = Object.entries(meanings ?? {}).map(([word, meaning]) => {
    return `\`${word}\`: ${typeof meaning === 'string' ? meaning : meaning.doc}`
  })
  return [doc, ...words].join(' ')
}

export type JsonSchema = Readonly<Record<string, Json>>

/** A value does not fit its kind. A name says which failure it is, where it is another than that of a wrong value. */
export class Misfit extends Error {
  readonly failure: ValueFailure | undefined

  constructor(message: string, failure?: ValueFailure) {
    super(message)
    this.name = 'Misfit'
    this.failure = failure
  }
}

export function compareText(a: Value, b: Value): number {
  const left = textOf(a)
  const right = textOf(b)
  return left < right ? -1 : left > right ? 1 : 0
}

export function compareNumbers(a: Value, b: Value): number {
  return Number(a) - Number(b)
}

/** Quotes a value for a message, cut so that a huge one does not come back whole. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.length > 80 ? `"${text.slice(0, 77)}…"` : `"${text}"`
}
