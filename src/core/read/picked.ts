/**
 * Those of a list that are wanted. Rows of a type are the same list as long as none of them changes: then it is not gone
 * through again, however often somebody asks.
 */
export class Picked<Item> {
  readonly #isWanted: (item: Item) => boolean
  #list: readonly Item[] = []
  #picked: readonly Item[] = []

  constructor(isWanted: (item: Item) => boolean) {
    this.#isWanted = isWanted
  }

  of(list: readonly Item[]): readonly Item[] {
    if (list === this.#list) return this.#picked
    this.#picked = list.filter(this.#isWanted)
    this.#list = list
    return this.#picked
  }
}
