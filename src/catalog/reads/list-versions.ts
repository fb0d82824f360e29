/** One page of all rows of a bucket: keys in byte order, the newest row of a key first. See `list.ts` for the rest. */
import type {
  ListedVersion,
  ScanPage,
  VersionPosition,
  VersionRow,
  VersionsPage,
  VersionsQuery,
} from '../../ports/catalog.ts'
import { PAGE_ITEMS_MAX, PATIENCE_ROWS, firstBatch, firstPosition } from './list.ts'
import type { PageWalk } from './list.ts'
import { commonPrefix, foldedPrefix, successor } from '../prefixes.ts'
import { listedVersion, objectRow } from '../rows.ts'
import type { ListedColumns, ObjectColumns } from '../rows.ts'
import type { View } from './views.ts'
import { keyStart } from './walk.ts'
import type { MergedWalk, Patience, Place, Position } from './walk.ts'

/** A page of whole rows ends early, with `next`, at this many bytes: objects of very many parts have long rows. */
export const PAGE_BYTES_MAX = 8 * 1024 * 1024

/** The first call of `go`, too, must see the state of the database that `view` is to be of. */
export function listVersions(view: View, query: VersionsQuery, patienceRows = PATIENCE_ROWS): PageWalk<VersionsPage> {
  const patience = { left: patienceRows }
  const page = new RowsPage<ListedColumns, ListedVersion>(view, query, {
    walk: view.walk(query.prefix, patience, firstBatch(query)),
    show: listedVersion,
    bytesOf: () => 0,
    patience,
  })
  return turns(page, patience, patienceRows)
}

/** As `listVersions`, with all that is known of each row. */
export function scanVersions(view: View, query: VersionsQuery, patienceRows = PATIENCE_ROWS): PageWalk<ScanPage> {
  const patience = { left: patienceRows }
  const page = new RowsPage<ObjectColumns, VersionRow>(view, query, {
    walk: view.walkWhole(query.prefix, patience),
    show: objectRow,
    bytesOf: ({ blobs, body }) => blobs.length + body.length,
    patience,
  })
  const walk = turns(page, patience, patienceRows)
  return {
    go() {
      const done = walk.go()
      if (done === undefined) return undefined
      const { versions: rows, next } = done
      return next === undefined ? { rows } : { rows, next }
    },
  }
}

function turns<Page>(page: PageWalk<Page>, patience: Patience, patienceRows: number): PageWalk<Page> {
  return {
    go() {
      patience.left = patienceRows
      return page.go()
    },
  }
}

interface Reading<Columns, Shown> {
  readonly walk: MergedWalk<Columns>
  readonly show: (row: Columns, isCurrent: boolean, noncurrentSinceMs?: number) => Shown
  readonly bytesOf: (row: Columns) => number
  readonly patience: Patience
}

class RowsPage<Columns extends ListedColumns, Shown> {
  readonly #view: View
  readonly #prefix: Uint8Array
  readonly #delimiter: Uint8Array
  readonly #itemsMax: number
  readonly #reading: Reading<Columns, Shown>
  readonly #versions: Shown[] = []
  readonly #prefixes: Uint8Array[] = []
  #from: Position | undefined
  #last: VersionPosition | undefined
  /** The key of the row before, and when that was modified. Of a page that begins amid a key, nothing is known of it. */
  #key: Uint8Array
  #newerModified: number | undefined
  #bytes = 0

  constructor(view: View, query: VersionsQuery, reading: Reading<Columns, Shown>) {
    this.#view = view
    this.#prefix = query.prefix
    this.#delimiter = query.delimiter
    this.#itemsMax = Math.min(query.limit, PAGE_ITEMS_MAX)
    this.#reading = reading
    this.#key = query.afterKey
    this.#from = startOf(view, query)
  }

  go(): RowsOfPage<Shown> | undefined {
    const { walk, patience } = this.#reading
    walk.stop()
    walk.seek(this.#from)
    for (;;) {
      const { row, pausedAt } = walk
      if (pausedAt !== undefined) {
        this.#from = pausedAt
        return undefined
      }
      const page = { versions: this.#versions, prefixes: this.#prefixes }
      if (row === undefined) return page
      if (this.#isFull()) return this.#last === undefined ? page : { ...page, next: this.#last }
      const common = foldedPrefix(row.key, this.#prefix.length, this.#delimiter)
      if (common === undefined) this.#take(row)
      else {
        this.#fold(common)
        if (patience.left < 0 && walk.row !== undefined) {
          this.#from = keyStart(walk.row.key)
          return undefined
        }
      }
    }
  }

  #fold(common: Uint8Array): void {
    this.#prefixes.push(common)
    this.#last = { key: common }
    const behind = successor(common)
    this.#reading.walk.seek(behind === undefined ? undefined : keyStart(behind))
  }

  #take({ key, seq }: Place): void {
    const { walk, show, bytesOf } = this.#reading
    const row = walk.load()
    if (row !== undefined) {
      if (Buffer.compare(key, this.#key) !== 0) this.#newerModified = undefined
      else this.#newerModified ??= this.#view.newerModified(key, seq)
      this.#versions.push(show(row, this.#newerModified === undefined, this.#newerModified))
      this.#last = { key, version: row.version, order: seq }
      this.#bytes += bytesOf(row)
      this.#key = key
      this.#newerModified = row.modified
    }
    walk.advance()
  }

  #isFull(): boolean {
    return this.#versions.length + this.#prefixes.length >= this.#itemsMax || this.#bytes >= PAGE_BYTES_MAX
  }
}

interface RowsOfPage<Shown> {
  readonly versions: readonly Shown[]
  readonly prefixes: readonly Uint8Array[]
  readonly next?: VersionPosition
}

function startOf(view: View, query: VersionsQuery): Position | undefined {
  const { prefix, delimiter, afterKey: key, afterVersion, afterOrder } = query
  const first = firstPosition(prefix, delimiter, key)
  if (afterVersion === undefined || Buffer.compare(key, prefix) < 0) return first
  if (commonPrefix(key, prefix, delimiter) !== undefined) return first
  const seq = afterOrder ?? view.ofVersion(key, afterVersion)?.seq
  return seq === undefined ? keyStart(key) : { key, seq: seq - 1 }
}
