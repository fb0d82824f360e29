import { type Json, textOf, type Value } from '../value.ts'
import { Misfit, type JsonSchema, type Kind } from './kind.ts'
import { described } from './text.ts'

/**
 * A setting that has one value here. Others that clients know are refused with the reason: to keep them would tell of
 * something that is not done.
 */
export function only<const T extends Value>(value: T, kind: Kind, why: string): Kind<T> {
  return {
    ...kind,
    parse(given) {
      const wanted = kind.parse(given)
      if (wanted !== value) throw new Misfit(`${textOf(wanted)} is refused: ${why}`)
      return value
    },
    schema: narrowed(kind, kind.print(value)),
  }
}

/** The schema for one value. The other words of an enumeration mean nothing here. */
function narrowed(kind: Kind, value: Json): JsonSchema {
  const { 'x-enumDescriptions': _, ...schema } = kind.schema
  const meaning = Object.entries(kind.meanings ?? {}).filter(([word]) => word === value)
  return { ...schema, enum: [value], ...(meaning.length === 0 ? {} : described(Object.fromEntries(meaning))) }
}
