import type { ObjectLock } from '../../ports/catalog.ts'
import type { Tag } from '../../records/tags.ts'
import { writeTags } from './details.ts'
import { findObject } from './read.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** What may change of an object while it stays the same version. What is left out stays as it is. */
export interface Amendment {
  /** Absent: the current one. */
  readonly version: string | undefined
  readonly tags?: readonly Tag[]
  /** `null` takes the retention away. */
  readonly lock?: ObjectLock | null
  readonly legalHold?: boolean
  readonly bypassGovernance?: boolean
}

/** Changes an object in one commit, which alone can tell without a race whether its lock allows it. Gives its version. */
export async function amendObject(
  { catalog, system }: ObjectStore,
  bucket: OpenBucket,
  key: Uint8Array,
  { version, tags, lock, legalHold, bypassGovernance }: Amendment,
): Promise<string> {
  // What is not there, or hidden by a marker, is told as a read of it would tell.
  await findObject({ catalog }, bucket, key, version)
  const [outcome] = await catalog.commit([
    {
      do: 'amend-object',
      bucket: bucket.uuid,
      key,
      // Without a version it is the one that is current when this is committed: there is one at every moment.
      ...(version === undefined ? {} : { version }),
      nowMs: system.clock.now(),
      ...(tags === undefined ? {} : { details: { tags: writeTags(tags)['tags'] ?? null } }),
      ...(lock === undefined ? {} : { lock }),
      ...(legalHold === undefined ? {} : { legalHold }),
      ...(bypassGovernance === undefined ? {} : { bypassGovernance }),
    },
  ])
  return outcome?.version ?? 'null'
}
