import type { ObjectDraft, WriteCondition } from '../../ports/catalog.ts'
import { objectDetails } from './details.ts'
import type { ObjectDetails } from './details.ts'
import { lockOf } from './locks.ts'
import type { GivenLock } from './locks.ts'
import { newId } from './ids.ts'
import type { LabelledObject } from './labels.ts'
import { refuseObjectEarly } from './room.ts'
import { commitNaming, storeBody } from './store-body.ts'
import type { IncomingBody } from './store-body.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** Makes an object of a body that arrives: refused before the first byte where that can be known, else all or nothing. */
export async function putObject(
  store: ObjectStore,
  bucket: OpenBucket,
  key: Uint8Array,
  draft: {
    readonly body: () => IncomingBody
    readonly sizeBytes: number
    readonly details: ObjectDetails
    readonly locks: GivenLock
    readonly condition: WriteCondition | undefined
  },
): Promise<ObjectDraft> {
  const { sizeBytes, condition, details } = draft
  await refuseObjectEarly(store, bucket, { sizeBytes, key, owner: details.owner, condition })
  const version = newId(store.system)
  const labelled = (timeMs: number): LabelledObject => ({
    version,
    ...objectDetails(draft.details),
    ...lockOf(bucket, draft.locks, timeMs),
  })
  const { outcome, blobs, timeMs } = await storeBody(store, bucket, draft.body(), { key, object: labelled })
  const object: ObjectDraft = {
    ...labelled(timeMs),
    sizeBytes: outcome.sizeBytes,
    etag: outcome.md5.toString('hex'),
    modifiedMs: timeMs,
    checksum: outcome.checksum,
    blobs,
    parts: null,
  }
  const { version: given = 'null' } = await commitNaming(store, bucket, blobs, {
    do: 'put-object',
    bucket: bucket.uuid,
    key,
    object,
    nowMs: timeMs,
    ...(draft.condition === undefined ? {} : { condition: draft.condition }),
  })
  return { ...object, version: given }
}
