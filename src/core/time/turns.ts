import type { System } from '../../ports/system.ts'

/** So few are done in the turn of whoever asks. */
const ITEMS = 50
/** Then others have their turn. */
const TURN_MS = 3

/**
 * Gives very many items a few at a time, and goes on in another turn of the event loop whenever a turn has taken some
 * milliseconds, so that no request holds up the others.
 */
export async function* inTurns<Item>(
  { clock, turn }: System,
  items: readonly Item[],
  atOnce = ITEMS,
): AsyncGenerator<readonly Item[], void, void> {
  let endMs = Number.NEGATIVE_INFINITY
  for (let from = 0; from < items.length; from += atOnce) {
    if (items.length > atOnce && clock.elapsed() >= endMs) {
      await turn()
      endMs = clock.elapsed() + TURN_MS
    }
    yield items.slice(from, from + atOnce)
  }
}

/** The same, one at a time. */
export async function* eachInTurns<Item>(system: System, items: readonly Item[]): AsyncGenerator<Item, void, void> {
  for await (const some of inTurns(system, items)) yield* some
}
