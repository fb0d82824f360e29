import type { ObjectCall, Reply } from '../call.ts'
import { writeCondition } from '../conditions.ts'
import { readMetadata } from '../metadata.ts'
import { objectBytesMax } from '../objects/limits.ts'
import { putObject as putInto } from '../objects/put.ts'
import { checksumHeaders, quoted } from './object-headers.ts'
import { refuseUnbuilt, versionHeaders } from './parameters.ts'

export async function putObject(call: ObjectCall): Promise<Reply> {
  const { headers, store, bucket, key, caller } = call
  refuseUnbuilt(headers)
  const plan = call.planBody({ maxBytes: objectBytesMax })
  const { etag, checksum, version } = await putInto(store, bucket, key, {
    sizeBytes: plan.sizeBytes,
    body: () => call.body(plan),
    details: { metadata: readMetadata(headers), owner: caller?.name ?? '' },
    condition: writeCondition(headers),
  })
  return { headers: { ETag: quoted(etag), ...checksumHeaders(checksum), ...versionHeaders(bucket, version) } }
}
