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
 * A key whose newest row is a delete marker is stepped over before it is folded, so a common prefix shows when the walk
 * meets a key in it that has an object. Where very many markers stand in a row, the page ends, and says where; when that
 * is within a common prefix, it says so too, because a page after a key otherwise begins behind the key's prefix.
 *
 * A walk at a snapshot may have to pass over very many rows that it does not see, such as all that was written since.
 * Then it pauses for other work. That takes nothing from it: what a snapshot shows never changes, and each stretch of
 * keys is read at one instant, so a row that moves to the history meanwhile is met in one of the two places.
 */
import type { ListPage, ListQuery, ObjectRow } from '../../ports/catalog.ts'
import { commonPrefix, successor } from './prefixes.ts'
import { objectRow } from './rows.ts'
import type { View } from './views.ts'
import { keyAfter, keyStart } from './walk.ts'
import type { MergedWalk, Place, Position } from './walk.ts'

/** A page ends early, with `next`, when its rows have this many bytes: objects of very many parts have long rows. */
export const PAGE_BYTES_MAX = 8 * 1024 * 1024
export const PAGE_ITEMS_MAX = 1000
/** A page ends early when it has passed over so many keys that have a delete marker: the work of a full page. */
export const SKIPPED_KEYS_MAX = 1000
/** Rows not seen by a snapshot that are passed over in one go, in some ten milliseconds. */
export const PATIENCE_ROWS = 10_000

/** A page in the making. Call `go` until it gives the page; anything may happen between two calls. */
export interface PageWalk<Page> {
  go(): Page | undefined
}

export function listKeys(view: View, query: ListQuery, patienceRows = PATIENCE_ROWS): PageWalk<ListPage> {
  const patience = { left: patienceRows }
  const page = new KeysPage(query, view.walk(query.prefix, patience))
  return {
    go() {
      patience.left = patienceRows
      return page.go()
    },
  }
}

class KeysPage {
  readonly #prefix: Uint8Array
  readonly #delimiter: Uint8Array
  readonly #itemsMax: number
  readonly #rows: MergedWalk
  readonly #objects: ObjectRow[] = []
  readonly #prefixes: Uint8Array[] = []
  #from: Position | undefined
  /** The key or common prefix that came last, with all before it. */
  #last: Uint8Array | undefined
  /** Whether `#last` is within a common prefix that was not shown. */
  #within = false
  #passed: Uint8Array | undefined
  #skipped = 0
  #bytes = 0

  constructor({ prefix, delimiter, after, within, limit }: ListQuery, rows: MergedWalk) {
    this.#prefix = prefix
    this.#delimiter = delimiter
    this.#itemsMax = Math.min(limit, PAGE_ITEMS_MAX)
    this.#rows = rows
    this.#from = firstPosition(prefix, within === true ? new Uint8Array() : delimiter, after)
  }

  /** Walks until the page is complete, or pauses. */
  go(): ListPage | undefined {
    const rows = this.#rows
    try {
      rows.seek(this.#from)
      for (;;) {
        const { row, pausedAt } = rows
        if (pausedAt !== undefined) {
          const passed = this.#passed !== undefined && Buffer.compare(this.#passed, pausedAt.key) === 0
          this.#from = passed ? keyStart(keyAfter(pausedAt.key)) : pausedAt
          return undefined
        }
        if (row === undefined) return { objects: this.#objects, prefixes: this.#prefixes }
        if (row.marker === 1) {
          if (this.#skipped === SKIPPED_KEYS_MAX) return this.#withNext()
          this.#skip(row)
        } else {
          if (this.#isFull()) return this.#withNext()
          this.#take(row)
        }
      }
    } finally {
      rows.stop()
    }
  }

  #skip({ key }: Place): void {
    this.#skipped++
    this.#passKey(key)
    // A full page goes on behind what it shows, and finds again that there is nothing: clients know what they saw.
    if (this.#isFull()) return
    this.#last = key
    this.#within = commonPrefix(key, this.#prefix, this.#delimiter) !== undefined
  }

  #take({ key }: Place): void {
    const common = commonPrefix(key, this.#prefix, this.#delimiter)
    this.#within = false
    if (common === undefined) {
      const row = this.#rows.load()
      if (row !== undefined) {
        this.#objects.push(objectRow(row, true))
        this.#bytes += row.blobs.length + row.body.length
      }
      this.#last = key
      this.#passKey(key)
    } else {
      this.#prefixes.push(common)
      this.#last = common
      this.#passed = undefined
      const behind = successor(common)
      this.#rows.seek(behind === undefined ? undefined : keyStart(behind))
    }
  }

  #passKey(key: Uint8Array): void {
    this.#passed = key
    this.#rows.passKey(key)
  }

  #isFull(): boolean {
    return this.#objects.length + this.#prefixes.length >= this.#itemsMax || this.#bytes >= PAGE_BYTES_MAX
  }

  #withNext(): ListPage {
    const page = { objects: this.#objects, prefixes: this.#prefixes }
    if (this.#last === undefined) return page
    return { ...page, next: this.#last, ...(this.#within ? { within: true } : undefined) }
  }
}

/** Where the walk begins: at the prefix, or right behind `after` and the common prefix that `after` lies in. */
export function firstPosition(prefix: Uint8Array, delimiter: Uint8Array, after: Uint8Array): Position | undefined {
  if (after.length === 0 || Buffer.compare(after, prefix) < 0) return keyStart(prefix)
  const passed = commonPrefix(after, prefix, delimiter)
  const key = passed === undefined ? keyAfter(after) : successor(passed)
  return key === undefined ? undefined : keyStart(key)
}
