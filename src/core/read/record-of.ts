import type { RecordType, RowOf } from '../../model/rows.ts'
import type { KeptRecord, Records, StoredRecord } from '../../ports/catalog.ts'

/** A record with the row that its type has, for those who are given a catalog alone. */
export function recordOf<Type extends RecordType>(
  catalog: Records,
  type: Type,
  key: string,
): Promise<StoredRecord<RowOf<Type>> | undefined>
export function recordOf(catalog: Records, type: string, key: string): Promise<StoredRecord | undefined> {
  return catalog.record(type, key)
}

/** Records as a snapshot of a volume has them: see `Records.recordsAt`. */
export function recordsAt<Type extends RecordType>(
  catalog: Records,
  type: Type,
  ...where: Where
): Promise<readonly Pick<StoredRecord<RowOf<Type>>, 'key' | 'body'>[]>
export function recordsAt(catalog: Records, type: string, ...where: Where): Promise<readonly KeptRecord[]> {
  return catalog.recordsAt(type, ...where)
}

type Where = Parameters<Records['recordsAt']> extends [string, ...infer Rest] ? Rest : never
