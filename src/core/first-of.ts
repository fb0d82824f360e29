/**
 * The first so many of a number of items in an order, which are given a few at a time. Sorted runs are merged when they
 * are about as long as each other, so all of it takes as long as sorting, and no single call takes long. Items that are
 * equal stay in the order they came.
 */
export class FirstOf<Item> {
  readonly #compare: (a: Item, b: Item) => number
  readonly #wanted: number
  /** Each in order, and before all that follow where items are equal. */
  readonly #runs: Item[][] = []
  /** From here on nothing is among the first. */
  #last: Item | undefined

  constructor(wanted: number, compare: (a: Item, b: Item) => number) {
    this.#wanted = wanted
    this.#compare = compare
  }

  /** What comes may always be before what is there. */
  get isFull(): boolean {
    return false
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
    const first = run.slice(0, this.#wanted)
    if (first.length === this.#wanted) {
      const last = first.at(-1) as Item
      if (this.#last === undefined || this.#compare(last, this.#last) < 0) this.#last = last
    }
    this.#runs.push(first)
  }
}
