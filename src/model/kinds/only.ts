import { textOf, type Value } from '../value.ts'
import { Misfit, type Kind } from './kind.ts'

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
    schema: { ...kind.schema, enum: [kind.print(value)] },
  }
}
