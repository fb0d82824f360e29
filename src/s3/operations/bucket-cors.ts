import { settingFields } from '../tenancy/bucket-settings.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { configure } from '../exchange/call.ts'
import { corsDocument, readCors } from '../config/cors.ts'
import { s3Error } from '../errors.ts'

export async function putBucketCors(call: BucketCall): Promise<Reply> {
  await configure(call, settingFields.cors(readCors(await call.document({ isIntegrityNeeded: true }))))
  return {}
}

export function getBucketCors({ bucket }: BucketCall): Promise<Reply> {
  const { cors } = bucket.settings
  return cors === undefined
    ? Promise.reject(s3Error('NoSuchCORSConfiguration', { fields: { BucketName: bucket.name } }))
    : Promise.resolve({ body: corsDocument(cors) })
}

export async function deleteBucketCors(call: BucketCall): Promise<Reply> {
  await configure(call, settingFields.cors(undefined))
  return {}
}
