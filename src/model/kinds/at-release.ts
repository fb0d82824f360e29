/**
 * A kind as an earlier release had it: members of its records that came later are neither taken, nor shown, nor
 * described. The kind itself does the rest, so it is wrapped and not made anew.
 */
import { isServed, type Release } from '../release.ts'
import { isRecord, type Json } from '../value.ts'
import { Misfit, quoted, type JsonSchema, type Kind, type Member } from './kind.ts'
import { oneOf } from './text.ts'

export function kindAt(kind: Kind, served: Release): Kind {
  const { element, members } = kind
  if (element !== undefined) {
    const narrowed = kindAt(element, served)
    if (narrowed === element) return kind
    return wrapped(kind, narrowed, { element: narrowed, schema: { ...kind.schema, items: narrowed.schema } })
  }
  if (members === undefined) return wordsAt(kind, served)
  const kept: Record<string, Member> = {}
  for (const [name, member] of Object.entries(members)) {
    if (isServed(member.since, served)) kept[name] = { ...member, kind: kindAt(member.kind, served) }
  }
  const isSame = Object.entries(members).every(([name, member]) => kept[name]?.kind === member.kind)
  if (isSame) return kind
  const narrowed = { ...kind, members: kept }
  return wrapped(kind, narrowed, { members: kept, schema: schemaAt(kind.schema, kept) })
}

/** An enumeration without the words that came later. */
function wordsAt(kind: Kind, served: Release): Kind {
  const all = Object.entries(kind.meanings ?? {})
  const known = all.filter(([, meaning]) => typeof meaning === 'string' || isServed(meaning.since, served))
  if (known.length === all.length) return kind
  const { schema } = oneOf(Object.fromEntries(known))
  return {
    ...kind,
    meanings: Object.fromEntries(known),
    schema,
    parse(value) {
      const word = kind.parse(value)
      if (!known.some(([each]) => each === word)) {
        throw new Misfit(`${quoted(value)} is none of ${known.map(([each]) => each).join(', ')}.`)
      }
      return word
    },
  }
}

function wrapped(kind: Kind, narrowed: Kind, changes: Partial<Kind>): Kind {
  return {
    ...kind,
    ...changes,
    parse(value) {
      refuse(narrowed, value)
      return kind.parse(value)
    },
    print: (value) => shown(narrowed, kind.print(value)),
  }
}

function refuse(kind: Kind, value: unknown): void {
  const { element, members } = kind
  if (Array.isArray(value)) for (const one of value as readonly unknown[]) refuse({ element, members } as Kind, one)
  else if (element !== undefined) refuse(element, value)
  else if (members !== undefined && isRecord(value)) {
    for (const [name, one] of Object.entries(value)) {
      const member = members[name]
      if (member === undefined) throw new Misfit(`It has an unknown property ${quoted(name)}.`)
      refuse(member.kind, one)
    }
  } else if (kind.meanings !== undefined && typeof value === 'string') kind.parse(value)
}

function shown(kind: Kind, printed: Json): Json {
  if (Array.isArray(printed)) return (printed as readonly Json[]).map((one) => shown(kind.element ?? kind, one))
  const { members } = kind
  if (members === undefined || !isRecord(printed)) return printed
  const kept: Record<string, Json> = {}
  for (const [name, one] of Object.entries(printed as Readonly<Record<string, Json>>)) {
    const member = members[name]
    if (member !== undefined) kept[name] = shown(member.kind, one)
  }
  return kept
}

/** Of a list, that of its elements is what describes the members. */
function schemaAt(schema: JsonSchema, members: Readonly<Record<string, Member>>): JsonSchema {
  const { items, properties } = schema
  if (isRecord(items)) return { ...schema, items: schemaAt(items, members) }
  if (!isRecord(properties)) return schema
  const kept = Object.entries(properties as Readonly<Record<string, Json>>).flatMap(([name, one]): [string, Json][] => {
    const member = members[name]
    return member === undefined ? [] : [[name, { ...(one as JsonSchema), ...member.kind.schema }]]
  })
  return { ...schema, properties: Object.fromEntries(kept) }
}
