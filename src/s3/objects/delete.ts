import type { WriteCondition } from '../../ports/catalog.ts'
import type { S3Error } from '../errors.ts'
import { explainFailure } from './failures.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** Commits in flight for one request. They share syncs with each other and with those of other requests. */
const parallelMax = 64

/** Deletes a key. That there was nothing to delete is fine, unless a condition wants an object. */
export async function deleteObject(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  key: Uint8Array,
  condition?: WriteCondition,
): Promise<void> {
  await catalog.commit([
    { do: 'delete-object', bucket: bucket.uuid, key, ...(condition === undefined ? {} : { condition }) },
  ])
}

export interface Deletion {
  readonly key: Uint8Array
  readonly condition: WriteCondition | undefined
}

/** Each key for itself: the failure of one does not keep the others. The answers are in the order of the deletions. */
export async function deleteObjects(
  store: ObjectStore,
  bucket: OpenBucket,
  deletions: readonly Deletion[],
): Promise<readonly (S3Error | undefined)[]> {
  const outcomes = Array.from<S3Error | undefined>({ length: deletions.length })
  let next = 0
  async function work(): Promise<void> {
    for (let at = next++; at < deletions.length; at = next++) {
      const deletion = deletions[at]
      if (deletion === undefined) return
      try {
        await deleteObject(store, bucket, deletion.key, deletion.condition)
      } catch (failure) {
        outcomes[at] = explainFailure(failure)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallelMax, deletions.length) }, work))
  return outcomes
}
