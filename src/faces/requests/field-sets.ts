/** What programs ask for again and again is worked out once: sets of fields, and what is made of them. */
import type { Resource } from '../../model/resource.ts'

/** So many of each resource are remembered. */
const FIELD_SETS_MAX = 100
/** Longer expressions are no program's habit. */
const EXPRESSION_CHARACTERS_MAX = 2048

type Remembered = WeakMap<Resource, Map<string, ReadonlySet<string>>>

const fieldsAsked: Remembered = new WeakMap()
const fieldSets: Remembered = new WeakMap()

/** The fields that are asked for in these words, which say all that the set depends on. */
export function fieldsAskedFor(
  resource: Resource,
  words: string,
  make: () => ReadonlySet<string>,
): ReadonlySet<string> {
  return remembered(fieldsAsked, resource, words, make)
}

/** The set that has the same fields in the same order, so that what is made of it need not be made anew. */
export function shared(resource: Resource, fields: ReadonlySet<string>): ReadonlySet<string> {
  return remembered(fieldSets, resource, [...fields].join(','), () => fields)
}

function remembered(
  sets: Remembered,
  resource: Resource,
  name: string,
  make: () => ReadonlySet<string>,
): ReadonlySet<string> {
  const known = sets.get(resource) ?? new Map<string, ReadonlySet<string>>()
  sets.set(resource, known)
  const found = known.get(name)
  if (found === undefined && name.length > EXPRESSION_CHARACTERS_MAX && sets === fieldsAsked) return make()
  const set = found ?? make()
  // The one asked for last is the last to be forgotten.
  known.delete(name)
  known.set(name, set)
  const [oldest] = known.keys()
  if (known.size > FIELD_SETS_MAX && oldest !== undefined) known.delete(oldest)
  return set
}
