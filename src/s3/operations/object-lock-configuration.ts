import type { BucketCall, Reply } from '../exchange/call.ts'
import { configure } from '../exchange/call.ts'
import { lockFields } from '../../records/lock-fields.ts'
import { lockConfigurationDocument, readLockConfiguration } from '../config/object-lock.ts'
import { s3Error } from '../errors.ts'

/** A bucket that keeps versions may be given locks at any time. They are never taken from it. */
export async function putObjectLockConfiguration(call: BucketCall): Promise<Reply> {
  const { bucket } = call
  const configuration = readLockConfiguration(await call.document({ isIntegrityNeeded: true }))
  if (bucket.settings.locks === undefined && bucket.versioning !== 'enabled') {
    throw s3Error('InvalidBucketState', {
      message: "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
    })
  }
  await configure(call, lockFields(configuration))
  return {}
}

export function getObjectLockConfiguration({ bucket }: BucketCall): Promise<Reply> {
  const { locks } = bucket.settings
  return locks === undefined
    ? Promise.reject(s3Error('ObjectLockConfigurationNotFoundError', { fields: { BucketName: bucket.name } }))
    : Promise.resolve({ body: lockConfigurationDocument(locks) })
}
