/**
 * Rows of whole types, kept in memory and brought up to date from the catalog's change feed at each use: a collection of
 * thousands is then filtered without being read and parsed each time. What it gives is what the catalog holds, because
 * it asks for the revision first; equal revisions mean that nothing changed. Long values are left out.
 */
import type { Row } from '../../model/value.ts'
import type { Records, StoredRecord } from '../../ports/catalog.ts'
import type { System } from '../../ports/system.ts'
import { charactersOf, leftOut } from './long-values.ts'
import { recordPages } from './record-pages.ts'
import { SortedList } from './sorted-list.ts'
import { inTurns } from '../time/turns.ts'

/** Changes taken from the feed at once. */
const CHANGES_MAX = 1000
/** Rows of types that are not kept as a whole, those asked for last; together a few megabytes. */
const SINGLES_MAX = 1000
const SINGLE_CHARACTERS_MAX = 4096
/** With writers that never rest, what a use sees may be of several instants. */
const LOOKS_MAX = 5

interface Rows {
  readonly byKey: Map<string, { readonly row: Row; readonly parent: string }>
  readonly byParent: Map<string, Set<string>>
  readonly inOrder: SortedList<Row>
}

export type RowOrder = (a: Row, b: Row) => number

/** How rows of a type are kept. */
export interface Keeping {
  readonly order: RowOrder
  readonly shorten: (row: Row) => Row
}

export class Mirror {
  readonly #catalog: Records
  readonly #system: System
  readonly #keepingOf: (type: string) => Keeping
  readonly #types = new Map<string, Rows>()
  /** By type and key. */
  readonly #singles = new Map<string, Row>()
  #revision = -1
  /** How often the feed was begun to be followed, and how often that ended. */
  #begun = 0
  #ended = 0
  /** Uses follow one another, so that each begins after what it must see was committed. */
  #tail: Promise<void> = Promise.resolve()

  constructor(catalog: Records, system: System, keepingOf: (type: string) => Keeping) {
    this.#catalog = catalog
    this.#system = system
    this.#keepingOf = keepingOf
  }

  /**
   * The rows of a type in the order of the type, or those under one parent in none. The first use reads them all; keep to
   * types of bounded number. As long as no row of the type changes, all of them are the same list.
   */
  async rows(type: string, parent?: string): Promise<Row[]> {
    const look = this.#look(type)
    if (look !== undefined) await look
    const rows = this.#types.get(type)
    if (rows === undefined) return []
    if (parent === undefined) return rows.inOrder.all() as Row[]
    const found: Row[] = []
    for (const key of rows.byParent.get(parent) ?? []) {
      const known = rows.byKey.get(key)
      if (known !== undefined) found.push(known.row)
    }
    return found
  }

  /** What `rows` gives of a whole type, where that is known without waiting. */
  rowsNow(type: string): Row[] | undefined {
    return this.#isNow(type) ? (this.#types.get(type)?.inOrder.all() as Row[] | undefined) : undefined
  }

  /** How many rows a type has. It costs no copy of their list, however many there are. */
  async count(type: string): Promise<number> {
    await this.#look(type)
    return this.#types.get(type)?.byKey.size ?? 0
  }

  /** What `find` gives, where that is known without waiting. */
  findNow(type: string, key: string): Row | undefined {
    return this.#isNow(undefined) ? this.#known(type, key) : undefined
  }

  /** The row of one record as the catalog has it now, whole. */
  find(type: string, key: string): Promise<Row | undefined> {
    // Most of what a request asks for is here: it is given without the promises of those who wait.
    const known = this.findNow(type, key)
    return known === undefined ? this.#findAnew(type, key) : Promise.resolve(known)
  }

  #known(type: string, key: string): Row | undefined {
    const kept = this.#types.get(type)?.byKey.get(key)?.row
    return kept !== undefined && leftOut(kept).length === 0 ? kept : this.#singles.get(`${type} ${key}`)
  }

  async #findAnew(type: string, key: string): Promise<Row | undefined> {
    await this.#look(undefined)
    const known = this.#known(type, key)
    if (known !== undefined) return known
    const begun = this.#begun
    const row = (await this.#catalog.record(type, key))?.body
    // What the feed told meanwhile was not told of this row.
    const isNow = begun === this.#begun && begun === this.#ended
    const isKept = this.#types.get(type)?.byKey.has(key) === true
    if (row !== undefined && isNow && !isKept) this.#keep(`${type} ${key}`, row)
    return row
  }

  #keep(name: string, row: Row): void {
    if (charactersOf(row) > SINGLE_CHARACTERS_MAX) return
    const [oldest] = this.#singles.keys()
    if (this.#singles.size >= SINGLES_MAX && oldest !== undefined) this.#singles.delete(oldest)
    this.#singles.set(name, row)
  }

  holds(type: string): boolean {
    return this.#types.has(type)
  }

  /** Without a type, what is kept already is all that is looked for. Nothing where that is as the catalog has it. */
  #look(type: string | undefined): Promise<void> | undefined {
    if (this.#isNow(type)) return undefined
    const turn = this.#tail.then(() => this.#catchUp(type))
    this.#tail = turn.then(
      () => undefined,
      () => undefined,
    )
    return turn
  }

  /** While the feed is followed, the catalog is further than this. A catalog that fails says so to those who wait. */
  #isNow(type: string | undefined): boolean {
    if (!this.#hasType(type)) return false
    try {
      return this.#catalog.revision() === this.#revision
    } catch {
      return false
    }
  }

  /** Looks again after what took long, until nothing has changed meanwhile: then the rows are those of one instant. */
  async #catchUp(wanted: string | undefined): Promise<void> {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const revision = await this.#catalog.revision()
      if (revision === this.#revision && this.#hasType(wanted)) return
      if (revision !== this.#revision) {
        this.#begun++
        try {
          await this.#follow(revision)
        } finally {
          this.#ended++
        }
      }
      if (wanted !== undefined && !this.#types.has(wanted)) await this.#load(wanted)
    }
  }

  #hasType(type: string | undefined): boolean {
    return type === undefined || this.#types.has(type)
  }

  async #follow(revision: number): Promise<void> {
    if (!(await this.#followFeed(revision))) {
      this.#singles.clear()
      for (const type of this.#types.keys()) await this.#load(type)
    }
    this.#revision = revision
  }

  /** False when the feed no longer reaches back to where this copy is. */
  async #followFeed(revision: number): Promise<boolean> {
    if (this.#types.size === 0 && this.#singles.size === 0) return true
    let from = this.#revision
    while (from < revision) {
      const changes = await this.#catalog.changes(from, CHANGES_MAX)
      if (changes === undefined) return false
      for (const { type, key } of changes) this.#singles.delete(`${type} ${key}`)
      const held = changes.filter(({ type }) => this.#types.has(type))
      const changed = new Map(held.map((change) => [`${change.type} ${change.key}`, change]))
      for await (const some of inTurns(this.#system, [...changed.values()])) {
        for (const { type, key } of some) await this.#read(type, key)
      }
      const last = changes.at(-1)
      if (last === undefined) break
      from = last.revision
    }
    return true
  }

  async #read(type: string, key: string): Promise<void> {
    const rows = this.#types.get(type)
    if (rows === undefined) return
    const record = await this.#catalog.record(type, key)
    remove(rows, key)
    if (record !== undefined) add(rows, { ...record, body: this.#keepingOf(type).shorten(record.body) })
  }

  /** What changes meanwhile is in the feed after the revision that was read before. */
  async #load(type: string): Promise<void> {
    const loaded: StoredRecord[] = []
    const { order, shorten } = this.#keepingOf(type)
    for await (const page of recordPages(this.#catalog, type)) {
      for (const record of page) loaded.push({ ...record, body: shorten(record.body) })
    }
    const inOrder = new SortedList<Row>(
      loaded.map(({ body }) => body),
      order,
    )
    const rows: Rows = { byKey: new Map(), byParent: new Map(), inOrder }
    for (const record of loaded) index(rows, record)
    this.#types.set(type, rows)
  }
}

function add(rows: Rows, record: StoredRecord): void {
  index(rows, record)
  rows.inOrder.add(record.body)
}

function index(rows: Rows, { key, parent, body }: StoredRecord): void {
  rows.byKey.set(key, { row: body, parent })
  const siblings = rows.byParent.get(parent)
  if (siblings === undefined) rows.byParent.set(parent, new Set([key]))
  else siblings.add(key)
}

function remove(rows: Rows, key: string): void {
  const known = rows.byKey.get(key)
  if (known === undefined) return
  rows.inOrder.remove(known.row)
  rows.byKey.delete(key)
  const siblings = rows.byParent.get(known.parent)
  siblings?.delete(key)
  if (siblings?.size === 0) rows.byParent.delete(known.parent)
}
