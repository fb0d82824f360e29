import type { BucketCall, ObjectCall, Reply } from '../call.ts'
import { aclDocument, checkAclRequest } from '../config/acl.ts'
import { presentObject } from '../objects/read.ts'
import { owner } from './owner.ts'

export function getBucketAcl({ svm }: BucketCall): Promise<Reply> {
  return Promise.resolve({ body: aclDocument(owner(svm)) })
}

/** What says that the owner has everything is taken, and is so already. */
export async function putBucketAcl(call: BucketCall): Promise<Reply> {
  checkAclRequest(call.headers, await call.document(), owner(call.svm))
  return {}
}

export async function getObjectAcl(call: ObjectCall): Promise<Reply> {
  await findObject(call)
  return { body: aclDocument(owner(call.svm)) }
}

export async function putObjectAcl(call: ObjectCall): Promise<Reply> {
  checkAclRequest(call.headers, await call.document(), owner(call.svm))
  await findObject(call)
  return {}
}

async function findObject({ store, bucket, key, query }: ObjectCall): Promise<void> {
  const version = query.get('versionId')
  presentObject(await store.catalog.object(bucket.uuid, key, undefined, version), version)
}
