/** What the command line says that is no field of the model by another name: it is made of fields when it is shown. */
import { count, flag, list, text, type Kind } from '../../model/kinds/index.ts'
import type { PathOf, RecordType } from '../../model/rows.ts'
import { isRecord, type Json } from '../../model/value.ts'

/** The value of a field of the record, as the REST interface prints it. Nothing where it is not set. */
export type At<Path extends string = string> = (path: Path) => Json | undefined

/** A collection that phrases look into: each that is the same object is asked for once in a request. */
export interface Sight {
  readonly type: RecordType
  /** The keys of its path. */
  readonly path?: Readonly<Record<string, string>>
  /** What is shown of its records: fields, or all below a name. */
  readonly fields: readonly string[]
}

export interface Phrase<Path extends string = string> {
  /** The fields that it is made of. */
  readonly from: readonly Path[]
  /** How filters compare it. */
  readonly kind: Kind
  /** What it says; nothing where there is nothing to say. `seen` are the records of the collection that it looks into. */
  show(at: At<Path>, seen: readonly Json[]): Json | undefined
  /** The collection that it looks into. */
  readonly sees?: Sight
  /** The fields that setting it sets. Without this, it cannot be set. */
  read?(given: unknown): Readonly<Record<string, unknown>>
}

/** A collection, and fields that its records have. */
export function sight<const Type extends RecordType>(
  type: Type,
  fields: readonly PathOf<Type>[],
  path: Readonly<Record<string, string>> = {},
): Sight {
  return { type, fields, path }
}

/** True of every record, as there is only one way here. */
export function always(value: boolean | number | string): Phrase<never> {
  const kind = typeof value === 'boolean' ? flag() : typeof value === 'number' ? count() : text()
  return { from: [], kind, show: () => value }
}

/** Known to the command line, and of nothing here. */
export function never(kind: Kind = text()): Phrase<never> {
  return { from: [], kind, show: () => undefined }
}

/** Made of one field. */
export function said<const Path extends string>(
  path: Path,
  kind: Kind,
  show: (value: Json) => Json | undefined,
): Phrase<Path> {
  return {
    from: [path],
    kind,
    show: (at) => {
      const value = at(path)
      return value === undefined ? undefined : show(value)
    },
  }
}

/** The names of what a list refers to: always a list, be it of one. */
export function namesIn<const Path extends string>(path: Path): Phrase<Path> {
  return {
    from: [path],
    kind: list(text()),
    show: (at) => elementsOf(at(path)).map((one) => memberOf(one, 'name') ?? null),
    read: (given) => ({ [path]: asList(given).map((name) => ({ name })) }),
  }
}

/** A list as it stands, be it of one. */
export function whole<const Path extends string>(path: Path): Phrase<Path> {
  return { from: [path], kind: list(text()), show: (at) => at(path), read: (given) => ({ [path]: given }) }
}

/** The words under a field that are true of it. Setting some takes back the others. */
export function wordsUnder<const Path extends string>(base: Path, words: readonly string[]): Phrase<Path> {
  return {
    from: [base],
    kind: list(text()),
    show: (at) => {
      const under = at(base)
      return words.filter((word) => memberOf(under, word) === true)
    },
    read: (given) => {
      const wanted = asList(given).map(String)
      const unknown = wanted.filter((word) => !words.includes(word))
      return Object.fromEntries([...words, ...unknown].map((word) => [`${base}.${word}`, wanted.includes(word)]))
    },
  }
}

/** Whether a field is one of two words. */
export function isWord<const Path extends string>(path: Path, word: string): Phrase<Path> {
  return said(path, flag(), (value) => value === word)
}

/** A word of the model with dashes, as the command line has it. */
export function dashed<const Path extends string>(path: Path): Phrase<Path> {
  return {
    ...said(path, text(), (value) => (typeof value === 'string' ? value.replaceAll('_', '-') : value)),
    read: (given) => ({ [path]: typeof given === 'string' ? given.replaceAll('-', '_') : given }),
  }
}

export function elementsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

export function memberOf(value: Json | undefined, ...words: readonly string[]): Json | undefined {
  return words.reduce<Json | undefined>(
    (of, word) => (isRecord(of) ? (of as Readonly<Record<string, Json>>)[word] : undefined),
    value,
  )
}

/** Finds a record that a phrase looks into by its key. The index of a collection is made once, however many records ask. */
export function finder(keyOf: (record: Json) => Json | undefined) {
  const indexes = new WeakMap<readonly Json[], ReadonlyMap<Json | undefined, Json>>()
  return (seen: readonly Json[], key: Json | undefined): Json | undefined => {
    const index = indexes.get(seen) ?? new Map(seen.map((record) => [keyOf(record), record]))
    indexes.set(seen, index)
    return index.get(key)
  }
}

function asList(given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given as readonly unknown[]
  return typeof given === 'string' ? given.split(',').filter((part) => part !== '') : [given]
}
