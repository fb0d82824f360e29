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
 * meets a key in it that has an object. Over markers in a row the walk jumps to the next key that has an object, which a list
 * tells (listed-keys.ts). At a snapshot there is no such list: what shows nothing there is walked over once, and then known
 * as a gap (snapshot-gaps.ts). Where very many markers stand in a row and nothing tells what comes behind them, the page ends,
 * and says where; when that is within a common prefix, it says so too, because a page after a key otherwise begins behind the
 * key's prefix.
 *
 * A page of common prefixes is a thousand seeks, and a walk at a snapshot may have to pass over very many rows that it
 * does not see, such as all that was written since. Then it pauses for other work. That takes nothing from it: each key
 * is read at one instant, and what a snapshot shows never changes, so a row that moves to the history meanwhile is met
 * in one of the two places.
 */
import type { ListPage, ListQuery, ListedRow } from '../../ports/catalog.ts'
import { boundsOf, commonPrefix, foldedPrefix, successor } from '../prefixes.ts'
import { listedRow } from '../rows.ts'
import type { ListedColumns } from '../rows.ts'
import { GapWalk } from './snapshot-gaps.ts'
import type { View } from './views.ts'
import { keyAfter, keyStart } from './walk.ts'
import type { MergedWalk, Patience, Place, Position } from './walk.ts'

export const PAGE_ITEMS_MAX = 1000
/** A page ends early when it has passed over so many keys that have a delete marker: the work of a full page. */
export const SKIPPED_KEYS_MAX = 1000
/** Rows passed over in one go, in some two milliseconds; a jump counts as several. */
export const PATIENCE_ROWS = 1500
/** So many keys with delete markers in a row are stepped over one by one, which is quicker than a jump over them. */
const JUMP_KEYS = 8
/** A jump costs about as much as so many rows. */
const JUMP_ROWS = 5
/** The first batch where what follows the first row may be passed over: the rest of a prefix, or other versions. */
const UNSURE_BATCH_ROWS = 16

/** A page in the making. Call `go` until it gives the page; anything may happen between two calls. */
export interface PageWalk<Page> {
  go(): Page | undefined
}

export function listKeys(view: View, query: ListQuery, patienceRows = PATIENCE_ROWS): PageWalk<ListPage> {
  const patience = { left: 0 }
  const first = view.hasVersions ? UNSURE_BATCH_ROWS : firstBatch(query)
  const { nextListed, gaps } = view
  return new KeysPage(query, view.walk(query.prefix, patience, first), { patience, patienceRows, nextListed, gaps })
}

interface Way {
  readonly patience: Patience
  /** What it is at the begin of each turn. */
  readonly patienceRows: number
  readonly nextListed: View['nextListed']
  readonly gaps: View['gaps']
}

export function firstBatch({ delimiter, limit }: { readonly delimiter: Uint8Array; readonly limit: number }): number {
  return delimiter.length === 0 ? limit + 1 : UNSURE_BATCH_ROWS
}

class KeysPage implements PageWalk<ListPage> {
  readonly #prefix: Uint8Array
  readonly #delimiter: Uint8Array
  readonly #itemsMax: number
  readonly #rows: MergedWalk<ListedColumns>
  readonly #patience: Patience
  readonly #patienceRows: number
  readonly #nextListed: View['nextListed']
  readonly #gaps: GapWalk | undefined
  readonly #objects: ListedRow[] = []
  readonly #prefixes: Uint8Array[] = []
  #from: Position | undefined
  /** The key or common prefix that came last, with all before it. */
  #last: Uint8Array | undefined
  /** Whether `#last` is within a common prefix that was not shown. */
  #within = false
  #passed: Uint8Array | undefined
  #skipped = 0
  /** Keys skipped since the last one that was taken, or since the last jump. */
  #inARow = 0
  #turns = 0

  constructor(
    { prefix, delimiter, after, within, limit }: ListQuery,
    rows: MergedWalk<ListedColumns>,
    { patience, patienceRows, nextListed, gaps }: Way,
  ) {
    this.#prefix = prefix
    this.#delimiter = delimiter
    this.#itemsMax = Math.min(limit, PAGE_ITEMS_MAX)
    this.#rows = rows
    this.#patience = patience
    this.#patienceRows = patienceRows
    this.#nextListed = nextListed
    this.#from = firstPosition(prefix, within === true ? new Uint8Array() : delimiter, after)
    if (gaps !== undefined) this.#gaps = new GapWalk(gaps, () => this.#work())
    this.#gaps?.begin(this.#from?.key)
  }

  /** Walks until the page is complete, or pauses. */
  go(): ListPage | undefined {
    const rows = this.#rows
    this.#turns++
    this.#patience.left = this.#patienceRows
    rows.stop()
    this.#seek(this.#from)
    for (;;) {
      const { row, pausedAt } = rows
      if (pausedAt !== undefined) {
        const passed = this.#passed !== undefined && Buffer.compare(this.#passed, pausedAt.key) === 0
        this.#from = passed ? keyStart(keyAfter(pausedAt.key)) : pausedAt
        return undefined
      }
      if (row === undefined) {
        this.#gaps?.reach(boundsOf({ prefix: this.#prefix }).until)
        return { objects: this.#objects, prefixes: this.#prefixes }
      }
      if (row.marker === 1 ? this.#skipped === SKIPPED_KEYS_MAX : this.#isFull()) return this.#withNext(row)
      if (row.marker === 1) this.#skip(row)
      else this.#take(row)
      if (this.#patience.left < 0 && rows.row !== undefined) {
        // Whatever is written meanwhile, the page goes on with the newest row of the next key.
        this.#from = keyStart(rows.row.key)
        return undefined
      }
    }
  }

  #skip({ key }: Place): void {
    this.#skipped++
    if (++this.#inARow < JUMP_KEYS || this.#nextListed === undefined) this.#passKey(key)
    else this.#jump(this.#nextListed(key))
    // A full page goes on behind what it shows, and finds again that there is nothing: clients know what they saw.
    if (this.#isFull()) return
    this.#last = key
    this.#within = foldedPrefix(key, this.#prefix.length, this.#delimiter) !== undefined
  }

  /** To the next key that has an object, however many markers stand before it. */
  #jump(next: Uint8Array | undefined): void {
    this.#inARow = 0
    this.#passed = undefined
    this.#patience.left -= JUMP_ROWS
    this.#seek(next === undefined ? undefined : keyStart(next))
  }

  #take({ key }: Place): void {
    this.#inARow = 0
    this.#gaps?.reach(key)
    const common = foldedPrefix(key, this.#prefix.length, this.#delimiter)
    this.#within = false
    if (common === undefined) {
      const row = this.#rows.load()
      if (row !== undefined) {
        this.#objects.push(listedRow(row))
      }
      this.#last = key
      this.#gaps?.begin(keyAfter(key))
      this.#passKey(key)
    } else {
      this.#prefixes.push(common)
      this.#last = common
      this.#passed = undefined
      const behind = successor(common)
      this.#gaps?.begin(behind)
      this.#seek(behind === undefined ? undefined : keyStart(behind))
    }
  }

  #seek(to: Position | undefined): void {
    const end = to === undefined ? undefined : this.#gaps?.endAround(to.key)
    this.#rows.seek(end === undefined ? to : keyStart(end))
  }

  #passKey(key: Uint8Array): void {
    const end = this.#gaps?.endAround(key, true)
    this.#passed = end === undefined ? key : undefined
    if (end === undefined) this.#rows.passKey(key)
    else this.#rows.seek(keyStart(end))
  }

  /** How much the page has looked at, in rows. */
  #work(): number {
    return this.#turns * this.#patienceRows - this.#patience.left + this.#skipped
  }

  #isFull(): boolean {
    return this.#objects.length + this.#prefixes.length >= this.#itemsMax
  }

  #withNext({ key }: Place): ListPage {
    this.#gaps?.reach(key)
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
