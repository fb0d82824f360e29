import type { BucketCall, Reply } from '../call.ts'
import { s3Error } from '../errors.ts'
import type { S3ErrorCode } from '../errors.ts'
import { xmlDocument } from '../xml.ts'
import type { XmlContent } from '../xml.ts'

/**
 * Settings that a bucket cannot have are answered as Amazon answers for one that was never given any: clients look at
 * them on their way, and take "there is none" well where "not implemented" stops them.
 */
export function absent(code: S3ErrorCode): (call: BucketCall) => Promise<Reply> {
  return ({ bucket }) => Promise.reject(s3Error(code, { fields: { BucketName: bucket.name } }))
}

export function unset(root: string, content: XmlContent = ''): (call: BucketCall) => Promise<Reply> {
  return () => Promise.resolve({ body: xmlDocument(root, content) })
}

/** A listing of configurations without any. */
export const noneListed: XmlContent = { IsTruncated: false }
