import { textOf, type Value } from '../value.ts'
import { Misfit, type Kind } from './kind.ts'

/**
 * A setting that has one value here. Others that clients know are refused with the reason: to keep them would tell of
 * something that is not done.
 */
export function only(value: Value, kind: Kind, why: string): Kind {
  return {
    ...kind,
    parse(given) {
      const wanted = kind.parse(given)
      if (wanted !== value) throw new Misfit(`${textOf(wanted)} is refused: ${why}`)
      return wanted
    },
    schema: { ...kind.schema, enum: [kind.print(value)] },
  }
}
