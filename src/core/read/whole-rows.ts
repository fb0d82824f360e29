/** Rows with the long values that were left out of them, a few at a time. */
import { overlap } from '../../model/paths.ts'
import { recordKey, type Resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import type { Records } from '../../ports/catalog.ts'
import type { System } from '../../ports/system.ts'
import { charactersOf, completed, leftOut } from './long-values.ts'

/** So many characters of rows are read in one turn of the event loop, or one row that has more. */
const TURN_CHARACTERS = 256 * 1024
/** Rows given at once. */
const ROWS = 50
const TURN_MS = 3

interface Source {
  readonly catalog: Records
  readonly system: System
}

/** Which of what was left out has to be read: all of it, or what some of these paths need. */
export type Needed = 'all' | readonly string[]

export function isLacking(row: Row, needed: Needed): boolean {
  const paths = leftOut(row)
  if (paths.length === 0) return false
  return needed === 'all' || paths.some((path) => needed.some((each) => overlap(each, path)))
}

/** Those of the rows whose records are still there, in their order, with their place among those given. */
export async function* wholeRows<Of extends Row>(
  { catalog, system }: Source,
  resource: Resource,
  rows: readonly Of[],
  needed: Needed,
): AsyncGenerator<readonly { readonly row: Of; readonly at: number }[], void, void> {
  let endMs = Number.NEGATIVE_INFINITY
  for (let at = 0; at < rows.length;) {
    if (rows.length > ROWS && system.clock.elapsed() >= endMs) {
      await system.turn()
      endMs = system.clock.elapsed() + TURN_MS
    }
    const some: { row: Of; at: number }[] = []
    for (let characters = 0; at < rows.length && some.length < ROWS && characters < TURN_CHARACTERS; at++) {
      const row = rows[at] as Of
      if (!isLacking(row, needed)) some.push({ row, at })
      else {
        const record = await catalog.record(resource.rowsOf, recordKey(resource, row))
        if (record === undefined) continue
        const whole = completed(row, record.body) as Of
        characters += charactersOf(whole)
        some.push({ row: whole, at })
      }
    }
    yield some
  }
}

export async function wholeRow(source: Source, resource: Resource, row: Row): Promise<Row | undefined> {
  for await (const [whole] of wholeRows(source, resource, [row], 'all')) return whole?.row
  return undefined
}
