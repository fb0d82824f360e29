import { batchRows } from '../statements.ts'
import type { BatchRows } from '../statements.ts'

/** A place in the order of a bucket's rows: by key, and the newest row of a key first. */
export interface Position {
  readonly key: Uint8Array
  readonly seq: number
}

/** What a walk needs of a row to know its place, and what it is. */
export interface Place extends Position {
  readonly marker: number
}

/** Before the newest row of a key. */
export function keyStart(key: Uint8Array): Position {
  return { key, seq: Number.MAX_SAFE_INTEGER }
}

/** Negative when `a` comes first. */
export function order(a: Position, b: Position): number {
  return Buffer.compare(a.key, b.key) || b.seq - a.seq
}

/** The smallest key that is larger. */
export function keyAfter(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.alloc(1)])
}

/** Work that a page may do before it pauses, so that other work gets its turn. Counted in rows passed over. */
export interface Patience {
  left: number
}

/** A statement costs about as much as so many rows. */
const STATEMENT_ROWS = 5

/** The rows of one table that are seen, from a position on. */
export interface Walk<Columns> {
  /** Where it is; nothing at the end, or when it paused. */
  readonly row: Place | undefined
  /** Set when patience ran out: everything before this was seen. */
  readonly pausedAt: Position | undefined
  /**
   * Goes forward to a position. A walk that is beyond it stays: it has passed over everything in between, and should not
   * do so again for each common prefix on the way.
   */
  seek(to: Position | undefined): void
  advance(): void
  /** The columns asked for, of the row at which the walk is. */
  load(): Columns | undefined
  /** Forgets where it is and what it has read ahead: the next `seek` reads again. */
  stop(): void
}

export interface Table<Row extends Place, Columns> {
  /** Rows of a bucket from a key on, up to another. */
  readonly rows: (rows: BatchRows, bucket: number, from: Uint8Array, end: Uint8Array) => readonly Row[]
  /** Rows of a key, from a row on. */
  readonly rowsOfKey: (rows: BatchRows, bucket: number, key: Uint8Array, seq: number) => readonly Row[]
  readonly seen: (row: Row) => boolean
  readonly load: (row: Row) => Columns | undefined
}

/** How many rows a walk reads at once: at first, and at most. */
export interface Reading {
  readonly first: number
  readonly max: BatchRows
}

/**
 * Rows are read in batches, which is several times faster than one by one. A walk that jumps often, over common prefixes
 * or over the versions of keys, uses little of each batch, so its batches shrink to what it used before its last jump.
 */
export class TableWalk<Row extends Place, Columns> implements Walk<Columns> {
  readonly #table: Table<Row, Columns>
  readonly #bucket: number
  readonly #end: Uint8Array
  readonly #patience: Patience
  readonly #batchMax: BatchRows
  #wanted: number
  #batch: readonly Row[] = []
  #at = 0
  #isLastBatch = false
  /** Rows looked at since the last jump; not those that a jump passed over. */
  #used = 0
  #ended = false
  row: Row | undefined
  pausedAt: Position | undefined

  constructor(table: Table<Row, Columns>, bucket: number, end: Uint8Array, patience: Patience, reading: Reading) {
    this.#table = table
    this.#bucket = bucket
    this.#end = end
    this.#patience = patience
    this.#batchMax = reading.max
    this.#wanted = reading.first
  }

  seek(to: Position | undefined): void {
    if (to === undefined) {
      this.stop()
      this.#ended = true
      return
    }
    const at = this.row ?? this.pausedAt
    if (this.#ended || (at !== undefined && order(at, to) >= 0)) return
    this.pausedAt = undefined
    for (let ahead = this.#batch[this.#at]; ahead !== undefined; ahead = this.#batch[++this.#at]) {
      if (order(ahead, to) >= 0) break
      this.#patience.left--
    }
    if (this.#at < this.#batch.length || this.#isLastBatch) {
      this.#settle()
      return
    }
    if (at !== undefined) this.#wanted = this.#used
    this.#used = 0
    this.#read(to)
    this.#settle()
  }

  advance(): void {
    this.#at++
    this.#settle()
  }

  load(): Columns | undefined {
    return this.row === undefined ? undefined : this.#table.load(this.row)
  }

  stop(): void {
    this.#batch = []
    this.#at = 0
    this.#isLastBatch = false
    this.#ended = false
    this.row = undefined
    this.pausedAt = undefined
  }

  /** Comes to rest at the first row from here on that is seen, or pauses before it. */
  #settle(): void {
    for (;;) {
      let row = this.#batch[this.#at]
      if (row === undefined) {
        row = this.#readOn()
        if (row === undefined) {
          this.row = undefined
          this.#ended = true
          return
        }
      }
      this.#used++
      if (this.#table.seen(row)) {
        this.row = row
        return
      }
      if (--this.#patience.left < 0) {
        this.row = undefined
        this.pausedAt = { key: row.key, seq: row.seq - 1 }
        return
      }
      this.#at++
    }
  }

  #readOn(): Row | undefined {
    const last = this.#batch.at(-1)
    if (last === undefined || this.#isLastBatch) return undefined
    this.#wanted *= 2
    this.#read({ key: last.key, seq: last.seq - 1 })
    return this.#batch[0]
  }

  /** One statement cannot do both: the order within a key is the other way round, and no index serves the pair. */
  #read({ key, seq }: Position): void {
    const size = batchRows(Math.min(this.#wanted, this.#batchMax))
    const isKeyStart = seq === Number.MAX_SAFE_INTEGER
    const ofKey = isKeyStart ? [] : this.#table.rowsOfKey(size, this.#bucket, key, seq)
    this.#isLastBatch = false
    this.#batch = ofKey
    if (ofKey.length < size) {
      const behind = this.#table.rows(size, this.#bucket, isKeyStart ? key : keyAfter(key), this.#end)
      this.#isLastBatch = behind.length < size
      this.#batch = ofKey.length === 0 ? behind : [...ofKey, ...behind]
    }
    this.#at = 0
    this.#wanted = size
    this.#patience.left -= STATEMENT_ROWS
  }
}

/** Several walks as one, in the order of their rows. It pauses where the first of them did. */
export class MergedWalk<Columns> {
  readonly #walks: readonly Walk<Columns>[]
  #first: Walk<Columns> | undefined
  row: Place | undefined
  pausedAt: Position | undefined

  constructor(walks: readonly Walk<Columns>[]) {
    this.#walks = walks
  }

  seek(to: Position | undefined): void {
    for (const walk of this.#walks) walk.seek(to)
    this.#settle()
  }

  advance(): void {
    this.#first?.advance()
    this.#settle()
  }

  /** Steps over all rows of a key. A key with many rows is left by a seek, however many versions it has. */
  passKey(key: Uint8Array): void {
    for (const walk of this.#walks) {
      if (walk.row === undefined || Buffer.compare(walk.row.key, key) !== 0) continue
      walk.advance()
      if (walk.row !== undefined && Buffer.compare(walk.row.key, key) === 0) walk.seek(keyStart(keyAfter(key)))
    }
    this.#settle()
  }

  load(): Columns | undefined {
    return this.#first?.load()
  }

  stop(): void {
    for (const walk of this.#walks) walk.stop()
  }

  #settle(): void {
    this.#first = undefined
    this.row = undefined
    this.pausedAt = undefined
    for (const walk of this.#walks) {
      const { row, pausedAt } = walk
      if (row !== undefined && (this.row === undefined || order(row, this.row) < 0)) {
        this.#first = walk
        this.row = row
      }
      if (pausedAt !== undefined && (this.pausedAt === undefined || order(pausedAt, this.pausedAt) < 0)) {
        this.pausedAt = pausedAt
      }
    }
    if (this.pausedAt === undefined || this.row === undefined) return
    if (order(this.row, this.pausedAt) < 0) this.pausedAt = undefined
    else this.row = undefined
  }
}
