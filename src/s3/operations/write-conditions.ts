import type { DeleteCondition, WriteCondition } from '../../ports/catalog.ts'
import type { Asking, BucketCall, ObjectCall } from '../exchange/call.ts'
import { readDeleteCondition, writeCondition } from '../request/conditions.ts'
import { s3Error } from '../errors.ts'
import { explainFailure } from '../objects/failures.ts'

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

/** Does something that a condition may refuse. The refusal tells which one it was. */
export async function underCondition<Result>(
  condition: WriteCondition | undefined,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act()
  } catch (failure) {
    if (condition === undefined || explainFailure(failure).code !== 'PreconditionFailed') throw failure
    const [only, ...more] = Object.keys(condition)
    const Condition = only === undefined || more.length > 0 ? undefined : conditionNames[only]
    // Of several it is not known which one did not hold.
    if (Condition === undefined) throw failure
    throw s3Error('PreconditionFailed', { cause: failure, fields: { Condition } })
  }
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

const conditionNames: Readonly<Record<string, string>> = { ifMatch: 'If-Match', ifNoneMatch: 'If-None-Match' }

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
