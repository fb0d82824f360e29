/**
 * Rows of whole types, kept in memory and brought up to date from the catalog's change feed at each use: a collection of
 * thousands is then filtered without being read and parsed each time. What it gives is what the catalog holds, because
 * it asks for the revision first; equal revisions mean that nothing changed.
 */
import type { Row } from '../model/value.ts'
import type { Catalog, StoredRecord } from '../ports/catalog.ts'

/** Changes taken from the feed at once. */
const CHANGES_MAX = 1000

interface Rows {
  readonly byKey: Map<string, { readonly row: Row; readonly parent: string }>
  readonly byParent: Map<string, Set<string>>
}

export class Mirror {
  readonly #catalog: Catalog
  readonly #types = new Map<string, Rows>()
  #revision = -1
  /** Uses follow one another, so that each begins after what it must see was committed. */
  #tail: Promise<void> = Promise.resolve()

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** The rows of a type, or those under one parent. The first use reads them all; keep to types of bounded number. */
  async rows(type: string, parent?: string): Promise<Row[]> {
    const turn = this.#tail.then(() => this.#catchUp(type))
    this.#tail = turn.then(
      () => undefined,
      () => undefined,
    )
    await turn
    const rows = this.#types.get(type)
    if (rows === undefined) return []
    if (parent === undefined) return Array.from(rows.byKey.values(), ({ row }) => row)
    const found: Row[] = []
    for (const key of rows.byParent.get(parent) ?? []) {
      const known = rows.byKey.get(key)
      if (known !== undefined) found.push(known.row)
    }
    return found
  }

  holds(type: string): boolean {
    return this.#types.has(type)
  }

  async #catchUp(wanted: string): Promise<void> {
    const revision = await this.#catalog.revision()
    if (revision !== this.#revision && !(await this.#followFeed(revision))) {
      for (const type of this.#types.keys()) await this.#load(type)
    }
    this.#revision = revision
    if (!this.#types.has(wanted)) await this.#load(wanted)
  }

  /** False when the feed no longer reaches back to where this copy is. */
  async #followFeed(revision: number): Promise<boolean> {
    if (this.#types.size === 0) return true
    let from = this.#revision
    while (from < revision) {
      const changes = await this.#catalog.changes(from, CHANGES_MAX)
      if (changes === undefined) return false
      for (const { type, key } of changes) {
        const rows = this.#types.get(type)
        if (rows === undefined) continue
        const record = await this.#catalog.record(type, key)
        remove(rows, key)
        if (record !== undefined) add(rows, record)
      }
      const last = changes.at(-1)
      if (last === undefined) break
      from = last.revision
    }
    return true
  }

  async #load(type: string): Promise<void> {
    const rows: Rows = { byKey: new Map(), byParent: new Map() }
    for (const record of await this.#catalog.records(type)) add(rows, record)
    this.#types.set(type, rows)
  }
}

function add(rows: Rows, { key, parent, body }: StoredRecord): void {
  rows.byKey.set(key, { row: body, parent })
  const siblings = rows.byParent.get(parent)
  if (siblings === undefined) rows.byParent.set(parent, new Set([key]))
  else siblings.add(key)
}

function remove(rows: Rows, key: string): void {
  const known = rows.byKey.get(key)
  if (known === undefined) return
  rows.byKey.delete(key)
  const siblings = rows.byParent.get(known.parent)
  siblings?.delete(key)
  if (siblings?.size === 0) rows.byParent.delete(known.parent)
}
