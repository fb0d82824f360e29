import type { ObjectColumns } from './rows.ts'
import type { Query } from './statements.ts'

/** What a walk needs of a row to know its place, and whether it is seen. */
export interface Place {
  readonly key: Uint8Array
  readonly seq: number
}

/** Rows that may be passed over before the walks of a page pause, so that other work gets its turn. */
export interface Patience {
  left: number
}

/** The rows of one table that are seen, from a key on, in the order of keys, the newest of a key first. */
export interface Walk {
  /** Where it is; nothing at the end, or when it paused. */
  readonly row: Place | undefined
  /** Set when patience ran out: everything before this key was seen. */
  readonly pausedAt: Uint8Array | undefined
  /**
   * Goes forward to a key. A walk that is beyond it stays: it has passed over everything in between, and should not do
   * so again for each common prefix on the way.
   */
  seek(key: Uint8Array | undefined): void
  advance(): void
  /** All columns of the row at which the walk is. */
  load(): ObjectColumns | undefined
  /** Frees the statement, which would otherwise hold its read transaction open. */
  stop(): void
}

export class TableWalk<Row extends Place> implements Walk {
  readonly #rows: Query<Row>
  readonly #bucket: number
  readonly #end: Uint8Array
  readonly #seen: (row: Row) => boolean
  readonly #load: (row: Row) => ObjectColumns | undefined
  readonly #patience: Patience
  #walking: IterableIterator<Row> | undefined
  #ended = false
  row: Row | undefined
  pausedAt: Uint8Array | undefined

  constructor(
    from: {
      readonly rows: Query<Row>
      readonly seen: (row: Row) => boolean
      readonly load: (row: Row) => ObjectColumns | undefined
    },
    bucket: number,
    end: Uint8Array,
    patience: Patience,
  ) {
    this.#rows = from.rows
    this.#seen = from.seen
    this.#load = from.load
    this.#bucket = bucket
    this.#end = end
    this.#patience = patience
  }

  seek(key: Uint8Array | undefined): void {
    if (key === undefined) {
      this.stop()
      return
    }
    const at = this.row?.key ?? this.pausedAt
    if (this.#ended || (at !== undefined && Buffer.compare(at, key) >= 0)) return
    this.stop()
    this.#walking = this.#rows.iterate(this.#bucket, key, this.#end)
    this.advance()
  }

  advance(): void {
    let passed: Uint8Array | undefined
    for (;;) {
      const next = this.#walking?.next()
      this.row = next === undefined || next.done === true ? undefined : next.value
      this.#ended = this.row === undefined
      if (this.row === undefined || this.#seen(this.row)) return
      const { key } = this.row
      // Never amid the rows of a key: going on there would meet the same rows again, and pause again.
      if (--this.#patience.left < 0 && passed !== undefined && Buffer.compare(passed, key) !== 0) {
        this.pausedAt = key
        this.row = undefined
        return
      }
      passed = key
    }
  }

  load(): ObjectColumns | undefined {
    return this.row === undefined ? undefined : this.#load(this.row)
  }

  stop(): void {
    this.#walking?.return?.()
    this.#walking = undefined
    this.#ended = false
    this.row = undefined
    this.pausedAt = undefined
  }
}
