/**
 * Fields whose paths are put together: TypeScript knows of such a path only that it is a string, so these functions say the
 * types of what they make.
 */
import type { Kind } from './kinds/index.ts'
import type { FieldDeclaration, Fields } from './resource.ts'
import type { Value } from './value.ts'

type Below<Base extends string, Name extends string, Of> = { readonly [Path in `${Base}.${Name}`]: Of }

/** One field below a path for each of these names: `scope.include_shares`. */
export function fieldsBelow<const Base extends string, const Name extends string, const Of extends FieldDeclaration>(
  base: Base,
  names: readonly Name[],
  field: (name: Name) => Of,
): Below<Base, Name, Of> {
  return Object.fromEntries(names.map((name) => [`${base}.${name}`, field(name)])) as Below<Base, Name, Of>
}

/** What the fields have that nobody sets. */
export function defaultsOf<const Of extends Fields>(fields: Of): DefaultsOf<Of> {
  const defaults = Object.entries(fields).flatMap(([name, field]) =>
    field.default === undefined ? [] : [[name, field.default]],
  )
  return Object.fromEntries(defaults) as DefaultsOf<Of>
}

type DefaultsOf<Of extends Fields> = {
  readonly [Name in keyof Of as Of[Name] extends { readonly default: Value } ? Name : never]: Of[Name]['default']
}

/** The fields of one element as the members of a list of such elements. */
export function asMembers<Of extends FieldsWithKinds>(fields: Of): MembersOfFields<Of> {
  const members = Object.entries(fields).map(([name, { kind, doc, required = false }]) => [
    name,
    { kind, doc, required },
  ])
  return Object.fromEntries(members) as MembersOfFields<Of>
}

type FieldsWithKinds = Fields & Readonly<Record<string, { readonly kind: Kind }>>

type MembersOfFields<Of extends FieldsWithKinds> = {
  readonly [Name in keyof Of]: {
    readonly kind: Of[Name]['kind']
    readonly doc: string
    readonly required: Of[Name] extends { readonly required: true } ? true : false
  }
}
