/** Items kept in an order: finding the place of one takes as many looks as the number has digits in base two. */
export class SortedList<Item> {
  readonly #compare: (a: Item, b: Item) => number
  readonly #items: Item[]
  /** All of them, until one comes or goes. Frozen, as those who ask share it. */
  #all: readonly Item[] | undefined

  constructor(items: readonly Item[], compare: (a: Item, b: Item) => number) {
    this.#compare = compare
    this.#items = items.toSorted(compare)
  }

  /** After those that are equal to it. */
  add(item: Item): void {
    this.#all = undefined
    const at = firstWhere(this.#items, (one) => this.#compare(one, item) > 0)
    this.#items.splice(at, 0, item)
  }

  /** This very item; of others that are equal, none. */
  remove(item: Item): void {
    const first = firstWhere(this.#items, (one) => this.#compare(one, item) >= 0)
    const at = this.#items.indexOf(item, first)
    if (at < 0) return
    this.#all = undefined
    this.#items.splice(at, 1)
  }

  /** The same list until an item comes or goes. */
  all(): readonly Item[] {
    this.#all ??= Object.freeze([...this.#items])
    return this.#all
  }
}

/** Where the items begin of which something is true, in a list of which it is true from somewhere on. */
export function firstWhere<Item>(items: readonly Item[], isTrue: (item: Item) => boolean): number {
  let from = 0
  let to = items.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isTrue(items[middle] as Item)) to = middle
    else from = middle + 1
  }
  return from
}
