import { CommitRefused, type Change, type Outcome } from '../../ports/catalog.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** Has a volume grown, if it may, until so many bytes more fit into it. Tells whether they do. */
export type Grow = (volume: string, moreBytes: number) => Promise<boolean>

/** Other writers may take the room that one has asked for. */
const GROWTHS_MAX = 8

/**
 * Commits a write. Volumes that choose their size themselves grow ahead of writers; where these are faster, one that was
 * refused asks for the volume to grow and tries again. What fits is decided by the commit alone.
 */
export async function commitGrowing(
  { catalog, grow }: ObjectStore,
  bucket: OpenBucket,
  sizeBytes: number,
  change: Change,
): Promise<Outcome> {
  for (let growths = 0; ; growths++) {
    try {
      const [outcome = {}] = await catalog.commit([change])
      return outcome
    } catch (failure) {
      const isVolumeFull = failure instanceof CommitRefused && failure.reason === 'full' && failure.scope === 'volume'
      if (!isVolumeFull || bucket.growsToBytes === undefined || growths >= GROWTHS_MAX) throw failure
      if (!(await grow(bucket.volume, sizeBytes).catch(() => false))) throw failure
    }
  }
}
