/** What a field may hold inside. Times are milliseconds, sizes bytes, references uuids: kinds print them. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }

/** Flat dotted fields: `{ name: 'vol1', 'space.used': 4096 }`. A field that is not set is absent or null. */
export type Row = Readonly<Record<string, Value>>

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a field of a row as text. The field is one that the row can have, where its type is known. */
export function textAt<Of extends Row>(row: Of | undefined, path: keyof Of & string): string {
  return textOf(row?.[path])
}

/** A plain value as text; nothing, and what is not plain, as ''. */
export function textOf(value: Value | undefined): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
