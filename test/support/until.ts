import { setTimeout as wait } from 'node:timers/promises'

/** How long something may take that happens by itself, on a machine that is busy with other things. */
const SECONDS_MAX = 60

/** Waits until something is true, with looks at it in between. What does not happen fails by name. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + SECONDS_MAX * 1000
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`${SECONDS_MAX} s passed, and it is not so that ${what}.`)
    await wait(2)
  }
}
