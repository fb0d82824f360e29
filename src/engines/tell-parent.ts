/**
 * Sends a message to the process that started this one. That it is lost when that has gone is no failure of who sends:
 * `disconnect` tells of it, a moment later.
 */
export function tellParent(message: object): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}
