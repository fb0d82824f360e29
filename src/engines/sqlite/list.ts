/**
 * One page of a bucket in byte order of keys.
 *
 * The index is walked from the first key of interest. When a key falls into a common prefix, the walk jumps ("seeks") to
 * the first key behind that prefix, so a prefix with a million keys costs one seek:
 *
 *     delimiter '/':  a  b/1  b/2 … b/999999  c        walk: a → b/1 → (seek 'b0') → c
 *
 * The successor of a prefix is the prefix with its last byte that is not 0xff raised by one and the rest cut off; the
 * prefix ff ff has none, it ends the walk. At a snapshot two walks are merged: rows that still live and were born before
 * it, and rows of the history that died after it. Of several rows of a key the newest that is seen counts.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { ListPage, ListQuery, ObjectRow } from '../../ports/catalog.ts'
import { OBJECT_COLUMNS, objectRow } from './rows.ts'
import type { ObjectColumns } from './rows.ts'
import { KEY_BYTES_MAX } from './object-changes.ts'
import { query } from './statements.ts'
import type { Query, Value } from './statements.ts'

/** A page ends early, with `next`, when its rows have this many bytes: objects of very many parts have long rows. */
export const PAGE_BYTES_MAX = 8 * 1024 * 1024
export const PAGE_ITEMS_MAX = 1000

const BEHIND_ALL_KEYS = Buffer.alloc(KEY_BYTES_MAX + 1, 0xff)

export function lister(db: DatabaseSync): (bucket: number, query: ListQuery) => ListPage {
  const live = query<ObjectColumns>(
    db,
    `SELECT ${OBJECT_COLUMNS} FROM objects WHERE bucket = ? AND key >= ? AND key < ? ORDER BY key, seq DESC`,
  )
  const stillLive = query<ObjectColumns>(
    db,
    `SELECT ${OBJECT_COLUMNS} FROM objects WHERE bucket = ? AND key >= ? AND key < ? AND born <= ?
       ORDER BY key, seq DESC`,
  )
  const dead = query<ObjectColumns>(
    db,
    `SELECT ${OBJECT_COLUMNS} FROM object_history WHERE bucket = ? AND key >= ? AND key < ? AND born <= ? AND died > ?
       ORDER BY key, seq DESC`,
  )

  return (bucket, { prefix, delimiter, after, limit, at }) => {
    const end = successor(prefix) ?? BEHIND_ALL_KEYS
    const walks =
      at === undefined
        ? [new Walk(live, bucket, end, [])]
        : [new Walk(stillLive, bucket, end, [at.epoch]), new Walk(dead, bucket, end, [at.epoch, at.epoch])]
    const objects: ObjectRow[] = []
    const prefixes: Uint8Array[] = []
    const itemsMax = Math.min(limit, PAGE_ITEMS_MAX)
    let last: Uint8Array | undefined
    let bytes = 0
    try {
      seekAll(walks, firstKey(prefix, delimiter, after))
      for (;;) {
        const row = newest(walks)
        if (row === undefined) return { objects, prefixes }
        if (objects.length + prefixes.length >= itemsMax || bytes >= PAGE_BYTES_MAX) {
          return last === undefined ? { objects, prefixes } : { objects, prefixes, next: last }
        }
        const common = commonPrefix(row.key, prefix, delimiter)
        if (common === undefined) {
          if (row.marker === 0) {
            objects.push(objectRow(row))
            bytes += row.blobs.length + row.body.length
            last = row.key
          }
          passKey(walks, row.key)
        } else {
          // A prefix under which there are only delete markers must not show; markers come with versioning.
          prefixes.push(common)
          last = common
          seekAll(walks, successor(common))
        }
      }
    } finally {
      for (const walk of walks) walk.stop()
    }
  }
}

/** The rows of one table from a key on. */
class Walk {
  readonly #rows: Query<ObjectColumns>
  readonly #bucket: number
  readonly #end: Uint8Array
  readonly #epochs: readonly Value[]
  #walking: IterableIterator<ObjectColumns> | undefined
  row: ObjectColumns | undefined

  constructor(rows: Query<ObjectColumns>, bucket: number, end: Uint8Array, epochs: readonly Value[]) {
    this.#rows = rows
    this.#bucket = bucket
    this.#end = end
    this.#epochs = epochs
  }

  seek(key: Uint8Array | undefined): void {
    this.stop()
    if (key === undefined) return
    this.#walking = this.#rows.iterate(this.#bucket, key, this.#end, ...this.#epochs)
    this.advance()
  }

  advance(): void {
    const next = this.#walking?.next()
    this.row = next === undefined || next.done === true ? undefined : next.value
  }

  /** Frees the statement, which would otherwise hold its read transaction open. */
  stop(): void {
    this.#walking?.return?.()
    this.#walking = undefined
    this.row = undefined
  }
}

function seekAll(walks: readonly Walk[], key: Uint8Array | undefined): void {
  for (const walk of walks) walk.seek(key)
}

/** The first key of all walks; of the same key the newest row. */
function newest(walks: readonly Walk[]): ObjectColumns | undefined {
  let best: ObjectColumns | undefined
  for (const { row } of walks) {
    if (row === undefined) continue
    const order = best === undefined ? -1 : Buffer.compare(row.key, best.key)
    if (order < 0 || (order === 0 && best !== undefined && row.seq > best.seq)) best = row
  }
  return best
}

/** Steps over all rows of a key. A key with several rows is left by a seek, however many versions it has. */
function passKey(walks: readonly Walk[], key: Uint8Array): void {
  for (const walk of walks) {
    if (walk.row === undefined || Buffer.compare(walk.row.key, key) !== 0) continue
    walk.advance()
    if (walk.row !== undefined && Buffer.compare(walk.row.key, key) === 0) walk.seek(keyAfter(key))
  }
}

/** Where the walk begins: at the prefix, or right behind `after` and the common prefix that `after` lies in. */
function firstKey(prefix: Uint8Array, delimiter: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  if (after.length === 0 || Buffer.compare(after, prefix) < 0) return prefix
  const passed = commonPrefix(after, prefix, delimiter)
  return passed === undefined ? keyAfter(after) : successor(passed)
}

/** The prefix that a key is folded into, if it is: everything up to and including the first delimiter after `prefix`. */
function commonPrefix(key: Uint8Array, prefix: Uint8Array, delimiter: Uint8Array): Uint8Array | undefined {
  if (delimiter.length === 0 || !startsWith(key, prefix)) return undefined
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength)
  const found = bytes.indexOf(delimiter, prefix.length)
  return found < 0 ? undefined : Uint8Array.from(key.subarray(0, found + delimiter.length))
}

function startsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
}

/** The smallest key that is larger. */
function keyAfter(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.alloc(1)])
}

/** The smallest string behind everything that begins with the prefix, or nothing when there is none. */
export function successor(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const next = Uint8Array.from(prefix.subarray(0, length))
  next[length - 1] = (next[length - 1] ?? 0) + 1
  return next
}
