import { demand } from '../exchange/call.ts'
import type { ObjectCall, Reply } from '../exchange/call.ts'
import { readTagging, taggingDocument } from '../config/tagging.ts'
import type { Tag } from '../../records/tags.ts'
import { readDetails } from '../objects/details.ts'
import { amendObject } from '../objects/amend.ts'
import { findObject } from '../objects/read.ts'
import { actionOf } from '../request/router.ts'
import { versionHeaders } from './parameters.ts'

export async function getObjectTagging({ store, bucket, key, query }: ObjectCall): Promise<Reply> {
  const version = query.get('versionId')
  const row = await findObject(store, bucket, key, version)
  return {
    headers: versionHeaders(bucket, row.version),
    body: taggingDocument(readDetails(row.details).tags),
  }
}

export async function putObjectTagging(call: ObjectCall): Promise<Reply> {
  const { bucket, key, operation, query } = call
  const tags = readTagging(await call.document({ isIntegrityNeeded: true }), 'object')
  await demand(call, actionOf(operation, query), bucket.name, key, { requestTags: () => tags })
  return retag(call, tags)
}

export function deleteObjectTagging(call: ObjectCall): Promise<Reply> {
  return retag(call, [])
}

async function retag({ store, bucket, key, query }: ObjectCall, tags: readonly Tag[]): Promise<Reply> {
  const version = await amendObject(store, bucket, key, { version: query.get('versionId'), tags })
  return { headers: versionHeaders(bucket, version) }
}
