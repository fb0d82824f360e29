import type { ObjectCall, Reply } from '../exchange/call.ts'
import { deleteObject as deleteFrom } from '../objects/delete.ts'
import { mayBypass } from './object-retention.ts'
import { versionHeaders } from './parameters.ts'
import { conditionOfDelete, underCondition } from './write-conditions.ts'

export async function deleteObject(call: ObjectCall): Promise<Reply> {
  const { store, bucket, key, query } = call
  const version = query.get('versionId')
  const condition = await conditionOfDelete(call)
  const bypassGovernance = await mayBypass(call, key)
  const outcome = await underCondition(condition, () =>
    deleteFrom(store, bucket, { key, version, condition, bypassGovernance }),
  )
  // Absent where a condition found nothing to delete.
  const about = version ?? outcome.version
  return {
    headers: {
      ...(outcome.marker === true ? { 'x-amz-delete-marker': 'true' } : {}),
      ...(about === undefined ? {} : versionHeaders(bucket, about)),
    },
  }
}
