import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Lets one caller through in each turn of the event loop, in the order they came; the first at once. Requests that arrive
 * together are answered in one turn otherwise, and what takes two milliseconds for one holds the loop for thirty.
 */
export function turnstile(): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  return async () => {
    const mine = last
    last = mine.then(() => nextTurn())
    await mine
  }
}
