import type { ObjectRow, VolumeIndex, WriteCondition } from '../../ports/catalog.ts'
import { chargedBytes } from '../../ports/charged.ts'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { full } from './failures.ts'
import { requestBytesMaxOf } from './limits.ts'
import type { ObjectStore, OpenBucket } from './store.ts'
import { leastBytes } from './storing.ts'

/** A write as far as it is known before its body comes. */
interface EarlyWrite {
  readonly sizeBytes: number
  /** Whose it will be, '' for nobody's. */
  readonly owner: string
  /** An object counts as one; a part does not yet. */
  readonly files: number
  /** What it replaces makes room. Asked only where there is too little. */
  readonly replaced: () => Promise<{ readonly sizeBytes: number } | undefined>
}

/**
 * Refuses a write before its body is asked for, where sizes and conditions tell already that it cannot succeed. This only
 * saves everybody the bytes: the commit is what decides, since others write at the same time.
 */
export async function refuseEarly({ catalog }: ObjectStore, bucket: OpenBucket, write: EarlyWrite): Promise<void> {
  const { sizeBytes } = write
  const maxBytes = requestBytesMaxOf(bucket)
  if (sizeBytes > maxBytes) throw tooLarge(sizeBytes, maxBytes)
  const counters = await catalog.bucket(bucket.uuid)
  if (counters === undefined) throw s3Error('NoSuchBucket')
  if (bucket.hasQuotas) await refuseOverQuota(catalog, bucket, write)
  const volume = await catalog.volume(bucket.volume)
  const bucketRoom = counters.limitBytes - counters.usedBytes
  const volumeBytes = Math.max(volume?.sizeBytes ?? 0, bucket.growsToBytes ?? 0)
  const volumeRoom = volume === undefined ? 0 : volumeBytes - chargedBytes(volume, volume.reserveBytes)
  const storedBytes = leastBytes(bucket, sizeBytes)
  if (sizeBytes <= bucketRoom && storedBytes <= volumeRoom) return
  const { sizeBytes: replacedBytes = 0 } = (await write.replaced()) ?? {}
  if (sizeBytes - replacedBytes > bucketRoom) throw full('bucket')
  if (storedBytes - replacedBytes > volumeRoom) throw full('volume')
}

/** Soft limits refuse nothing. What is replaced may be another owner's: then the commit may still refuse. */
async function refuseOverQuota(catalog: VolumeIndex, { volume }: OpenBucket, write: EarlyWrite): Promise<void> {
  const { sizeBytes, owner, files } = write
  const rooms = await catalog.quotaRoom(volume, owner)
  if (rooms.every((room) => sizeBytes <= room.bytes && files <= room.files)) return
  const replaced = await write.replaced()
  const growth = { bytes: sizeBytes - (replaced?.sizeBytes ?? 0), files: replaced === undefined ? files : 0 }
  for (const { type, bytes, files: filesLeft } of rooms) {
    if (growth.bytes > Math.max(0, bytes) || growth.files > Math.max(0, filesLeft)) throw full(`quota:${type}`)
  }
}

export function tooLarge(sizeBytes: number, maxBytes: number): S3Error {
  return s3Error('EntityTooLarge', { fields: { ProposedSize: String(sizeBytes), MaxSizeAllowed: String(maxBytes) } })
}

/** The same for the object that a write would replace, and for the condition it comes with. */
export async function refuseObjectEarly(
  store: ObjectStore,
  bucket: OpenBucket,
  write: {
    readonly sizeBytes: number
    readonly key: Uint8Array
    readonly owner: string
    readonly condition: WriteCondition | undefined
  },
): Promise<void> {
  const find = async (version?: string): Promise<ObjectRow | undefined> => {
    const row = await store.catalog.object(bucket.uuid, write.key, undefined, version)
    return row?.isMarker === true ? undefined : row
  }
  const current = () => find()
  if (write.condition !== undefined) checkCondition(write.condition, (await current())?.etag)
  // What is kept as a version makes no room.
  const replaced = async () =>
    bucket.versioning === 'enabled' ? undefined : find(bucket.versioning === 'suspended' ? 'null' : undefined)
  const { sizeBytes, owner } = write
  await refuseEarly(store, bucket, { sizeBytes, owner, files: 1, replaced })
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
