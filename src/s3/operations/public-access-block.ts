import { settingFields } from '../tenancy/bucket-settings.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { configure } from '../exchange/call.ts'
import { publicAccessBlockDocument, readPublicAccessBlock } from '../config/public-access-block.ts'
import { s3Error } from '../errors.ts'

export async function putPublicAccessBlock(call: BucketCall): Promise<Reply> {
  const block = readPublicAccessBlock(await call.document({ isIntegrityNeeded: true }))
  await configure(call, settingFields.publicAccessBlock(block))
  return {}
}

export function getPublicAccessBlock({ bucket }: BucketCall): Promise<Reply> {
  const { publicAccessBlock } = bucket.settings
  return publicAccessBlock === undefined
    ? Promise.reject(s3Error('NoSuchPublicAccessBlockConfiguration', { fields: { BucketName: bucket.name } }))
    : Promise.resolve({ body: publicAccessBlockDocument(publicAccessBlock) })
}

export async function deletePublicAccessBlock(call: BucketCall): Promise<Reply> {
  await configure(call, settingFields.publicAccessBlock(undefined))
  return {}
}
