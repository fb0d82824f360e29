import type { ObjectCall, Reply } from '../exchange/call.ts'
import { multipartChecksum } from '../checksums/algorithms.ts'
import { headerValue } from '../request/headers.ts'
import { createUpload } from '../objects/uploads.ts'
import { wellFormedText, xmlDocument } from '../xml/xml.ts'
import { abortHeaders } from './object-headers.ts'
import { readObjectWrite } from './object-write.ts'

export async function createMultipartUpload(call: ObjectCall): Promise<Reply> {
  const { headers, store, bucket, key } = call
  const write = await readObjectWrite(call)
  const algorithmHeader = headerValue(headers, 'x-amz-checksum-algorithm')
  const { algorithm, type } = multipartChecksum(algorithmHeader, headerValue(headers, 'x-amz-checksum-type'))
  const isAlgorithmChosen = algorithmHeader !== undefined
  const upload = await createUpload(store, bucket, {
    key,
    details: { ...write, tags: write.tags ?? [] },
    locks: write,
    algorithm,
    type,
    isAlgorithmChosen,
  })
  return {
    headers: {
      ...(isAlgorithmChosen ? { 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': type } : {}),
      ...abortHeaders(bucket, upload),
    },
    body: xmlDocument('InitiateMultipartUploadResult', {
      Bucket: bucket.name,
      Key: wellFormedText(Buffer.from(key).toString('utf8')),
      UploadId: upload.id,
    }),
  }
}
