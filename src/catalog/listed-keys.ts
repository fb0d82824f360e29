/**
 * Keys of buckets with versions whose current row is an object. Listings jump from one of these to the next where delete
 * markers stand in between; so a page costs the same at any number of markers.
 *
 * A bucket that gets versions when it holds objects already has its keys looked at by the writer, some with each batch,
 * in the order of keys. Up to the last key that was looked at the list is exact, because every write keeps it so. Behind
 * that it may lack keys, and readers do not use it until it is whole.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { BucketSums, Ledger } from './ledger.ts'
import { query, write } from './statements.ts'

const INSERT = 'INSERT OR IGNORE INTO listed_keys (bucket, key) VALUES (?, ?)'

export function listedKeys(db: DatabaseSync, ledger: Ledger) {
  const newest = query<{ marker: number }>(
    db,
    'SELECT marker FROM objects WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1',
  )
  const insert = ledger.write(INSERT)
  const remove = ledger.write('DELETE FROM listed_keys WHERE bucket = ? AND key = ?')
  const setWhole = ledger.write('UPDATE buckets SET listed = 1 WHERE id = ?')

  return {
    /** The current row of a key becomes another one. */
    change(bucket: BucketSums, key: Uint8Array, wasObject: boolean, isObject: boolean): void {
      if (bucket.versioning === 'off' || wasObject === isObject) return
      if (isObject) insert(bucket.id, key)
      else remove(bucket.id, key)
    },

    /** As `change`, where it is not known what the key showed. */
    settle(bucket: number, key: Uint8Array): void {
      if (newest.get(bucket, key)?.marker === 0) insert(bucket, key)
      else remove(bucket, key)
    },

    /** A bucket gets versions. What it holds already is looked at later. */
    begin({ id, objects, versions }: BucketSums): void {
      if (objects + versions === 0) setWhole(id)
    },
  }
}

export type ListedKeys = ReturnType<typeof listedKeys>

/** Makes the function that looks at up to so many keys of buckets whose list is not whole. Gives how many it looked at. */
export function keyLister(db: DatabaseSync): (limit: number) => number {
  const unlisted = query<{ id: number; listedTo: Uint8Array | null }>(
    db,
    `SELECT id, listed_to AS listedTo FROM buckets INDEXED BY buckets_unlisted
       WHERE versioning <> 'off' AND listed = 0 LIMIT 1`,
  )
  const following = query<{ key: Uint8Array; marker: number }>(
    db,
    'SELECT key, marker FROM objects WHERE bucket = ? AND key > ? ORDER BY key, seq DESC LIMIT 1',
  )
  const insert = write(db, INSERT)
  const save = write(db, 'UPDATE buckets SET listed = ?, listed_to = ? WHERE id = ?')

  return (limit) => {
    let looked = 0
    while (looked < limit) {
      const bucket = unlisted.get()
      if (bucket === undefined) break
      let last: Uint8Array | undefined = bucket.listedTo ?? new Uint8Array()
      while (last !== undefined && looked < limit) {
        const row = following.get(bucket.id, last)
        if (row?.marker === 0) insert(bucket.id, row.key)
        last = row?.key
        looked++
      }
      save(last === undefined ? 1 : 0, last ?? null, bucket.id)
    }
    return looked
  }
}

/** Whether there are buckets for the lister. */
export const UNLISTED = `SELECT 1 FROM buckets INDEXED BY buckets_unlisted WHERE versioning <> 'off' AND listed = 0`
