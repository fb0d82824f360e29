import type { ObjectCall, Reply } from '../exchange/call.ts'
import { s3Error } from '../errors.ts'
import { requestBytesMaxOf } from '../objects/limits.ts'
import { putPart } from '../objects/parts.ts'
import { openUpload } from '../objects/uploads.ts'
import { checksumHeaders, quoted } from './object-headers.ts'
import { refuseUnbuilt } from './object-write.ts'
import { partNumberOf, uploadIdOf } from './upload-parameters.ts'

export async function uploadPart(call: ObjectCall): Promise<Reply> {
  const { headers, store, bucket, key } = call
  refuseUnbuilt(headers)
  const number = partNumberOf(call)
  const upload = await openUpload(store, bucket, key, uploadIdOf(call))
  const plan = call.planBody({ maxBytes: requestBytesMaxOf(bucket), fallbackAlgorithm: upload.algorithm })
  // Of a composite checksum each part's is a piece. For another kind, that of a part without one is computed.
  const sent = plan.sentAlgorithm ?? (upload.type === 'COMPOSITE' ? undefined : upload.algorithm)
  if (upload.isAlgorithmChosen && sent !== upload.algorithm) {
    throw s3Error('InvalidRequest', {
      message: `Checksum Type mismatch occurred, expected checksum Type: ${upload.algorithm.toLowerCase()}, actual checksum Type: ${sent?.toLowerCase() ?? 'null'}`,
    })
  }
  const { part, answered } = await putPart(store, bucket, upload, number, {
    sizeBytes: plan.sizeBytes,
    body: () => call.body(plan),
  })
  const { 'x-amz-checksum-type': _, ...checksum } = checksumHeaders(answered)
  return { headers: { ETag: quoted(part.etag), ...checksum } }
}
