import type { ObjectCall, Reply } from '../exchange/call.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import { requestBytesMaxOf } from '../objects/limits.ts'
import { putObject as putInto } from '../objects/put.ts'
import { checksumHeaders, expirationHeaders, quoted } from './object-headers.ts'
import { readObjectWrite } from './object-write.ts'
import { writtenVersionHeaders } from './parameters.ts'
import { conditionOfWrite, underCondition } from './write-conditions.ts'

export async function putObject(call: ObjectCall): Promise<Reply> {
  const { store, bucket, key } = call
  const partNumber = call.query.get('partNumber')
  // A part whose upload was forgotten must not replace the object.
  if (partNumber !== undefined) {
    throw invalidArgument('A partNumber belongs to an upload: uploadId is missing.', 'partNumber', partNumber)
  }
  const write = await readObjectWrite(call)
  const plan = call.planBody({ maxBytes: requestBytesMaxOf(bucket) })
  // What cannot be taken back for years had better be what was sent.
  if ((write.lock !== undefined || write.legalHold !== undefined) && !plan.hasIntegrity) {
    throw s3Error('InvalidRequest', {
      message:
        'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
    })
  }
  const condition = await conditionOfWrite(call)
  const object = await underCondition(condition, () =>
    putInto(store, bucket, key, {
      sizeBytes: plan.sizeBytes,
      body: () => call.body(plan),
      details: { ...write, tags: write.tags ?? [] },
      locks: write,
      condition,
    }),
  )
  return {
    headers: {
      ETag: quoted(object.etag),
      ...checksumHeaders(object.checksum),
      ...writtenVersionHeaders(object.version),
      ...expirationHeaders(bucket, { ...object, key }),
    },
  }
}
