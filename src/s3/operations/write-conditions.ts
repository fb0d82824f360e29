import type { DeleteCondition, WriteCondition } from '../../ports/catalog.ts'
import type { Asking, BucketCall, ObjectCall } from '../call.ts'
import { readDeleteCondition, writeCondition } from '../conditions.ts'
import { s3Error } from '../errors.ts'

/**
 * Conditions of requests that write or delete. Who compares an ETag must be allowed to read the object: Amazon S3 User
 * Guide, "Enforce conditional writes" and "How to perform conditional deletes". Whether there is an object (`*`) may be
 * asked without.
 */
export async function conditionOfWrite(call: ObjectCall, asking?: Asking): Promise<WriteCondition | undefined> {
  return permitted(call, writeCondition(call.headers), asking)
}

export async function conditionOfDelete(call: ObjectCall): Promise<DeleteCondition | undefined> {
  return permitted(call, readDeleteCondition(call.headers))
}

/** Whether the caller may learn if these are ETags of the object. */
export async function mayCompare(
  call: BucketCall,
  key: Uint8Array,
  etags: readonly string[] | undefined,
  asking: Asking,
): Promise<boolean> {
  if (etags === undefined || etags.every((etag) => etag === '*')) return true
  const action = typeof asking.version === 'string' ? 's3:GetObjectVersion' : 's3:GetObject'
  return call.allows(action, call.bucket.name, key, asking)
}

async function permitted<Condition extends WriteCondition>(
  call: ObjectCall,
  condition: Condition | undefined,
  asking: Asking = {},
): Promise<Condition | undefined> {
  if (condition === undefined) return undefined
  const etags = [...(condition.ifMatch ?? []), ...(condition.ifNoneMatch ?? [])]
  const version = call.query.get('versionId')
  if (!(await mayCompare(call, call.key, etags, { ...asking, version }))) throw s3Error('AccessDenied')
  return condition
}
