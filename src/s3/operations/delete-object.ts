import { readDeleteCondition } from '../conditions.ts'
import type { ObjectCall, Reply } from '../call.ts'
import { deleteObject as deleteFrom } from '../objects/delete.ts'
import { mayBypass } from './object-retention.ts'
import { versionHeaders } from './parameters.ts'

export async function deleteObject(call: ObjectCall): Promise<Reply> {
  const { store, bucket, key, headers, query } = call
  const version = query.get('versionId')
  const outcome = await deleteFrom(store, bucket, {
    key,
    version,
    condition: readDeleteCondition(headers),
    bypassGovernance: await mayBypass(call, key),
  })
  return {
    headers: {
      ...(outcome.marker === true ? { 'x-amz-delete-marker': 'true' } : {}),
      ...versionHeaders(bucket, version ?? outcome.version ?? 'null'),
    },
  }
}
