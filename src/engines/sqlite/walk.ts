import type { ObjectColumns } from './rows.ts'
import type { Query } from './statements.ts'

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

/** Rows that may be passed over before the walks of a page pause, so that other work gets its turn. */
export interface Patience {
  left: number
}

/** The rows of one table that are seen, from a position on. */
export interface Walk {
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
  /** All columns of the row at which the walk is. */
  load(): ObjectColumns | undefined
  /** Frees the statements, which would otherwise hold their read transaction open. */
  stop(): void
}

export interface Table<Row extends Place> {
  /** From a key on, up to another. */
  readonly rows: Query<Row>
  /** Of a key, from a row on. */
  readonly rowsOfKey: Query<Row>
  readonly seen: (row: Row) => boolean
  readonly load: (row: Row) => ObjectColumns | undefined
}

export class TableWalk<Row extends Place> implements Walk {
  readonly #table: Table<Row>
  readonly #bucket: number
  readonly #end: Uint8Array
  readonly #patience: Patience
  #walking: Iterator<Row> | undefined
  #ended = false
  row: Row | undefined
  pausedAt: Position | undefined

  constructor(table: Table<Row>, bucket: number, end: Uint8Array, patience: Patience) {
    this.#table = table
    this.#bucket = bucket
    this.#end = end
    this.#patience = patience
  }

  seek(to: Position | undefined): void {
    if (to === undefined) {
      this.stop()
      return
    }
    const at = this.row ?? this.pausedAt
    if (this.#ended || (at !== undefined && order(at, to) >= 0)) return
    this.stop()
    const { key, seq } = to
    this.#walking =
      seq === Number.MAX_SAFE_INTEGER ? this.#table.rows.iterate(this.#bucket, key, this.#end) : this.#amid(to)
    this.advance()
  }

  /** One statement cannot do both: the order within a key is the other way round, and no index serves the pair. */
  *#amid({ key, seq }: Position): Generator<Row, undefined> {
    yield* this.#table.rowsOfKey.iterate(this.#bucket, key, seq)
    yield* this.#table.rows.iterate(this.#bucket, keyAfter(key), this.#end)
  }

  advance(): void {
    for (;;) {
      const next = this.#walking?.next()
      this.row = next === undefined || next.done === true ? undefined : next.value
      this.#ended = this.row === undefined
      if (this.row === undefined || this.#table.seen(this.row)) return
      if (--this.#patience.left < 0) {
        this.pausedAt = { key: this.row.key, seq: this.row.seq - 1 }
        this.row = undefined
        return
      }
    }
  }

  load(): ObjectColumns | undefined {
    return this.row === undefined ? undefined : this.#table.load(this.row)
  }

  stop(): void {
    this.#walking?.return?.()
    this.#walking = undefined
    this.#ended = false
    this.row = undefined
    this.pausedAt = undefined
  }
}

/** The smallest key that is larger. */
export function keyAfter(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.alloc(1)])
}

/** Several walks as one, in the order of their rows. It pauses where the first of them did. */
export class MergedWalk {
  readonly #walks: readonly Walk[]
  #first: Walk | undefined
  row: Place | undefined
  pausedAt: Position | undefined

  constructor(walks: readonly Walk[]) {
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

  /** Steps over all rows of a key. A key with several rows is left by a seek, however many versions it has. */
  passKey(key: Uint8Array): void {
    for (const walk of this.#walks) {
      if (walk.row === undefined || Buffer.compare(walk.row.key, key) !== 0) continue
      walk.advance()
      if (walk.row !== undefined && Buffer.compare(walk.row.key, key) === 0) walk.seek(keyStart(keyAfter(key)))
    }
    this.#settle()
  }

  load(): ObjectColumns | undefined {
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
