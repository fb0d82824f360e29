import { writeCondition } from '../conditions.ts'
import { s3Error } from '../errors.ts'
import type { ObjectCall, Reply } from '../call.ts'
import { deleteObject as deleteFrom } from '../objects/delete.ts'
import { versionHeaders } from './parameters.ts'

export async function deleteObject({ store, bucket, key, headers, query }: ObjectCall): Promise<Reply> {
  const version = query.get('versionId')
  for (const name of ['x-amz-if-match-size', 'x-amz-if-match-last-modified-time']) {
    if (headers.has(name)) {
      throw s3Error('NotImplemented', {
        message: `A header you provided implies functionality that is not implemented: ${name}`,
        fields: { Header: name },
      })
    }
  }
  const outcome = await deleteFrom(store, bucket, { key, version, condition: writeCondition(headers) })
  return {
    headers: {
      ...(outcome.marker === true ? { 'x-amz-delete-marker': 'true' } : {}),
      ...versionHeaders(bucket, version ?? outcome.version ?? 'null'),
    },
  }
}
