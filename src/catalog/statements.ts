import type { DatabaseSync, StatementSync } from 'node:sqlite'

export type Value = null | number | bigint | string | Uint8Array

/** A prepared SELECT whose rows have a known shape. */
export interface Query<Row> {
  get(...values: Value[]): Row | undefined
  all(...values: Value[]): Row[]
  iterate(...values: Value[]): IterableIterator<Row>
}

/**
 * A statement that is prepared when it is first run. There are hundreds: to prepare them all takes longer than anything
 * else when a catalog is opened, and a process runs a part of them.
 */
export function lazily(db: DatabaseSync, sql: string, made: (statement: StatementSync) => void = () => undefined) {
  let statement: StatementSync | undefined
  return (): StatementSync => {
    if (statement === undefined) {
      statement = db.prepare(sql)
      made(statement)
    }
    return statement
  }
}

/**
 * A SELECT. That the columns match the type is the caller's promise; it stands beside the SQL. A LIMIT that is bound is
 * written `LIMIT ? + 0`: one that is a parameter alone makes SQLite plan the statement anew whenever it is bound.
 */
export function query<Row>(db: DatabaseSync, sql: string): Query<Row> {
  const statement = lazily(db, sql) as unknown as () => Query<Row>
  return {
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
    iterate: (...values) => statement().iterate(...values),
  }
}

/** A statement that changes rows; gives how many. Whoever changes what the ledger counts calls `ledger.write` instead. */
export function write(db: DatabaseSync, sql: string): (...values: Value[]) => number {
  const statement = lazily(db, sql)
  return (...values) => Number(statement().run(...values).changes)
}

/**
 * A sum as JavaScript can hold it. SQLite keeps sums in 64 bits, exactly; reading one beyond 2^53 as a number throws.
 * What is shown is the largest exact number then, and the exact sum again as soon as it is below that.
 */
export const saturated = (sum: string): string => `min(${sum}, ${Number.MAX_SAFE_INTEGER})`

/** How many rows a batch may have at most. */
export type BatchRows = 1 | 4 | 16 | 64 | 256 | 1001
const BATCH_ROWS: readonly BatchRows[] = [1, 4, 16, 64, 256, 1001]

/** The smallest size of a batch that has so many rows, or the largest there is. */
export function batchRows(wanted: number): BatchRows {
  return BATCH_ROWS.find((rows) => rows >= wanted) ?? 1001
}

/** Reads so many rows, or all there are. */
export type Batches<Row> = (rows: BatchRows, ...values: Value[]) => Row[]

/**
 * Prepares a SELECT once for each size of a batch, so that SQLite plans it for as many rows as there will be.
 */
export function batches<Row>(db: DatabaseSync, sql: string): Batches<Row> {
  const prepared = new Map(BATCH_ROWS.map((rows) => [rows, query<Row>(db, `${sql} LIMIT ${rows}`)]))
  return (rows, ...values) => prepared.get(rows)?.all(...values) ?? []
}

/** As `query`; each row is an array of its columns: of an object SQLite's binding makes a slow one. */
export function tupleQuery<Row extends readonly Value[]>(db: DatabaseSync, sql: string): Query<Row> {
  const statement = lazily(db, sql, (made) => made.setReturnArrays(true)) as unknown as () => Query<Row>
  return {
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
    iterate: (...values) => statement().iterate(...values),
  }
}

/** As `batches`; each row is an array of its columns in the order of the SELECT, which takes half the time. */
export function tuples<Row extends readonly Value[]>(db: DatabaseSync, sql: string): Batches<Row> {
  const prepared = new Map(
    BATCH_ROWS.map((rows) => {
      const statement = lazily(db, `${sql} LIMIT ${rows}`, (made) => made.setReturnArrays(true))
      return [rows, statement as unknown as () => Query<Row>]
    }),
  )
  return (rows, ...values) =>
    prepared
      .get(rows)?.()
      .all(...values) ?? []
}
