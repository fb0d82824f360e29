import { type Derivation, type Derived, type SharedDerivation, sharedPaths } from '../core/behaviour.ts'
import { namesOf, type Row, type Value } from '../model/value.ts'

/** The same of fields whose paths are put together at run time: the compiler does not know them, a test looks at them. */
export function usualOf(values: Row): SharedDerivation {
  const same = usual(values)
  return { ...same, gives: sharedPaths(...same.gives) }
}

/** Fields that are the same of all records, but of those that say otherwise. */
export function usual<const Values extends Row>(values: Values): Derivation<Row, keyof Values & string, Values> {
  const paths = namesOf(values)
  return {
    gives: paths,
    from: (_cluster, rows) =>
      rows.map((row) => {
        let shown: Record<string, Value> | undefined
        for (const path of paths) {
          const said = row[path]
          if (said !== undefined && said !== null) (shown ??= { ...values })[path] = said
        }
        return (shown ?? values) as Derived<Values>
      }),
  }
}
