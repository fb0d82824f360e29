import type { BucketCall, ObjectCall, Reply } from '../exchange/call.ts'
import { aclDocument, checkAclRequest } from '../config/acl.ts'
import { findObject } from '../objects/read.ts'
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
  await findObject(call.store, call.bucket, call.key, call.query.get('versionId'))
  return { body: aclDocument(owner(call.svm)) }
}

export async function putObjectAcl(call: ObjectCall): Promise<Reply> {
  checkAclRequest(call.headers, await call.document(), owner(call.svm))
  await findObject(call.store, call.bucket, call.key, call.query.get('versionId'))
  return {}
}
