import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { child, children, malformed, readXml, xmlDocument } from '../xml/xml.ts'
import { checkElements } from './elements.ts'

/** The owner of the bucket owns everything in it and lists grant nothing. There is no other way here. */
export type ObjectOwnership = 'BucketOwnerEnforced'

/** `x-amz-object-ownership` of CreateBucket. */
export function readOwnershipHeader(headers: RequestHeaders): ObjectOwnership | undefined {
  const name = 'x-amz-object-ownership'
  const value = headerValue(headers, name)
  if (value === undefined) return undefined
  if (!isOwnership(value)) throw invalidArgument(`Invalid ${name} header: ${value}`, name, value)
  return enforced(value)
}

/** The body of PutBucketOwnershipControls. */
export function readOwnershipControls(body: Uint8Array): ObjectOwnership {
  const root = readXml(body, 'OwnershipControls')
  checkElements(root, ['Rule'])
  const [rule, ...more] = children(root, 'Rule')
  if (rule === undefined || more.length > 0) throw malformed('OwnershipControls has one Rule.')
  checkElements(rule, ['ObjectOwnership'])
  const value = child(rule, 'ObjectOwnership').text
  if (!isOwnership(value)) throw malformed('ObjectOwnership is not known.')
  return enforced(value)
}

export function ownershipControlsDocument(ownership: ObjectOwnership): string {
  return xmlDocument('OwnershipControls', { Rule: { ObjectOwnership: ownership } })
}

type AmazonOwnership = 'BucketOwnerEnforced' | 'BucketOwnerPreferred' | 'ObjectWriter'

function isOwnership(value: string): value is AmazonOwnership {
  return value === 'BucketOwnerEnforced' || value === 'BucketOwnerPreferred' || value === 'ObjectWriter'
}

function enforced(value: AmazonOwnership): ObjectOwnership {
  if (value === 'BucketOwnerEnforced') return value
  throw s3Error('NotImplemented', {
    message: `Object ownership ${value} is not implemented: it needs access control lists. Use BucketOwnerEnforced.`,
  })
}
