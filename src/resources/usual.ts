import type { Derivation } from '../core/behaviour.ts'
import type { Row, Value } from '../model/value.ts'

/** Fields that are the same of all records, but of those that say otherwise. */
export function usual(values: Row): Derivation {
  const paths = Object.keys(values)
  return {
    gives: paths,
    from: (_cluster, rows) =>
      rows.map((row) => {
        let shown: Record<string, Value> | undefined
        for (const path of paths) {
          const said = row[path]
          if (said !== undefined && said !== null) (shown ??= { ...values })[path] = said
        }
        return shown ?? values
      }),
  }
}
