import type { BucketCall, Reply } from '../exchange/call.ts'
import { s3Error } from '../errors.ts'
import type { S3ErrorCode } from '../errors.ts'
import { notImplemented } from '../request/router.ts'
import { readXml, xmlDocument } from '../xml/xml.ts'
import type { XmlContent, XmlNode } from '../xml/xml.ts'

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

/** To take away what there is none of is done. */
export function removeAbsent(): Promise<Reply> {
  return Promise.resolve({})
}

/**
 * A document that asks for what is the case anyway: no notifications, no logs, the owner pays. Any other is refused by the
 * name of its operation, so that nobody waits for what never comes.
 */
export function keepAbsent(
  root: string,
  isAbsent: (document: XmlNode) => boolean = ({ children }) => children.length === 0,
): (call: BucketCall) => Promise<Reply> {
  return async (call) => {
    if (isAbsent(readXml(await call.document(), root))) return {}
    throw notImplemented(call.operation)
  }
}
