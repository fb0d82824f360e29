import type { DatabaseSync } from 'node:sqlite'

export type Value = null | number | string | Uint8Array

/** A prepared SELECT whose rows have a known shape. */
export interface Query<Row> {
  get(...values: Value[]): Row | undefined
  all(...values: Value[]): Row[]
  iterate(...values: Value[]): IterableIterator<Row>
}

/** Prepares a SELECT. That the columns match the type is the caller's promise; it stands beside the SQL. */
export function query<Row>(db: DatabaseSync, sql: string): Query<Row> {
  return db.prepare(sql) as unknown as Query<Row>
}
