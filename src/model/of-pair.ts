/** Remembers what was made of two objects, for as long as both are in use. Neither may change. */
export function ofPair<First extends object, Second extends object, Made>(
  make: (first: First, second: Second) => Made,
): (first: First, second: Second) => Made {
  const all = new WeakMap<First, WeakMap<Second, { readonly made: Made }>>()
  return (first, second) => {
    let ofFirst = all.get(first)
    if (ofFirst === undefined) all.set(first, (ofFirst = new WeakMap()))
    let known = ofFirst.get(second)
    if (known === undefined) ofFirst.set(second, (known = { made: make(first, second) }))
    return known.made
  }
}
