/** How records name those of other types, and what becomes of them when one of those is deleted. */
import type { TypeName } from './resource.ts'
import { type Row, textOf, type Value } from './value.ts'
import { valuesAt, withoutValue } from './values-at.ts'

/**
 * What becomes of a record when one that it names is deleted: it goes too, it refuses that, or it is kept and names that
 * one no more, from the commit on that deletes it.
 */
export type Fate = 'deleted' | 'blocks' | 'kept'

/** Names records of another type by something else than a reference: by a name, a number, within a list. */
export interface NamesOtherwise {
  readonly fate: Fate
  readonly type: string
  /** The keys of the records that a row names. None of those that come with every cluster and have no record. */
  readonly keys: (row: Row) => readonly string[]
  /** The field that stands before the name in the key, where that has two words. */
  readonly under?: string
  /** The row as it is kept when the record with this key is deleted. Needed where it is kept. */
  readonly letGo?: (row: Row, key: string) => Row
  /** Names may lead nowhere: a write is not refused for that. */
  readonly isLoose?: boolean
}

/**
 * Names by the values at a path, which are keys of records. `under` is the field whose value stands before them in the
 * key, where that has two words; `without` are values that name no record; `cleared` is the value of what was let go.
 */
export function namesBy(
  type: string,
  fate: Fate,
  path: string,
  given: {
    readonly under?: string
    readonly without?: readonly string[]
    readonly isLoose?: boolean
    readonly cleared?: Value
  } = {},
): NamesOtherwise {
  const { under, without = [], isLoose = false, cleared = null } = given
  const before = (row: Row) => (under === undefined ? '' : `${textOf(row[under])}/`)
  const keys = (row: Row) =>
    valuesAt(row, path)
      .map(textOf)
      .filter((value) => value !== '' && !without.includes(value))
      .map((value) => before(row) + value)
  const letGo = (row: Row, key: string) => withoutValue(row, path, key.slice(before(row).length), cleared)
  return { fate, type, keys, letGo, isLoose, ...(under === undefined ? {} : { under }) }
}

/** How records name those of another type, and what follows from that when one of those is deleted. */
export interface Naming extends NamesOtherwise {
  readonly type: TypeName
  readonly path: string
  /** It is what the record lives under. */
  readonly isParent: boolean
  readonly letGo: (row: Row, key: string) => Row
}

export function namingOtherwise(said: NamesOtherwise, path: string, isParent: boolean): Naming {
  const { fate, letGo = (row: Row) => row } = said
  if (fate === 'kept' && said.letGo === undefined) throw new Error(`"${path}" does not say how it lets go.`)
  return { ...said, type: said.type as TypeName, path, isParent, letGo }
}
