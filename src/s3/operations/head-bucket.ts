import { region } from '../exchange/call.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'

export function headBucket(_call: BucketCall): Promise<Reply> {
  return Promise.resolve({ headers: { 'x-amz-bucket-region': region, 'x-amz-access-point-alias': 'false' } })
}
