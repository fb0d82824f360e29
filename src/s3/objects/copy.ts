import type { ObjectChecksum, ObjectDraft, ObjectRow, WriteCondition } from '../../ports/catalog.ts'
import { CommitRefused } from '../../ports/catalog.ts'
import type { ChecksumAlgorithm } from '../checksums/algorithms.ts'
import { s3Error } from '../errors.ts'
import { algorithmOf } from './checksums.ts'
import { insistOnSoundness } from './damage.ts'
import { objectDetails } from './details.ts'
import type { ObjectDetails } from './details.ts'
import { lockOf } from './locks.ts'
import type { GivenLock } from './locks.ts'
import { newId } from './ids.ts'
import type { LabelledObject } from './labels.ts'
import { requestBytesMaxOf } from './limits.ts'
import { withObject } from './read.ts'
import type { Open } from './read.ts'
import { refuseObjectEarly, tooLarge } from './room.ts'
import { commitNaming, digested, storeBody } from './store-body.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

export interface CopyOrder {
  readonly source: { readonly bucket: OpenBucket; readonly key: Uint8Array; readonly version?: string | undefined }
  readonly target: { readonly bucket: OpenBucket; readonly key: Uint8Array }
  /** Looks at the source before anything is done with it; what it returns goes with the copy. */
  readonly details: (source: ObjectRow) => Promise<ObjectDetails>
  /** The locks of the source do not go with the copy. */
  readonly locks: GivenLock
  /** The algorithm the copy is to have. Without one, that of the source. */
  readonly algorithm: ChecksumAlgorithm | undefined
  readonly condition: WriteCondition | undefined
}

/**
 * Within a volume a copy is a row that shares the blobs of its source; it takes no time and no space, and its ETag and
 * parts are those of the source. Between volumes the bytes move, and the copy is an object that was put at once.
 */
export async function copyObject(store: ObjectStore, order: CopyOrder): Promise<ObjectDraft> {
  const copyOnce = (): Promise<ObjectDraft> =>
    withObject(
      store,
      order.source.bucket,
      order.source.key,
      (row, open) =>
        order.source.bucket.volume === order.target.bucket.volume
          ? share(store, order, row, open)
          : move(store, order, row, open),
      order.source.version,
    )
  try {
    return await copyOnce()
  } catch (failure) {
    // The source was replaced or deleted between the look and the commit: look again, once.
    if (failure instanceof CommitRefused && failure.scope === 'blob') return copyOnce()
    throw failure
  }
}

async function share(store: ObjectStore, order: CopyOrder, row: ObjectRow, open: Open): Promise<ObjectDraft> {
  const { source, target, condition } = order
  await insistOnSoundness(source.bucket, row)
  const maxBytes = requestBytesMaxOf(target.bucket)
  if (row.sizeBytes > maxBytes) throw tooLarge(row.sizeBytes, maxBytes)
  const described = objectDetails(await order.details(row))
  const checksum = await checksumOfCopy(order, row, open)
  const nowMs = store.system.clock.now()
  const object: ObjectDraft = {
    version: newId(store.system),
    sizeBytes: row.sizeBytes,
    etag: row.etag,
    ...checksum,
    modifiedMs: nowMs,
    blobs: row.blobs,
    ...described,
    ...lockOf(target.bucket, order.locks, nowMs),
  }
  const [outcome] = await store.catalog.commit([
    {
      do: 'put-object',
      bucket: target.bucket.uuid,
      key: target.key,
      object,
      nowMs,
      shares: true,
      ...(condition === undefined ? {} : { condition }),
    },
  ])
  return { ...object, version: outcome?.version ?? 'null' }
}

/** A checksum of another algorithm than the source has takes reading the bytes, but not writing them. */
async function checksumOfCopy(
  { algorithm }: CopyOrder,
  row: ObjectRow,
  open: Open,
): Promise<{ readonly checksum: ObjectChecksum; readonly parts: ObjectRow['parts'] }> {
  if (algorithm === undefined || algorithm === algorithmOf(row.checksum)) {
    return { checksum: row.checksum, parts: row.parts }
  }
  const bytes = digested(await open(), row.sizeBytes, algorithm)
  // oxlint-disable-next-line no-unused-vars -- digesting is a matter of taking the pieces
  for await (const _ of bytes.pieces);
  return { checksum: bytes.outcome().checksum, parts: null }
}

async function move(store: ObjectStore, order: CopyOrder, row: ObjectRow, open: Open): Promise<ObjectDraft> {
  const { target, condition } = order
  const details = await order.details(row)
  const described = objectDetails(details)
  const { sizeBytes } = row
  await refuseObjectEarly(store, target.bucket, { sizeBytes, key: target.key, owner: details.owner, condition })
  const body = digested(await open(), row.sizeBytes, order.algorithm ?? algorithmOf(row.checksum))
  const version = newId(store.system)
  const labelled = (timeMs: number): LabelledObject => ({
    version,
    ...described,
    ...lockOf(target.bucket, order.locks, timeMs),
  })
  const about = { key: target.key, object: labelled }
  const { outcome, blobs, timeMs } = await storeBody(store, target.bucket, body, about)
  if (outcome.sizeBytes !== row.sizeBytes) throw s3Error('InternalError')
  const object: ObjectDraft = {
    ...labelled(timeMs),
    sizeBytes: row.sizeBytes,
    etag: outcome.md5.toString('hex'),
    modifiedMs: timeMs,
    checksum: outcome.checksum,
    blobs,
    parts: null,
  }
  const { version: given = 'null' } = await commitNaming(store, target.bucket, blobs, {
    do: 'put-object',
    bucket: target.bucket.uuid,
    key: target.key,
    object,
    nowMs: timeMs,
    ...(condition === undefined ? {} : { condition }),
  })
  return { ...object, version: given }
}
