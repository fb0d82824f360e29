import type { DatabaseSync } from 'node:sqlite'
import { query } from '../statements.ts'

/**
 * Makes the function that finds the live row of a key with a version, at the same cost however many versions the key
 * has. The index has only rows written since the bucket has versions. One from before is 'null', and the oldest.
 */
// The caller promises the shape of its columns, as for a query.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function versionFinder<Row>(
  db: DatabaseSync,
  columns: string,
): (bucket: number, key: Uint8Array, version: string) => Row | undefined {
  const indexed = query<Row>(
    db,
    `SELECT ${columns} FROM objects WHERE bucket = ? AND key = ? AND version = ? AND versioned = 1`,
  )
  const fromBefore = query<Row>(
    db,
    `SELECT ${columns} FROM objects WHERE bucket = ?1 AND key = ?2 AND versioned = 0
       AND seq = (SELECT min(seq) FROM objects WHERE bucket = ?1 AND key = ?2)`,
  )
  return (bucket, key, version) =>
    indexed.get(bucket, key, version) ?? (version === 'null' ? fromBefore.get(bucket, key) : undefined)
}
