import type { Json, Value } from '../value.ts'
import { isRecord } from '../value.ts'
import {
  docWithWords,
  compareText,
  Misfit,
  quoted,
  type JsonSchema,
  type Kind,
  type Member,
  type MembersOf,
} from './kind.ts'

const ELEMENTS_MAX = 1024

/** A list of plain values: `services: ["data_core", "data_s3_server"]`. One value alone is taken as a list of one. */
export function list<T>(element: Kind<T>, limits: { readonly elementsMax?: number } = {}): Kind<readonly T[]> {
  const elementsMax = limits.elementsMax ?? ELEMENTS_MAX
  return {
    name: 'list',
    hasWildcards: element.hasWildcards,
    element: element as Kind,
    parse(value) {
      const given: readonly unknown[] = Array.isArray(value) ? value : [value]
      if (given.length > elementsMax) throw new Misfit(`It has more than ${elementsMax} elements.`)
      return given.map((each) => element.parse(each))
    },
    parseText: (text) => element.parseText(text),
    print: (value) => (Array.isArray(value) ? value.map((each: Value) => element.print(each)) : []),
    compare: (a, b) => compareText(JSON.stringify(a), JSON.stringify(b)),
    schema: { type: 'array', items: element.schema, maxItems: elementsMax },
  }
}

/** A list of small records: `statements: [{ effect, actions, resources }]`. */
export function each<const Members extends Readonly<Record<string, Member>>>(
  members: Members,
  limits: { readonly elementsMax?: number } = {},
): Kind<readonly MembersOf<Members>[]> {
  const elementsMax = limits.elementsMax ?? ELEMENTS_MAX
  return {
    name: 'each',
    hasWildcards: false,
    members,
    parse(value) {
      const given: readonly unknown[] = Array.isArray(value) ? value : [value]
      if (given.length > elementsMax) throw new Misfit(`It has more than ${elementsMax} elements.`)
      return given.map((one) => parseMembers(one, members))
    },
    parseText: (text) => text,
    print: (value) => (Array.isArray(value) ? value.map((one: Value) => printMembers(one, members)) : []),
    compare: (a, b) => compareText(JSON.stringify(a), JSON.stringify(b)),
    schema: { type: 'array', maxItems: elementsMax, items: schemaOf(members) },
  }
}

/** One small record, in a list of others: `rules: [{ expiration: { object_age_days } }]`. */
export function group<const Members extends Readonly<Record<string, Member>>>(
  members: Members,
): Kind<MembersOf<Members>> {
  return {
    name: 'group',
    hasWildcards: false,
    members,
    parse: (value) => parseMembers(value, members),
    parseText: (text) => text,
    print: (value) => printMembers(value, members),
    compare: (a, b) => compareText(JSON.stringify(a), JSON.stringify(b)),
    schema: schemaOf(members),
  }
}

/** Fails for a name with a dot: nobody could give such a member or ask for it. What lies deeper is a group. */
function schemaOf(members: Readonly<Record<string, Member>>): JsonSchema {
  const dotted = Object.keys(members).find((name) => name.includes('.'))
  if (dotted !== undefined) throw new Error(`The member ${quoted(dotted)} has a dot in its name.`)
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(members).map(([name, member]) => [
        name,
        {
          ...member.kind.schema,
          description: docWithWords(member.doc, member.kind),
          ...(member.readOnly === true ? { readOnly: true } : {}),
        },
      ]),
    ),
  }
}

/**
 * Of what has a name, the name alone will do: `schedule: "daily"`. Dotted names mean what they mean in a body:
 * `{ "schedule.name": "daily" }`.
 */
function parseMembers<Members extends Readonly<Record<string, Member>>>(
  whole: unknown,
  members: Members,
): MembersOf<Members> {
  const named = typeof whole === 'string' && Object.hasOwn(members, 'name') ? { name: whole } : whole
  if (!isRecord(named)) throw new Misfit(`${quoted(named)} is not an object.`)
  const given = undotted(named)
  for (const name of Object.keys(given)) {
    if (name !== '_links' && !Object.hasOwn(members, name)) {
      throw new Misfit(`It has an unknown property ${quoted(name)}.`)
    }
  }
  const parsed: Record<string, Value> = {}
  for (const [name, member] of Object.entries(members)) {
    const value = given[name]
    if (value !== undefined && value !== null && member.readOnly !== true) parsed[name] = member.kind.parse(value)
    else if (member.required === true) throw new Misfit(`Its property "${name}" is required.`)
  }
  return parsed as MembersOf<Members>
}

function undotted(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Object.keys(given).some((name) => name.includes('.'))) return given
  // Without a prototype, so that no name means more than it says.
  const nested = Object.create(null) as Record<string, unknown>
  for (const [name, value] of Object.entries(given)) {
    const dot = name.indexOf('.')
    const [base, inner] = dot < 0 ? [name, value] : [name.slice(0, dot), { [name.slice(dot + 1)]: value }]
    const before = nested[base]
    if (before === undefined) nested[base] = inner
    else if (isRecord(before) && isRecord(inner) && !Object.keys(inner).some((each) => Object.hasOwn(before, each))) {
      nested[base] = { ...before, ...inner }
    } else throw new Misfit(`Its property ${quoted(name)} was given twice.`)
  }
  return nested
}

function printMembers(value: Value, members: Readonly<Record<string, Member>>): Json {
  if (!isRecord(value)) return null
  const printed: Record<string, Json> = {}
  for (const [name, member] of Object.entries(members)) {
    const each = value[name]
    if (each !== undefined && each !== null) printed[name] = member.kind.print(each)
  }
  return printed
}
