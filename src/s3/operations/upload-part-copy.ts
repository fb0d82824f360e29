import type { ObjectCall, Reply } from '../exchange/call.ts'
import { headerValue } from '../request/headers.ts'
import { copyPart } from '../objects/parts.ts'
import { openUpload } from '../objects/uploads.ts'
import { readCopyRange } from '../request/ranges.ts'
import { xmlDocument } from '../xml/xml.ts'
import { copySource } from './copy-source.ts'
import { partChecksumElements, quoted } from './object-headers.ts'
import { refuseUnbuilt } from './object-write.ts'
import { partNumberOf, uploadIdOf } from './upload-parameters.ts'

export async function uploadPartCopy(call: ObjectCall): Promise<Reply> {
  const { headers, store, bucket, key } = call
  refuseUnbuilt(headers)
  const number = partNumberOf(call)
  const upload = await openUpload(store, bucket, key, uploadIdOf(call))
  const source = await copySource(call)
  const part = await copyPart(store, bucket, upload, number, {
    bucket: source.bucket,
    key: source.key,
    version: source.version,
    range: (row) => {
      source.check(row)
      return readCopyRange(headerValue(headers, 'x-amz-copy-source-range'), row.sizeBytes)
    },
  })
  return {
    headers: source.headers(),
    body: xmlDocument('CopyPartResult', {
      LastModified: new Date(part.modifiedMs).toISOString(),
      ETag: quoted(part.etag),
      ...partChecksumElements(part.checksum),
    }),
  }
}
