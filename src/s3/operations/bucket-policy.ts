import type { BucketCall, Reply } from '../exchange/call.ts'
import { configure } from '../exchange/call.ts'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { policyDocument, readPolicyDocument } from '../policy/document.ts'
import { rowOfStatement } from '../../records/statements.ts'
import { isPublicPolicy } from '../policy/statements.ts'
import type { Bucket } from '../tenancy/records.ts'
import { xmlDocument } from '../xml/xml.ts'

/**
 * The statements are rows of the bucket's record, the same ones that the management interface shows and changes. The text
 * is kept beside them, as clients compare it with what they sent, until the statements are changed the other way.
 */
export async function putBucketPolicy(call: BucketCall): Promise<Reply> {
  const { bucket } = call
  const { text, statements } = readPolicyDocument(await call.document(), bucket.name)
  if (bucket.settings.publicAccessBlock?.blockPublicPolicy === true && isPublicPolicy(statements)) {
    throw s3Error('AccessDenied', {
      message: 'The policy is public, which the BlockPublicPolicy setting of this bucket refuses.',
    })
  }
  await configure(call, { 'policy.statements': statements.map(rowOfStatement), $policy: text })
  return { status: 204 }
}

export function getBucketPolicy({ record }: BucketCall): Promise<Reply> {
  if (record.statements.length === 0) return Promise.reject(noPolicy(record))
  const document = Buffer.from(record.policyText ?? policyDocument(record.statements))
  return Promise.resolve({ headers: { 'Content-Type': 'application/json' }, body: bytesOf(document) })
}

export function getBucketPolicyStatus({ record }: BucketCall): Promise<Reply> {
  if (record.statements.length === 0) return Promise.reject(noPolicy(record))
  return Promise.resolve({ body: xmlDocument('PolicyStatus', { IsPublic: isPublicPolicy(record.statements) }) })
}

export async function deleteBucketPolicy(call: BucketCall): Promise<Reply> {
  await configure(call, { 'policy.statements': null, $policy: null })
  return {}
}

function noPolicy({ name }: Bucket): S3Error {
  return s3Error('NoSuchBucketPolicy', { fields: { BucketName: name } })
}

function bytesOf(document: Buffer): Exclude<Reply['body'], string | undefined> {
  async function* once(): AsyncGenerator<Buffer> {
    yield document
  }
  return { sizeBytes: document.length, bytes: once() }
}
