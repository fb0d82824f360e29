/** One page of all rows of a bucket: keys in byte order, the newest row of a key first. See `list.ts` for the rest. */
import type { VersionPosition, VersionRow, VersionsPage, VersionsQuery } from '../../ports/catalog.ts'
import { PAGE_BYTES_MAX, PAGE_ITEMS_MAX, PATIENCE_ROWS, firstPosition } from './list.ts'
import type { PageWalk } from './list.ts'
import { commonPrefix, successor } from './prefixes.ts'
import { objectRow } from './rows.ts'
import type { View } from './views.ts'
import { keyStart } from './walk.ts'
import type { MergedWalk, Place, Position } from './walk.ts'

/** The first call of `go`, too, must see the state of the database that `view` is to be of. */
export function listVersions(view: View, query: VersionsQuery, patienceRows = PATIENCE_ROWS): PageWalk<VersionsPage> {
  const patience = { left: patienceRows }
  const page = new RowsPage(view, query, view.walk(query.prefix, patience))
  return {
    go() {
      patience.left = patienceRows
      return page.go()
    },
  }
}

class RowsPage {
  readonly #view: View
  readonly #prefix: Uint8Array
  readonly #delimiter: Uint8Array
  readonly #itemsMax: number
  readonly #rows: MergedWalk
  readonly #versions: VersionRow[] = []
  readonly #prefixes: Uint8Array[] = []
  #from: Position | undefined
  #last: VersionPosition | undefined
  /** The key of the row before, and when that was modified. Of a page that begins amid a key, nothing is known of it. */
  #key: Uint8Array
  #newerModified: number | undefined
  #bytes = 0

  constructor(view: View, query: VersionsQuery, rows: MergedWalk) {
    this.#view = view
    this.#prefix = query.prefix
    this.#delimiter = query.delimiter
    this.#itemsMax = Math.min(query.limit, PAGE_ITEMS_MAX)
    this.#rows = rows
    this.#key = query.afterKey
    this.#from = startOf(view, query)
  }

  go(): VersionsPage | undefined {
    const rows = this.#rows
    try {
      rows.seek(this.#from)
      for (;;) {
        const { row, pausedAt } = rows
        if (pausedAt !== undefined) {
          this.#from = pausedAt
          return undefined
        }
        const page = { versions: this.#versions, prefixes: this.#prefixes }
        if (row === undefined) return page
        if (this.#isFull()) return this.#last === undefined ? page : { ...page, next: this.#last }
        this.#take(row)
      }
    } finally {
      rows.stop()
    }
  }

  #take({ key, seq }: Place): void {
    const common = commonPrefix(key, this.#prefix, this.#delimiter)
    if (common !== undefined) {
      this.#prefixes.push(common)
      this.#last = { key: common }
      const behind = successor(common)
      this.#rows.seek(behind === undefined ? undefined : keyStart(behind))
      return
    }
    const row = this.#rows.load()
    if (row !== undefined) {
      if (Buffer.compare(key, this.#key) !== 0) this.#newerModified = undefined
      else this.#newerModified ??= this.#view.newerModified(key, seq)
      this.#versions.push(objectRow(row, this.#newerModified === undefined, this.#newerModified))
      this.#last = { key, version: row.version, order: seq }
      this.#bytes += row.blobs.length + row.body.length
      this.#key = key
      this.#newerModified = row.modified
    }
    this.#rows.advance()
  }

  #isFull(): boolean {
    return this.#versions.length + this.#prefixes.length >= this.#itemsMax || this.#bytes >= PAGE_BYTES_MAX
  }
}

function startOf(view: View, query: VersionsQuery): Position | undefined {
  const { prefix, delimiter, afterKey: key, afterVersion, afterOrder } = query
  const first = firstPosition(prefix, delimiter, key)
  if (afterVersion === undefined || Buffer.compare(key, prefix) < 0) return first
  if (commonPrefix(key, prefix, delimiter) !== undefined) return first
  const seq = afterOrder ?? view.ofVersion(key, afterVersion)?.seq
  return seq === undefined ? keyStart(key) : { key, seq: seq - 1 }
}
