/**
 * Reading what records hold. A record may be older than the declaration of its type, so what is read should be an `Of`, and
 * may be anything. Paths and words have to be those of `Of`, or the code does not compile: a field that is renamed or gets
 * another kind is found by the compiler. At run time, what has another shape is taken for absent, and never fails a request.
 *
 *     const bucket = stored<BucketRow>(record.body)
 *     text(bucket, 'name')                  // '' where there is none
 *     is(bucket, 'type', 's3')              // the word has to be one of the enumeration
 *     list(bucket, 'cors.rules').map((rule) => texts(rule, 'allowed_origins'))
 */
import type { NoteTypes, RecordType, RowOf } from '../model/rows.ts'
import { isList, type Value } from '../model/value.ts'

declare const shouldBe: unique symbol

/** A value that should be an `Of`, as it is stored. It is read by the functions below alone. */
export interface Stored<out Of> {
  readonly [shouldBe]: Of
}

/** A record of this type: its fields, and what is kept with them and never shown. */
export type StoredRow<Type extends RecordType> = Stored<KeptOf<Type>>

/** What is kept in a record of this type. */
export type KeptOf<Type extends RecordType> = Declared<RowOf<Type>> & NotesOf<Type>

/** Fields to change in a record of this type. `null` removes one. */
export type ChangeOf<Type extends RecordType> = { readonly [Name in keyof KeptOf<Type>]?: KeptOf<Type>[Name] | null }

type NotesOf<Type> = Type extends keyof NoteTypes ? NoteTypes[Type] : unknown

/** Without that whatever begins with `$` may be there. */
type Declared<Of> = { readonly [Name in keyof Of as `$${string}` extends Name ? never : Name]: Of[Name] }

/** The names under which `Of` has a `T`. */
type NamesOf<Of, T> = {
  [Name in keyof Of & string]-?: Exclude<Of[Name], null | undefined> extends T ? Name : never
}[keyof Of & string]

type At<Of, Name extends keyof Of> = Exclude<Of[Name], null | undefined>

/** What was read from the catalog or a job, of which the caller knows what it should be. */
export function stored<Of>(value: Value | undefined): Stored<Of>
export function stored(value: Value | undefined): unknown {
  return value
}

/** A record of this type, as the catalog has it. */
export function storedRow<Type extends RecordType>(_type: Type, body: Value | undefined): StoredRow<Type> {
  return stored<KeptOf<Type>>(body)
}

/** The fields of a record for those who read them without types. */
export function plain(record: Stored<object>): Readonly<Record<string, Value>> {
  const value = valueOf(record)
  return typeof value === 'object' && value !== null && !isList(value) ? value : {}
}

export function findText<Of>(record: Stored<Of>, name: NamesOf<Of, string>): string | undefined {
  const value = at(record, name)
  return typeof value === 'string' ? value : undefined
}

export function text<Of>(record: Stored<Of>, name: NamesOf<Of, string>): string {
  return findText(record, name) ?? ''
}

/** An element of a list of texts; '' where it is none. */
export function asText(value: Stored<string>): string {
  const given = valueOf(value)
  return typeof given === 'string' ? given : ''
}

export function findNumber<Of>(record: Stored<Of>, name: NamesOf<Of, number>): number | undefined {
  const value = at(record, name)
  return typeof value === 'number' ? value : undefined
}

/** A moment in milliseconds, also where it is written as text. */
export function findTime<Of>(record: Stored<Of>, name: NamesOf<Of, number>): number | undefined {
  const value = at(record, name)
  if (typeof value === 'string') return Date.parse(value)
  return typeof value === 'number' ? value : undefined
}

/** Whether a field is exactly this. A missing one is nothing: ask for the opposite of what is to hold then. */
export function is<Of, Name extends keyof Of & string>(record: Stored<Of>, name: Name, wanted: At<Of, Name>): boolean {
  return at(record, name) === wanted
}

/** One of the words that a field may be. */
export function findWord<Of, Name extends NamesOf<Of, string>, const Word extends At<Of, Name>>(
  record: Stored<Of>,
  name: Name,
  words: readonly Word[],
): Word | undefined {
  const value = at(record, name)
  return words.find((word) => word === value)
}

export function findTexts<Of>(record: Stored<Of>, name: NamesOf<Of, readonly string[]>): readonly string[] | undefined {
  const value = at(record, name)
  return isList(value) ? value.filter((one) => typeof one === 'string') : undefined
}

export function texts<Of>(record: Stored<Of>, name: NamesOf<Of, readonly string[]>): readonly string[] {
  return findTexts(record, name) ?? []
}

export function findList<Of, Name extends NamesOf<Of, readonly unknown[]>>(
  record: Stored<Of>,
  name: Name,
): readonly Stored<ElementOf<At<Of, Name>>>[] | undefined {
  const value = at(record, name)
  return isList(value) ? value.map((one) => stored<ElementOf<At<Of, Name>>>(one)) : undefined
}

export function list<Of, Name extends NamesOf<Of, readonly unknown[]>>(
  record: Stored<Of>,
  name: Name,
): readonly Stored<ElementOf<At<Of, Name>>>[] {
  return findList(record, name) ?? []
}

/** A record within the record, such as one member of a rule. */
export function findMember<Of, Name extends NamesOf<Of, object>>(
  record: Stored<Of>,
  name: Name,
): Stored<At<Of, Name>> | undefined {
  const value = at(record, name)
  return typeof value === 'object' && value !== null ? stored<At<Of, Name>>(value) : undefined
}

/** The same where a missing one is as one without members. */
export function member<Of, Name extends NamesOf<Of, object>>(record: Stored<Of>, name: Name): Stored<At<Of, Name>> {
  return stored<At<Of, Name>>(at(record, name))
}

type ElementOf<List> = List extends readonly (infer Element)[] ? Element : never

function at<Of>(record: Stored<Of>, name: keyof Of & string): Value | undefined {
  const value = valueOf(record)
  return typeof value === 'object' && value !== null && !isList(value) ? value[name] : undefined
}

/** The other way of `stored`. */
function valueOf(record: unknown): Value | undefined {
  return record as Value | undefined
}
