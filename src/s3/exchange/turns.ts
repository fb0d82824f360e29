/** Ends a turn of the event loop: what waits for it comes first. */
export type Turn = () => Promise<void>

/** Does something with each of very many, so many of them in one turn. The results are in their order. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  itemsPerTurn: number,
  turn: Turn,
  act: (item: Item, at: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % itemsPerTurn === 0) await turn()
    results.push(await act(item, at))
  }
  return results
}
