/**
 * Rows without their long values. Of a record with much in it, a collection keeps what names, finds and orders it; what is
 * long is left out until a page shows it or a filter looks at it.
 */
import type { Row, Value } from '../../model/value.ts'

/** A row of fewer characters is kept whole where all readers share it. */
export const SHARED_ROW_CHARACTERS = 4096
/** The same of a row that one reader has for itself. */
export const OWN_ROW_CHARACTERS = 512
/** Of longer rows, values of more characters than this are left out. */
export const SHORT_VALUE_CHARACTERS = 256

/** Copies of a row keep it, whereas lists of its fields do not show it. */
const LEFT_OUT = Symbol('paths of the values that are left out')

interface Shortened {
  readonly [LEFT_OUT]?: readonly string[]
}

/** The row without its long values, but for those at the paths given. */
export function shortened(row: Row, kept: ReadonlySet<string>, wholeCharacters: number): Row {
  if (charactersOf(row) <= wholeCharacters) return row
  const isLong = ([path, value]: [string, Value]) => charactersOf(value) > SHORT_VALUE_CHARACTERS && !kept.has(path)
  const [long, short] = partition(Object.entries(row), isLong)
  if (long.length === 0) return row
  const paths = [...leftOut(row), ...long.map(([path]) => path)]
  return Object.assign(Object.fromEntries(short), { [LEFT_OUT]: paths })
}

/** Paths of the values that are missing in a row; none where it is whole. */
export function leftOut(row: Row): readonly string[] {
  return (row as Shortened)[LEFT_OUT] ?? []
}

const allWhole = new WeakMap<readonly Row[], boolean>()

/** Whether nothing is left out of any of these. Lists that readers share are looked through once. */
export function areWhole(rows: readonly Row[]): boolean {
  const known = allWhole.get(rows)
  if (known !== undefined) return known
  const isAll = rows.every((row) => leftOut(row).length === 0)
  if (Object.isFrozen(rows)) allWhole.set(rows, isAll)
  return isAll
}

/** The row with what was left out of it. */
export function completed(row: Row, stored: Row): Row {
  const whole: Record<string, Value> & { [LEFT_OUT]?: unknown } = { ...row }
  for (const path of leftOut(row)) if (stored[path] !== undefined) whole[path] = stored[path]
  delete whole[LEFT_OUT]
  return whole
}

/** About as many characters as it has in JSON. */
export function charactersOf(value: Value): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 8
  let characters = 2
  for (const [name, one] of Object.entries(value as Row)) {
    characters += (Array.isArray(value) ? 0 : name.length + 3) + charactersOf(one)
  }
  return characters
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  const first: Item[] = []
  const second: Item[] = []
  for (const item of items) (isFirst(item) ? first : second).push(item)
  return [first, second]
}
