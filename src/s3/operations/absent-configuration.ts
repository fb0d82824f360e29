import type { BucketCall, ObjectCall, Reply } from '../call.ts'
import { s3Error } from '../errors.ts'
import type { S3ErrorCode } from '../errors.ts'
import { xmlDocument } from '../xml.ts'
import type { XmlContent } from '../xml.ts'
import { presentObject } from '../objects/read.ts'
import { privateAcl } from './owner.ts'

/**
 * Settings that a bucket cannot have yet are answered as Amazon answers for one that was never given any: clients look at
 * them on their way, and take "there is none" well where "not implemented" stops them.
 */
export function absent(code: S3ErrorCode): (call: BucketCall) => Promise<Reply> {
  return ({ bucket }) => Promise.reject(s3Error(code, { fields: { BucketName: bucket.name } }))
}

export function unset(root: string, content: XmlContent = ''): (call: BucketCall) => Promise<Reply> {
  return () => Promise.resolve({ body: xmlDocument(root, content) })
}

export function getBucketAcl({ svm }: BucketCall): Promise<Reply> {
  return Promise.resolve({ body: xmlDocument('AccessControlPolicy', privateAcl(svm)) })
}

export async function getObjectAcl(call: ObjectCall): Promise<Reply> {
  await demandObject(call)
  return { body: xmlDocument('AccessControlPolicy', privateAcl(call.svm)) }
}

export async function getObjectTagging(call: ObjectCall): Promise<Reply> {
  await demandObject(call)
  return { body: xmlDocument('Tagging', { TagSet: '' }) }
}

export async function getObjectRetention(call: ObjectCall): Promise<Reply> {
  await demandObject(call)
  throw s3Error('NoSuchObjectLockConfiguration')
}

async function demandObject({ store, bucket, key, query }: ObjectCall): Promise<void> {
  const version = query.get('versionId')
  presentObject(await store.catalog.object(bucket.uuid, key, undefined, version), version)
}
