/** Values of rows by dotted paths, which may lead into lists. */
import { type Row, textOf, type Value } from './value.ts'

/** All values at a path: one, or one for each element of a list that has them. Empty where nothing is set. */
export function valuesAt(row: Row, path: string): readonly Value[] {
  const direct = row[path]
  if (direct !== undefined && direct !== null) return Array.isArray(direct) ? (direct as readonly Value[]) : [direct]
  for (const [base, member] of splits(path)) {
    const holder = row[base]
    if (!Array.isArray(holder)) continue
    return (holder as readonly Value[]).flatMap((element) => {
      const value = member
        .split('.')
        .reduce<Value | undefined>(
          (of, word) => (of as Readonly<Record<string, Value>> | null | undefined)?.[word],
          element,
        )
      return value === undefined || value === null ? [] : Array.isArray(value) ? (value as readonly Value[]) : [value]
    })
  }
  return []
}

/** A row without what has this value at a path: the value itself, or the elements of a list that have it. */
export function withoutValue(row: Row, path: string, value: string, cleared: Value = null): Row {
  const isIt = (one: Value) => textOf(one) === value
  const direct = row[path]
  if (Array.isArray(direct)) return { ...row, [path]: (direct as readonly Value[]).filter((one) => !isIt(one)) }
  if (direct !== undefined && direct !== null) return isIt(direct) ? { ...row, [path]: cleared } : row
  for (const [base] of splits(path)) {
    const list = row[base]
    if (!Array.isArray(list)) continue
    return {
      ...row,
      [base]: (list as readonly Value[]).filter((element) => !valuesAt({ [base]: [element] }, path).some(isIt)),
    }
  }
  return row
}

/** A path divided at each of its dots, the last one first: `a.b.c` is `a.b` and `c`, or `a` and `b.c`. */
export function splits(path: string): [base: string, member: string][] {
  const found: [string, string][] = []
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    found.push([path.slice(0, dot), path.slice(dot + 1)])
  }
  return found
}
