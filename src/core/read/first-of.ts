/**
 * The first so many of a number of items in an order, which are given a few at a time. Sorted runs are merged when they
 * are about as long as each other, so all of it takes as long as sorting, and no single call takes long. Items that are
 * equal stay in the order they came.
 */
export class FirstOf<Item> {
  readonly #compare: (a: Item, b: Item) => number
  readonly #bound: Bound<Item>
  /** Each in order, and before all that follow where items are equal. */
  readonly #runs: Item[][] = []
  /** From here on nothing is among the first. */
  #last: Item | undefined

  constructor(bound: Bound<Item>, compare: (a: Item, b: Item) => number) {
    this.#compare = compare
    this.#bound = bound
  }

  /** What comes may always be before what is there. */
  get isFull(): boolean {
    return false
  }

  /** Something was left out, or may have been. */
  get isCut(): boolean {
    return this.#last !== undefined
  }

  add(items: readonly Item[]): void {
    const last = this.#last
    const early = last === undefined ? items : items.filter((item) => this.#compare(item, last) < 0)
    if (early.length === 0) return
    this.#push(early.toSorted(this.#compare))
    while ((this.#runs.at(-2)?.length ?? Infinity) <= (this.#runs.at(-1)?.length ?? 0) * 2) this.#merge()
  }

  items(): readonly Item[] {
    while (this.#runs.length > 1) this.#merge()
    return this.#runs[0] ?? []
  }

  /** The last two. Sorting finds the runs that are there, and merges them. */
  #merge(): void {
    const after = this.#runs.pop() ?? []
    const before = this.#runs.pop() ?? []
    this.#push([...before, ...after].toSorted(this.#compare))
  }

  #push(run: Item[]): void {
    const { length, isReached } = reach(run, this.#bound)
    const first = run.slice(0, length)
    if (isReached) {
      const last = first.at(-1) as Item
      if (this.#last === undefined || this.#compare(last, this.#last) < 0) this.#last = last
    }
    this.#runs.push(first)
  }
}

/** How many items are wanted: so many, or as many as have a weight together. */
export interface Bound<Item> {
  readonly count: number
  /** The weight of the first ones is not counted. */
  readonly weightless: number
  readonly weightMax: number
  readonly weight: (item: Item) => number
}

/** How many of the first items are within the bound, with the one that reaches it and one more. */
export function reach<Item>(items: readonly Item[], bound: Bound<Item>): { length: number; isReached: boolean } {
  let weight = 0
  for (const [at, item] of items.entries()) {
    if (at + 1 >= bound.count || weight >= bound.weightMax) return { length: at + 1, isReached: true }
    if (at >= bound.weightless) weight += bound.weight(item)
  }
  return { length: items.length, isReached: false }
}
