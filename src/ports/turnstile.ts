import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Lets one caller through in each turn of the event loop, in the order they came. Requests that arrive together are
 * answered in one turn otherwise, and what takes two milliseconds for one holds the loop for thirty.
 *
 * Everybody passes as an immediate, and the next one's is made when that runs: an immediate made in a turn's callbacks
 * runs in the same turn, one made by an immediate in the turn after.
 */
export function turnstile(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => nextTurn())
    return last
  }
}
