import type { ObjectDraft } from '../../ports/catalog.ts'
import { demand } from '../exchange/call.ts'
import type { Asking, ObjectCall } from '../exchange/call.ts'
import { checkObjectAclHeaders } from '../config/acl.ts'
import { noLocksError, readLockHeaders } from '../config/object-lock.ts'
import { readTaggingHeader } from '../config/tagging.ts'
import type { Tag } from '../../records/tags.ts'
import { s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { readMetadata } from '../request/metadata.ts'
import type { ObjectMetadata } from '../request/metadata.ts'
import { owner } from './owner.ts'

/** What the headers of a request that makes an object, or begins an upload of one, say about it. */
export interface ObjectWrite extends Pick<ObjectDraft, 'lock' | 'legalHold'> {
  readonly metadata: ObjectMetadata
  readonly owner: string
  /** Absent: nothing was said. */
  readonly tags: readonly Tag[] | undefined
  readonly storageClass: string | undefined
}

/**
 * Reads and judges those headers. Tags and locks need a permission each of their own, and locks a bucket that has them.
 * `headers` and `asking` are those of a form in its place.
 */
export async function readObjectWrite(
  call: ObjectCall,
  headers: RequestHeaders = call.headers,
  asking: Asking = {},
): Promise<ObjectWrite> {
  const { svm, bucket, key, caller, nowMs } = call
  refuseUnbuilt(headers)
  checkObjectAclHeaders(headers, owner(svm), bucket.settings)
  const tags = asking.requestTags === undefined ? readTaggingHeader(headers) : asking.requestTags()
  if (tags !== undefined) await demand(call, 's3:PutObjectTagging', bucket.name, key, asking)
  const lock = readLockHeaders(headers, nowMs)
  if (lock !== undefined && bucket.settings.locks === undefined) throw noLocksError()
  if (lock?.retention !== undefined) await demand(call, 's3:PutObjectRetention', bucket.name, key, asking)
  if (lock?.legalHold !== undefined) await demand(call, 's3:PutObjectLegalHold', bucket.name, key, asking)
  return {
    metadata: readMetadata(headers),
    owner: (asking.as === undefined ? caller : asking.as.user)?.name ?? '',
    tags,
    storageClass: readStorageClass(headers),
    ...(lock?.retention === undefined ? {} : { lock: lock.retention }),
    ...(lock?.legalHold === undefined ? {} : { legalHold: lock.legalHold }),
  }
}

/**
 * Refuses by name what a write asks for and would not get. To take such a header and ignore it would be a promise broken
 * in silence: an object thought to be encrypted that is not.
 */
export function refuseUnbuilt(headers: RequestHeaders): void {
  for (const name of headers.keys()) {
    if (!unbuilt.has(name) && !unbuiltPrefixes.some((prefix) => name.startsWith(prefix))) continue
    throw s3Error('NotImplemented', {
      message: `A header you provided implies functionality that is not implemented: ${name}`,
      fields: { Header: name },
    })
  }
}

/** `STANDARD` is what an object has that says nothing, and is not told. */
export function readStorageClass(headers: RequestHeaders): string | undefined {
  const name = headerValue(headers, 'x-amz-storage-class')
  if (name === undefined || name === 'STANDARD') return undefined
  if (labelClasses.has(name)) return name
  throw s3Error('InvalidStorageClass', { fields: { StorageClassRequested: name } })
}

/** Classes whose objects are read like any other. Those of an archive, which must be restored first, there are not. */
const labelClasses: ReadonlySet<string> = new Set([
  'REDUCED_REDUNDANCY',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'GLACIER_IR',
])

const unbuilt: ReadonlySet<string> = new Set(['x-amz-write-offset-bytes'])
const unbuiltPrefixes = ['x-amz-server-side-encryption', 'x-amz-copy-source-server-side-encryption']
