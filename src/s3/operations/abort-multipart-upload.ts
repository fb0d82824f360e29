import type { ObjectCall, Reply } from '../exchange/call.ts'
import { abortUpload } from '../objects/uploads.ts'
import { uploadIdOf } from './upload-parameters.ts'

export async function abortMultipartUpload(call: ObjectCall): Promise<Reply> {
  await abortUpload(call.store, call.bucket, call.key, uploadIdOf(call))
  return {}
}
