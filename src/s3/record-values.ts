import type { FieldValue } from '../ports/catalog.ts'

/** Reading what records hold, whatever it is: a record of another shape gives nothing, and never fails a request. */
export function isList(value: FieldValue | undefined): value is readonly FieldValue[] {
  return Array.isArray(value)
}

export function list(value: FieldValue | undefined): readonly FieldValue[] {
  return isList(value) ? value : []
}

export function field(value: FieldValue | undefined, name: string): FieldValue | undefined {
  return typeof value === 'object' && value !== null && !isList(value) ? value[name] : undefined
}

export function text(value: FieldValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

export function texts(value: FieldValue | undefined): string[] {
  return list(value).filter((one) => typeof one === 'string')
}

export function number(value: FieldValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
