/**
 * How NetApp Harvest asks for events: read from its collector of EMS and its plugin Health, 2026-11. It asks for the
 * names that the cluster can log and its template has, in targets of at most so many characters.
 */
export const TARGET_CHARACTERS_MAX = 8000
export const SEVERITIES = 'alert|emergency|error|informational|notice'

/** What it reads of an event. */
export const eventLabels = ['index', 'message.name', 'message.severity', 'node.name', 'time'] as const

/** Names in slices, as many in each as make a target no longer than it may be. */
export function slicesOf(names: readonly string[], charactersMax: number, around: number): readonly string[][] {
  const slices: string[][] = []
  let left = 0
  for (const name of names) {
    const needed = encodeURIComponent(`${name},`).length
    const last = slices.at(-1)
    if (last === undefined || needed > left) {
      slices.push([name])
      left = charactersMax - around - needed
    } else {
      last.push(name)
      left -= needed
    }
  }
  return slices
}
