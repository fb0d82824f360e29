import type { Row } from '../../model/value.ts'

/**
 * Remembers what was made of all rows of a type. They are the same list as long as none of them changes, so that readings
 * which follow one another make it once, however many rows there are.
 */
export function ofRows<Made, Of extends Row = Row>(make: (rows: readonly Of[]) => Made): (rows: readonly Of[]) => Made {
  const all = new WeakMap<readonly Of[], { readonly made: Made }>()
  return (rows) => {
    let known = all.get(rows)
    if (known === undefined) all.set(rows, (known = { made: make(rows) }))
    return known.made
  }
}
