import type { Kind } from '../../../model/kinds/index.ts'

const NONE: ReadonlySet<unknown> = new Set(['-', '', '-1', -1])

/** A number that may also be taken away: with `-1`, as the interface has it, or `-`, as tools send it. */
export function limit<T>(kind: Kind<T>): Kind<T | null> {
  return { ...kind, name: 'limit', parse: (value) => (NONE.has(value) ? null : kind.parse(value)) }
}
