import { s3Error } from '../errors.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'

export async function deleteBucket({ bucket, svm, caller, control }: BucketCall): Promise<Reply> {
  const outcome = await control.deleteBucket({
    svm,
    bucket: bucket.uuid,
    caller: { user: caller?.name ?? '', svm: caller?.svm ?? '' },
  })
  if (outcome === 'done') return {}
  if (outcome === 'not-empty') throw s3Error('BucketNotEmpty', { fields: { BucketName: bucket.name } })
  if (outcome === 'missing') throw s3Error('NoSuchBucket', { fields: { BucketName: bucket.name } })
  throw s3Error('OperationAborted')
}
