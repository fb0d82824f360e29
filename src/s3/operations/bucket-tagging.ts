import { settingFields } from '../tenancy/bucket-settings.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { configure } from '../exchange/call.ts'
import { readTagging, taggingDocument } from '../config/tagging.ts'
import { s3Error } from '../errors.ts'

export async function putBucketTagging(call: BucketCall): Promise<Reply> {
  const tags = readTagging(await call.document({ isIntegrityNeeded: true }), 'bucket')
  await configure(call, settingFields.tags(tags))
  return { status: 204 }
}

export function getBucketTagging({ bucket }: BucketCall): Promise<Reply> {
  const { tags } = bucket.settings
  return tags === undefined
    ? Promise.reject(s3Error('NoSuchTagSet', { fields: { BucketName: bucket.name } }))
    : Promise.resolve({ body: taggingDocument(tags) })
}

export async function deleteBucketTagging(call: BucketCall): Promise<Reply> {
  await configure(call, settingFields.tags(undefined))
  return {}
}
