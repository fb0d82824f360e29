import type { ObjectRow, WriteCondition } from '../../ports/catalog.ts'
import { chargedBytes } from '../../ports/charged.ts'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { full } from './failures.ts'
import { requestBytesMaxOf } from './limits.ts'
import type { ObjectStore, OpenBucket } from './store.ts'
import { leastBytes } from './storing.ts'

/**
 * Refuses a write before its body is asked for, where sizes and conditions tell already that it cannot succeed. This only
 * saves everybody the bytes: the commit is what decides, since others write at the same time.
 */
export async function refuseEarly(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  write: {
    readonly sizeBytes: number
    /** What is replaced makes room. Asked only where there is too little. */
    readonly replacedBytes: () => Promise<number>
  },
): Promise<void> {
  const { sizeBytes } = write
  const maxBytes = requestBytesMaxOf(bucket)
  if (sizeBytes > maxBytes) throw tooLarge(sizeBytes, maxBytes)
  const counters = await catalog.bucket(bucket.uuid)
  if (counters === undefined) throw s3Error('NoSuchBucket')
  const volume = await catalog.volume(bucket.volume)
  const bucketRoom = counters.limitBytes - counters.usedBytes
  const volumeBytes = Math.max(volume?.sizeBytes ?? 0, bucket.growsToBytes ?? 0)
  const volumeRoom = volume === undefined ? 0 : volumeBytes - chargedBytes(volume, volume.reserveBytes)
  const storedBytes = leastBytes(bucket, sizeBytes)
  if (sizeBytes <= bucketRoom && storedBytes <= volumeRoom) return
  const replacedBytes = await write.replacedBytes()
  if (sizeBytes - replacedBytes > bucketRoom) throw full('bucket')
  if (storedBytes - replacedBytes > volumeRoom) throw full('volume')
}

export function tooLarge(sizeBytes: number, maxBytes: number): S3Error {
  return s3Error('EntityTooLarge', { fields: { ProposedSize: String(sizeBytes), MaxSizeAllowed: String(maxBytes) } })
}

/** The same for the object that a write would replace, and for the condition it comes with. */
export async function refuseObjectEarly(
  store: ObjectStore,
  bucket: OpenBucket,
  write: { readonly sizeBytes: number; readonly key: Uint8Array; readonly condition: WriteCondition | undefined },
): Promise<void> {
  const current = async (): Promise<ObjectRow | undefined> => {
    const row = await store.catalog.object(bucket.uuid, write.key)
    return row?.isMarker === true ? undefined : row
  }
  if (write.condition !== undefined) checkCondition(write.condition, (await current())?.etag)
  await refuseEarly(store, bucket, {
    sizeBytes: write.sizeBytes,
    // What is kept as a version makes no room.
    replacedBytes: async () => (bucket.versioning === 'unversioned' ? ((await current())?.sizeBytes ?? 0) : 0),
  })
}

function checkCondition({ ifMatch, ifNoneMatch }: WriteCondition, etag: string | undefined): void {
  if (ifMatch !== undefined) {
    if (etag === undefined) throw s3Error('NoSuchKey')
    if (!ifMatch.includes('*') && !ifMatch.includes(etag)) throw s3Error('PreconditionFailed')
  }
  if (ifNoneMatch !== undefined && etag !== undefined && (ifNoneMatch.includes('*') || ifNoneMatch.includes(etag))) {
    throw s3Error('PreconditionFailed')
  }
}
