import type { WriteCondition } from '../../ports/catalog.ts'
import { s3Error } from '../errors.ts'
import { objectBytesMax } from './limits.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/**
 * Refuses a write before its body is asked for, where sizes and conditions tell already that it cannot succeed. This only
 * saves everybody the bytes: the commit is what decides, since others write at the same time.
 */
export async function refuseEarly(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  write: { readonly sizeBytes: number; readonly key?: Uint8Array; readonly condition?: WriteCondition | undefined },
): Promise<void> {
  if (write.sizeBytes > objectBytesMax) {
    throw s3Error('EntityTooLarge', {
      fields: { ProposedSize: String(write.sizeBytes), MaxSizeAllowed: String(objectBytesMax) },
    })
  }
  const counters = await catalog.bucket(bucket.uuid)
  if (counters === undefined) throw s3Error('NoSuchBucket')
  const volume = await catalog.volume(bucket.volume)
  const bucketRoom = counters.limitBytes - counters.usedBytes
  const volumeRoom = volume === undefined ? 0 : volume.sizeBytes - volume.usedBytes
  const needsLookUp = write.condition !== undefined || write.sizeBytes > Math.min(bucketRoom, volumeRoom)
  if (!needsLookUp) return

  // What is replaced makes room.
  const current = write.key === undefined ? undefined : await catalog.object(bucket.uuid, write.key)
  checkCondition(write.condition, current?.etag)
  const freed = current?.sizeBytes ?? 0
  if (write.sizeBytes > bucketRoom + freed) {
    throw s3Error('QuotaExceeded', { message: 'The bucket is full. Delete objects or raise its size, then try again.' })
  }
  if (write.sizeBytes > volumeRoom + freed) {
    throw s3Error('QuotaExceeded', {
      message: 'The volume of the bucket is full. Delete objects or snapshots, or raise its size, then try again.',
    })
  }
}

function checkCondition(condition: WriteCondition | undefined, etag: string | undefined): void {
  const { ifMatch, ifNoneMatch } = condition ?? {}
  if (ifMatch !== undefined) {
    if (etag === undefined) throw s3Error('NoSuchKey')
    if (!ifMatch.includes('*') && !ifMatch.includes(etag)) throw s3Error('PreconditionFailed')
  }
  if (ifNoneMatch !== undefined && etag !== undefined && (ifNoneMatch.includes('*') || ifNoneMatch.includes(etag))) {
    throw s3Error('PreconditionFailed')
  }
}
