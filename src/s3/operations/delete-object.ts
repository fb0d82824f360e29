import { writeCondition } from '../conditions.ts'
import { s3Error } from '../errors.ts'
import type { ObjectCall, Reply } from '../call.ts'
import { deleteObject as deleteFrom } from '../objects/delete.ts'

export async function deleteObject({ store, bucket, key, headers, query }: ObjectCall): Promise<Reply> {
  const version = query.get('versionId')
  // A version that is not there is deleted already, which is success.
  if (version !== undefined && version !== 'null') return {}
  for (const name of ['x-amz-if-match-size', 'x-amz-if-match-last-modified-time']) {
    if (headers.has(name)) {
      throw s3Error('NotImplemented', {
        message: `A header you provided implies functionality that is not implemented: ${name}`,
        fields: { Header: name },
      })
    }
  }
  await deleteFrom(store, bucket, key, writeCondition(headers))
  return {}
}
