import { CatalogUnavailable } from '../../ports/catalog.ts'
import type { Cluster } from '../cluster.ts'
import { Interrupted, type Work } from '../verb.ts'

/** While the catalog's writer is started again, a run waits and tries again; after so many times it fails. */
const TRIES = 30
const WAIT_MS = 1000

/** Repeats what the catalog's writer was not there for. Whether it was done is then not known, so it has to be repeatable. */
export async function untilAvailable<Result>(
  cluster: Cluster,
  work: Work,
  act: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await act()
    } catch (failure) {
      if (!(failure instanceof CatalogUnavailable) || tries >= TRIES) throw failure
      await cluster.system.clock.sleep(WAIT_MS, work.stopping)
      if (work.stopping.aborted) throw new Interrupted()
    }
  }
}
