/**
 * Arguments of verbs, of actions and of reads: declared like fields, and parsed by the faces that take them, so that who
 * gets them finds values of their kinds.
 */
import { failure } from './failure.ts'
import { Misfit } from './kinds/index.ts'
import { expandFields, type Field, type Fields } from './resource.ts'
import { completeDraft } from './shape.ts'
import type { Row, Value } from './value.ts'

/** Declared arguments by their names; a reference is two of them, as it is two fields. */
export function argumentsOf(declared: Fields = NONE): ReadonlyMap<string, Field> {
  const known = EXPANDED.get(declared) ?? expandFields(declared)
  EXPANDED.set(declared, known)
  return known
}

const NONE: Fields = {}
/** Of declarations, which do not change. */
const EXPANDED = new WeakMap<Fields, ReadonlyMap<string, Field>>()

/** An argument as it stands in a query. Fails with `malformed` where its kind does not take it. */
export function parseArgument({ path, kind }: Pick<Field, 'path' | 'kind'>, text: string): Value {
  try {
    return kind.parse(text)
  } catch (misfit) {
    if (!(misfit instanceof Misfit)) throw misfit
    if (kind.name === 'flag') throw failure('flagMalformed', { name: path })
    throw failure('argumentInvalid', { field: path, problem: misfit.message })
  }
}

/** With the defaults of those that are not given. Fails with `invalid` where one that is required is not given. */
export function completeArguments(declared: Fields | undefined, given: Row): Row {
  return completeDraft({ fields: argumentsOf(declared) }, given)
}
