/** Rows are flat inside and nested at the edge: `{ 'space.used': 1 }` is `{ "space": { "used": 1 } }` outside. */
import { failure } from './failure.ts'
import { Misfit } from './kinds/index.ts'
import { ofPair } from './of-pair.ts'
import { isServed, type Release } from './release.ts'
import { addStep, filling, type Steps, writing } from './printing.ts'
import { declaredName, type Field, type Resource } from './resource.ts'
import { isRecord, type Json, type Row, type Value } from './value.ts'

/** Prints the given fields of a row, nested. Fields that are not set are left out. */
export function nest(resource: Resource, row: Row, paths: ReadonlySet<string>): Record<string, Json> {
  return nester(resource, paths)(row)
}

/** Makes the function that prints the given fields of rows. */
export const nester = ofPair((resource: Resource, paths: ReadonlySet<string>): ((row: Row) => Record<string, Json>) => {
  const fill = filling(stepsFor(resource, paths))
  return (row) => fill(row, undefined) ?? {}
})

/** The same as text: its members in JSON, with commas between them. */
export const writer = ofPair((resource: Resource, paths: ReadonlySet<string>): ((row: Row) => string) =>
  writing(stepsFor(resource, paths)),
)

function stepsFor(resource: Resource, paths: ReadonlySet<string>): Steps {
  const ofMembers = [...paths].filter((asked) => !resource.fields.has(asked))
  const steps: Steps = new Map()
  for (const [path, { kind }] of resource.fields) {
    if (kind.isSecret === true) continue
    const within = kind.members === undefined ? [] : ofMembers.filter((asked) => asked.startsWith(`${path}.`))
    const members = paths.has(path) ? undefined : within.map((asked) => asked.slice(path.length + 1))
    if (members?.length === 0) continue
    const print = (value: Value) => kind.print(value)
    const shown = members === undefined ? print : (value: Value) => onlyMembers(print(value), members)
    addStep(steps, path.split('.'), { path, print: shown })
  }
  return steps
}

/** Of each element, the members that are asked for: `count`, or `schedule.name` of what has members itself. */
function onlyMembers(printed: Json, members: readonly string[]): Json {
  if (Array.isArray(printed)) return (printed as readonly Json[]).map((element) => onlyMembers(element, members))
  if (!isRecord(printed)) return printed
  const kept: Record<string, Json> = {}
  for (const [name, value] of Object.entries(printed as Readonly<Record<string, Json>>)) {
    const within = members
      .filter((member) => member.startsWith(`${name}.`))
      .map((member) => member.slice(name.length + 1))
    if (members.includes(name)) kept[name] = value
    else if (within.length > 0) {
      const inner = onlyMembers(value, within)
      // An object of which nothing is left is not shown, as everywhere; an element of a list keeps its place.
      if (!isRecord(inner) || Object.keys(inner).length > 0) kept[name] = inner
    }
  }
  return kept
}

export function place(nested: Record<string, Json>, path: string, value: Json): void {
  placeAt(nested, path.split('.'), value)
}

function placeAt(nested: Record<string, Json>, words: readonly string[], value: Json): void {
  let at = nested
  for (const word of words.slice(0, -1)) {
    const next = at[word]
    if (isRecord(next)) at = next
    else {
      const made: Record<string, Json> = {}
      at[word] = made
      at = made
    }
  }
  at[words.at(-1) ?? ''] = value
}

/**
 * Reads a request body into flat fields. Nested objects and dotted keys mean the same. A plain value where a reference
 * is expected is its name. Fails with the field that does not do. The purpose says which fields may be given; those `repeated` may in
 * any case.
 */
export function flatten(
  resource: Pick<Resource, 'fields'>,
  body: unknown,
  purpose: 'create' | 'modify' | ((field: Field) => boolean),
  served: Release,
  repeated: ReadonlySet<string> = new Set(),
): Record<string, Value> {
  if (!isRecord(body)) throw failure('bodyNotObject')
  const draft: Record<string, Value> = {}
  walk(body, '')
  return draft

  function walk(given: Readonly<Record<string, unknown>>, base: string): void {
    for (const [name, value] of Object.entries(given)) {
      if (base === '' && name === '_links') continue
      const path = declaredName(resource, base === '' ? name : `${base}.${name}`)
      const field = fieldOf(path)
      if (field !== undefined) take(field, value)
      else if (isRecord(value) && isPrefix(resource, path, served)) walk(value, path)
      else if ((typeof value === 'string' || value === null) && fieldOf(`${path}.name`) !== undefined) {
        take(fieldOf(`${path}.name`) as Field, value)
      } else if (name === '_links') continue
      else if (!takeMembers(path, value)) throw failure('fieldUnknown', { field: path })
    }
  }

  function fieldOf(path: string): Field | undefined {
    const field = resource.fields.get(path)
    return field !== undefined && isServed(field.since, served) ? field : undefined
  }

  /** `users.name: ["a", "b"]` gives a list of elements with one member each. */
  function takeMembers(path: string, value: unknown): boolean {
    const dot = path.lastIndexOf('.')
    const field = dot < 0 ? undefined : fieldOf(path.slice(0, dot))
    const member = path.slice(dot + 1)
    if (field?.kind.name !== 'each' || field.kind.members?.[member] === undefined) return false
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    take(
      field,
      values.map((one) => ({ [member]: one })),
    )
    return true
  }

  function take(field: Field, value: unknown): void {
    if (draft[field.path] !== undefined) {
      throw failure('fieldRepeated', { field: field.path })
    }
    const isAllowed = typeof purpose === 'function' ? purpose(field) : field.set === 'always' || field.set === purpose
    if (!isAllowed && !repeated.has(field.path))
      throw failure(purpose === 'modify' ? 'fieldNotModifiable' : 'fieldNotCreatable', { field: field.path })
    if (value === null) {
      if (purpose === 'modify' && !mayBeEmpty(field)) throw failure('fieldEmpty', { field: field.path })
      draft[field.path] = null
      return
    }
    try {
      if (Array.isArray(value) && !LISTS.has(field.kind.name)) throw new Misfit('it takes one value.', 'fieldTakesOne')
      draft[field.path] = field.kind.parse(value)
    } catch (misfit) {
      if (misfit instanceof Misfit) {
        throw failure(misfit.failure ?? 'fieldInvalid', { field: field.path, problem: misfit.message })
      }
      throw misfit
    }
  }
}

/** The kinds that take arrays. */
const LISTS: ReadonlySet<string> = new Set(['list', 'each'])

/** Free text and lists can be emptied; a size, a name or a state always has a value, unless it says otherwise. */
function mayBeEmpty(field: Field): boolean {
  if (field.isClearable) return true
  return !field.isRequired && field.default === undefined && ['text', 'list', 'each'].includes(field.kind.name)
}

function isPrefix(resource: Pick<Resource, 'fields'>, path: string, served: Release): boolean {
  for (const field of resource.fields.values()) {
    if (field.path.startsWith(`${path}.`) && isServed(field.since, served)) return true
  }
  return false
}

/** Fills in defaults and insists on required fields, before a record is made. */
export function completeDraft<Of extends Row>(resource: Pick<Resource, 'fields'>, draft: Of): Of {
  const complete: Record<string, Value> = { ...draft }
  for (const field of resource.fields.values()) {
    if (complete[field.path] === null) delete complete[field.path]
    if (complete[field.path] !== undefined) continue
    if (field.default !== undefined && !hasSibling(complete, field)) complete[field.path] = field.default
    else if (field.isRequired && !hasSibling(complete, field)) throw failure('fieldRequired', { field: field.path })
  }
  return complete as Of
}

/** A reference is given by its name or by its uuid. */
function hasSibling(draft: Readonly<Record<string, Value>>, field: Field): boolean {
  if (field.reference === undefined || field.reference.part === 'list') return false
  const other = field.reference.part === 'name' ? 'uuid' : 'name'
  return draft[`${field.reference.base}.${other}`] !== undefined
}
