import { settingFields } from '../tenancy/bucket-settings.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { configure } from '../exchange/call.ts'
import { ownershipControlsDocument, readOwnershipControls } from '../config/ownership.ts'
import { s3Error } from '../errors.ts'

/** There is one kind of ownership, which every bucket begins with: all there is to know is whether it was chosen or taken away. */
export async function putBucketOwnershipControls(call: BucketCall): Promise<Reply> {
  readOwnershipControls(await call.document({ isIntegrityNeeded: true }))
  await configure(call, settingFields.ownership(true))
  return {}
}

export function getBucketOwnershipControls({ bucket }: BucketCall): Promise<Reply> {
  return bucket.settings.isOwnershipSet
    ? Promise.resolve({ body: ownershipControlsDocument('BucketOwnerEnforced') })
    : Promise.reject(s3Error('OwnershipControlsNotFoundError', { fields: { BucketName: bucket.name } }))
}

export async function deleteBucketOwnershipControls(call: BucketCall): Promise<Reply> {
  await configure(call, settingFields.ownership(false))
  return {}
}
