/** What a field may hold inside. Times are milliseconds, sizes bytes, references uuids: kinds print them. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }

/** Flat dotted fields: `{ name: 'vol1', 'space.used': 4096 }`. A field that is not set is absent or null. */
export type Row = Readonly<Record<string, Value>>

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value)
}

/** The value at a field of a row as text. The field is one that the row can have, where its type is known. */
export function textAt<Of extends Row>(row: Of | undefined, path: keyof Of & string): string {
  return textOf(row?.[path])
}

/** The row without the fields that are null. */
export function withoutUnset<Of extends Row>(row: Of): Of {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Of
}

/** The row without some fields that it need not have. */
export function without<Of extends Row>(row: Of, paths: readonly OptionalOf<Of>[]): Of {
  const left: ReadonlySet<string> = new Set(paths)
  return Object.fromEntries(Object.entries(row).filter(([path]) => !left.has(path))) as Of
}

type OptionalOf<Of> = {
  [Path in keyof Of]-?: Partial<Pick<Of, Path>> extends Pick<Of, Path> ? Path : never
}[keyof Of] &
  string

/** The row as a change makes it: null takes a value away. */
export function changedBy<Of extends Row>(before: Of, change: { readonly [Path in keyof Of]?: Of[Path] | null }): Of {
  return withoutUnset({ ...before, ...change })
}

/** The names of the fields of a row, or of what else is declared, as TypeScript knows them. */
export function namesOf<Of extends object>(of: Of): (keyof Of & string)[] {
  return Object.keys(of) as (keyof Of & string)[]
}

/** A plain value as text; nothing, and what is not plain, as ''. */
export function textOf(value: Value | undefined): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
