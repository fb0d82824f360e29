import { CommitRefused } from '../../ports/catalog.ts'
import type { DeleteCondition, Outcome } from '../../ports/catalog.ts'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { explainFailure } from './failures.ts'
import { newId } from './ids.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** Commits in flight for one request. They share syncs with each other and with those of other requests. */
const parallelMax = 64

export interface Deletion {
  readonly key: Uint8Array
  /** Exactly this row. Without it, the key: where versions are kept it gets a delete marker. */
  readonly version: string | undefined
  readonly condition: DeleteCondition | undefined
  /** The caller asks to pass over governance retention, and may. */
  readonly bypassGovernance: boolean
}

/** That there was nothing to delete is fine, unless a condition on the ETag wants an object. */
export async function deleteObject(store: ObjectStore, bucket: OpenBucket, deletion: Deletion): Promise<Outcome> {
  try {
    return await commitDeletion(store, bucket, deletion)
  } catch (failure) {
    if (failure instanceof CommitRefused && failure.reason === 'absent') return answerAbsent(store, bucket, deletion)
    throw failure
  }
}

/**
 * As Amazon answers conditions on what is not there: those on size and time hold, If-Match is 404, and 412 for a key that
 * a delete marker hides.
 */
async function answerAbsent(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  { key, version, condition }: Deletion,
): Promise<Outcome> {
  if (condition?.ifMatch === undefined) return { found: false }
  const row = await catalog.object(bucket.uuid, key, undefined, version)
  throw s3Error(row?.isMarker === true ? 'PreconditionFailed' : 'NoSuchKey')
}

async function commitDeletion(
  { catalog, system }: ObjectStore,
  bucket: OpenBucket,
  { key, version, condition, bypassGovernance }: Deletion,
): Promise<Outcome> {
  const nowMs = system.clock.now()
  const [outcome = {}] = await catalog.commit([
    {
      do: 'delete-object',
      bucket: bucket.uuid,
      key,
      nowMs,
      ...(version === undefined ? { marker: { version: newId(system), modifiedMs: nowMs } } : { version }),
      ...(condition === undefined ? {} : { condition }),
      ...(bypassGovernance ? { bypassGovernance } : {}),
    },
  ])
  return outcome
}

/** Each key for itself: the failure of one does not keep the others. The answers are in the order of the deletions. */
export async function deleteObjects(
  store: ObjectStore,
  bucket: OpenBucket,
  deletions: readonly Deletion[],
): Promise<readonly (Outcome | S3Error)[]> {
  const outcomes = Array.from<Outcome | S3Error>({ length: deletions.length })
  let next = 0
  async function work(): Promise<void> {
    for (let at = next++; at < deletions.length; at = next++) {
      const deletion = deletions[at]
      if (deletion === undefined) return
      try {
        outcomes[at] = await deleteObject(store, bucket, deletion)
      } catch (failure) {
        outcomes[at] = explainFailure(failure)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallelMax, deletions.length) }, work))
  return outcomes
}
