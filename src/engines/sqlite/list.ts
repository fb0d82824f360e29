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
 *
 * A walk at a snapshot may have to pass over very many rows that it does not see, such as all that was written since.
 * Then it pauses for other work. That takes nothing from it: what a snapshot shows never changes, and each stretch of
 * keys is read at one instant, so a row that moves to the history meanwhile is met in one of the two places.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { ListPage, ListQuery, ObjectRow } from '../../ports/catalog.ts'
import { KEY_BYTES_MAX } from './object-changes.ts'
import { OBJECT_COLUMNS, objectRow } from './rows.ts'
import type { ObjectColumns } from './rows.ts'
import { query } from './statements.ts'
import { TableWalk } from './walk.ts'
import type { Patience, Place, Walk } from './walk.ts'

/** A page ends early, with `next`, when its rows have this many bytes: objects of very many parts have long rows. */
export const PAGE_BYTES_MAX = 8 * 1024 * 1024
export const PAGE_ITEMS_MAX = 1000
/** Rows not seen by a snapshot that are passed over in one go, in some ten milliseconds. */
const PATIENCE_ROWS = 10_000

const BEHIND_ALL_KEYS = Buffer.alloc(KEY_BYTES_MAX + 1, 0xff)

type LiveRow = ObjectColumns & { readonly born: number }
type DeadPlace = Place & { readonly id: number; readonly born: number; readonly died: number }

/** A page in the making. Call `go` until it gives the page; anything may happen between two calls. */
export interface PageWalk {
  go(): ListPage | undefined
}

export function lister(db: DatabaseSync): (bucket: number, query: ListQuery) => PageWalk {
  const live = query<LiveRow>(
    db,
    `SELECT ${OBJECT_COLUMNS}, born FROM objects WHERE bucket = ? AND key >= ? AND key < ? ORDER BY key, seq DESC`,
  )
  // Read from the index alone; most rows of the history are not those of this snapshot.
  const dead = query<DeadPlace>(
    db,
    `SELECT id, key, seq, born, died FROM object_history WHERE bucket = ? AND key >= ? AND key < ?
       ORDER BY key, seq DESC`,
  )
  const deadRow = query<ObjectColumns>(db, `SELECT ${OBJECT_COLUMNS} FROM object_history WHERE id = ?`)

  function walksOf(bucket: number, { prefix, at }: ListQuery, patience: Patience): Walk[] {
    const end = successor(prefix) ?? BEHIND_ALL_KEYS
    const load = (row: LiveRow) => row
    if (at === undefined) return [new TableWalk({ rows: live, seen: () => true, load }, bucket, end, patience)]
    const { epoch } = at
    const lived = (row: DeadPlace) => row.born <= epoch && row.died > epoch
    const loadDead = (row: DeadPlace) => deadRow.get(row.id)
    return [
      new TableWalk({ rows: live, seen: (row) => row.born <= epoch, load }, bucket, end, patience),
      new TableWalk({ rows: dead, seen: lived, load: loadDead }, bucket, end, patience),
    ]
  }

  return (bucket, listQuery) => {
    const patience = { left: PATIENCE_ROWS }
    const page = new Page(listQuery, walksOf(bucket, listQuery, patience))
    return {
      go() {
        patience.left = PATIENCE_ROWS
        return page.go()
      },
    }
  }
}

class Page {
  readonly #prefix: Uint8Array
  readonly #delimiter: Uint8Array
  readonly #itemsMax: number
  readonly #walks: readonly Walk[]
  readonly #objects: ObjectRow[] = []
  readonly #prefixes: Uint8Array[] = []
  #from: Uint8Array | undefined
  /** The key or common prefix that came last. */
  #last: Uint8Array | undefined
  #bytes = 0

  constructor({ prefix, delimiter, after, limit }: ListQuery, walks: readonly Walk[]) {
    this.#prefix = prefix
    this.#delimiter = delimiter
    this.#itemsMax = Math.min(limit, PAGE_ITEMS_MAX)
    this.#walks = walks
    this.#from = firstKey(prefix, delimiter, after)
  }

  /** Walks until the page is complete, or pauses. */
  go(): ListPage | undefined {
    try {
      this.#seek(this.#from)
      for (;;) {
        const walk = first(this.#walks)
        const pausedAt = this.#pausedBefore(walk?.row?.key)
        if (pausedAt !== undefined) {
          this.#from = pausedAt
          return undefined
        }
        if (walk?.row === undefined) return { objects: this.#objects, prefixes: this.#prefixes }
        if (this.#isFull()) return this.#withNext()
        this.#take(walk, walk.row.key)
      }
    } finally {
      for (const walk of this.#walks) walk.stop()
    }
  }

  #take(walk: Walk, key: Uint8Array): void {
    const common = commonPrefix(key, this.#prefix, this.#delimiter)
    if (common === undefined) {
      const row = walk.load()
      if (row?.marker === 0) {
        this.#objects.push(objectRow(row))
        this.#bytes += row.blobs.length + row.body.length
      }
      this.#last = key
      passKey(this.#walks, key)
    } else {
      // A prefix under which there are only delete markers must not show; markers come with versioning.
      this.#prefixes.push(common)
      this.#last = common
      this.#seek(successor(common))
    }
  }

  #isFull(): boolean {
    return this.#objects.length + this.#prefixes.length >= this.#itemsMax || this.#bytes >= PAGE_BYTES_MAX
  }

  #withNext(): ListPage {
    const page = { objects: this.#objects, prefixes: this.#prefixes }
    return this.#last === undefined ? page : { ...page, next: this.#last }
  }

  /** Where to go on, when a walk paused before the next row of the others. A key that was taken is not met again. */
  #pausedBefore(key: Uint8Array | undefined): Uint8Array | undefined {
    let paused: Uint8Array | undefined
    for (const { pausedAt } of this.#walks) {
      if (pausedAt === undefined || (paused !== undefined && Buffer.compare(paused, pausedAt) <= 0)) continue
      paused = pausedAt
    }
    if (paused === undefined || (key !== undefined && Buffer.compare(key, paused) < 0)) return undefined
    const taken = this.#last !== undefined && Buffer.compare(this.#last, paused) === 0
    return taken ? keyAfter(paused) : paused
  }

  #seek(key: Uint8Array | undefined): void {
    for (const walk of this.#walks) walk.seek(key)
  }
}

/** The walk that is at the first key; of those at the same key, the one at the newest row. */
function first(walks: readonly Walk[]): Walk | undefined {
  let best: Walk | undefined
  for (const walk of walks) {
    if (walk.row === undefined) continue
    const order = best?.row === undefined ? -1 : Buffer.compare(walk.row.key, best.row.key)
    if (order < 0 || (order === 0 && walk.row.seq > (best?.row?.seq ?? 0))) best = walk
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
