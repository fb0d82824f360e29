import type { RecordType } from '../../model/rows.ts'
import type { Records, RecordsWithin } from '../../ports/catalog.ts'
import { storedRow, type StoredRow } from '../../records/stored.ts'

/** One record of a type, or nothing. */
export async function findRow<Type extends RecordType>(
  records: Pick<Records, 'record'>,
  type: Type,
  key: string,
): Promise<StoredRow<Type> | undefined> {
  const record = await records.record(type, key)
  return record === undefined ? undefined : storedRow(type, record.body)
}

/** Records of a type, or those under one parent. */
export async function findRows<Type extends RecordType>(
  records: Pick<Records, 'records'>,
  type: Type,
  within?: RecordsWithin,
): Promise<readonly StoredRow<Type>[]> {
  return (await records.records(type, within)).map(({ body }) => storedRow(type, body))
}

/**
 * The record that holds a unique value. Only records of this type have values in the scope; those of a deleted volume are
 * kept under another type until it is recovered or purged, and hold theirs.
 */
export async function findHolder<Type extends RecordType>(
  records: Pick<Records, 'record' | 'holder'>,
  type: Type,
  scope: string,
  value: string,
): Promise<StoredRow<Type> | undefined> {
  const holder = await records.holder(scope, value)
  const record = holder === undefined ? undefined : await records.record(holder.type, holder.key)
  return record === undefined ? undefined : storedRow(type, record.body)
}
