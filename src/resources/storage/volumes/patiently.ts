import type { Cluster } from '../../../core/cluster.ts'
import { Interrupted, type Work } from '../../../core/verb.ts'
import { CatalogUnavailable } from '../../../ports/catalog.ts'

/** While the catalog's writer is started again, the step waits: what is half way back could be neither used nor left. */
const UNAVAILABLE_WAIT_MS = 1000

/** Repeats what the catalog could not be asked for. It must be such that it may be done twice. */
export async function patiently<Result>(cluster: Cluster, work: Work, act: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await act()
    } catch (failure) {
      if (!(failure instanceof CatalogUnavailable)) throw failure
      await cluster.system.clock.sleep(UNAVAILABLE_WAIT_MS, work.stopping)
      if (work.stopping.aborted) throw new Interrupted()
    }
  }
}
