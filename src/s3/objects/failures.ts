import { CatalogUnavailable, CommitRefused } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import { lockedMessage } from '../config/object-lock.ts'
import { S3Error, s3Error } from '../errors.ts'

/** What is said of a bucket in a volume that only replication changes. */
export const readOnlyMessage =
  'The volume of the bucket is the destination of a replication, so nobody else can change it.'

/** Seconds after which a client may try again when the writer or the disk could not be reached. */
const retryAfterSeconds = 1

/**
 * What a client is told about a failure below: the one place where refusals of the ports become S3 errors. The cause goes
 * along for the log; nothing of it reaches the client.
 */
export function explainFailure(failure: unknown): S3Error {
  if (failure instanceof S3Error) return failure
  if (failure instanceof CommitRefused) return explainRefusal(failure)
  if (failure instanceof CatalogUnavailable) {
    return s3Error('SlowDown', { cause: failure, headers: { 'Retry-After': String(retryAfterSeconds) } })
  }
  if (failure instanceof VolumesFailure) {
    if (failure.reason === 'no-space') {
      return s3Error('InsufficientStorage', { cause: failure })
    }
    if (failure.reason === 'away') {
      return s3Error('ServiceUnavailable', {
        cause: failure,
        message: 'The aggregate of the bucket is offline. Please try again when its disk is back.',
        headers: { 'Retry-After': String(retryAfterSeconds) },
      })
    }
    if (failure.reason === 'read-only') {
      return s3Error('ServiceUnavailable', {
        cause: failure,
        message: 'The aggregate of the bucket cannot be written to. Please try again when its disk is writable.',
        headers: { 'Retry-After': String(retryAfterSeconds) },
      })
    }
    return s3Error('InternalError', { cause: failure })
  }
  return s3Error('InternalError', { cause: failure })
}

function explainRefusal(refused: CommitRefused): S3Error {
  const options = { cause: refused }
  switch (refused.reason) {
    case 'full':
      return full(refused.scope, refused)
    case 'no-space':
      return s3Error('InsufficientStorage', options)
    case 'condition':
      return s3Error('PreconditionFailed', options)
    case 'absent':
      return s3Error('NoSuchKey', options)
    case 'missing':
      // A blob that was shared or written went away in between: the object it belonged to was deleted or replaced.
      if (refused.scope === 'blob') return s3Error('ConditionalRequestConflict', options)
      return s3Error(refused.scope === 'upload' ? 'NoSuchUpload' : 'NoSuchBucket', options)
    case 'too-large':
      return s3Error('EntityTooLarge', options)
    case 'parts':
      return s3Error('InvalidPart', { ...options, fields: { PartNumber: refused.scope } })
    case 'not-empty':
      return s3Error('BucketNotEmpty', options)
    case 'locked':
      return s3Error('AccessDenied', { ...options, message: lockedMessage })
    case 'restoring':
      return s3Error('SlowDown', {
        ...options,
        message: 'The object, or all around it, is being restored to a snapshot. Please try again in a moment.',
        headers: { 'Retry-After': String(retryAfterSeconds) },
      })
    case 'read-only':
      return s3Error('AccessDenied', { ...options, message: readOnlyMessage })
    case 'moved':
      // Again and again: otherwise the write would have followed it.
      return s3Error('SlowDown', options)
    case 'exists':
    case 'stale':
    case 'taken':
      return s3Error('OperationAborted', options)
    default:
      return s3Error('InternalError', options)
  }
}

/** What has no room left: the bucket, the volume it lives in, or a quota in that volume. */
export function full(what: string, cause?: unknown): S3Error {
  const message = quotaMessages[what]
  return s3Error('QuotaExceeded', { cause, ...(message === undefined ? {} : { message }) })
}

const quotaMessages: Readonly<Record<string, string>> = {
  bucket: 'The bucket is full. Delete objects or raise its size, then try again.',
  volume: 'The volume of the bucket is full. Delete objects or snapshots, or raise its size, then try again.',
  'quota:tree': 'The quota of the qtree is used up. Delete objects or raise its hard limit, then try again.',
  'quota:user': 'The quota of the user is used up. Delete objects or raise its hard limit, then try again.',
  'quota:group': 'The quota of the group is used up. Delete objects or raise its hard limit, then try again.',
}
