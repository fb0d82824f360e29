import { invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { child, children, findChild, findText, readXml, xmlDocument } from '../xml/xml.ts'
import type { XmlNode } from '../xml/xml.ts'

/**
 * Access control lists are switched off, as they are in every bucket that Amazon makes since April 2023: the owner has
 * everything, policies decide about all others. What says just that is taken and changes nothing; what grants anything to
 * anybody else is refused, so that nobody believes an object to be public that is not.
 */
export interface AclOwner {
  readonly ID: string
  readonly DisplayName: string
}

/** Grants in one list. */
export const grantsMax = 100

/**
 * Checks `x-amz-acl` and `x-amz-grant-…` of a request that makes something. True when there was one of them, which
 * PutBucketAcl and PutObjectAcl need to know.
 */
export function checkAclHeaders(headers: RequestHeaders, owner: AclOwner): boolean {
  const canned = headerValue(headers, 'x-amz-acl')
  const grants = grantHeaders.filter((name) => headers.has(name))
  if (canned !== undefined && grants.length > 0) {
    throw s3Error('InvalidRequest', { message: 'Specifying both Canned ACLs and Header Grants is not allowed' })
  }
  if (canned !== undefined) checkCannedAcl(canned)
  for (const name of grants) checkGrantHeader(name, headerValue(headers, name) ?? '', owner)
  return canned !== undefined || grants.length > 0
}

/**
 * Checks the same headers of a request that makes an object. A bucket with lists switched off takes of objects only the
 * list that gives its owner full control (Amazon S3 User Guide, "Controlling ownership of objects"). `private` is taken
 * too unless somebody chose BucketOwnerEnforced for the bucket: it grants nothing, and rclone up to 1.60 sends it with
 * every write without being told to (tried, 2026-11).
 */
export function checkObjectAclHeaders(
  headers: RequestHeaders,
  owner: AclOwner,
  bucket: { readonly isOwnershipChosen: boolean },
): void {
  checkAclHeaders(headers, owner)
  const canned = headerValue(headers, 'x-amz-acl')
  const isTaken = canned === 'bucket-owner-full-control' || (canned === 'private' && !bucket.isOwnershipChosen)
  if (canned !== undefined && !isTaken) throw notSupported()
  if (grantHeaders.some((name) => name !== 'x-amz-grant-full-control' && headers.has(name))) throw notSupported()
}

/** The value of `x-amz-acl`, or of the field `acl` of a form. */
function checkCannedAcl(canned: string): void {
  if (harmlessAcls.has(canned)) return
  if (grantingAcls.has(canned)) throw notSupported()
  throw invalidArgument('', 'x-amz-acl', canned)
}

/** PutBucketAcl and PutObjectAcl: the list is in the headers or in the body, not in both and not in none. */
export function checkAclRequest(headers: RequestHeaders, body: Uint8Array, owner: AclOwner): void {
  const isInHeaders = checkAclHeaders(headers, owner)
  if (isInHeaders && body.length > 0) throw s3Error('UnexpectedContent')
  if (isInHeaders) return
  if (body.length === 0) {
    throw s3Error('MissingSecurityHeader', {
      message: 'Your request was missing a required header',
      fields: { MissingHeaderName: 'x-amz-acl' },
    })
  }
  checkAclDocument(body, owner)
}

export function checkAclDocument(body: Uint8Array, owner: AclOwner): void {
  const root = readAcl(body)
  const ownerNode = findChild(root, 'Owner')
  const ownerId = ownerNode === undefined ? undefined : findText(ownerNode, 'ID')
  if (ownerId === undefined) throw malformedAcl('The Owner is missing.')
  if (ownerId !== owner.ID) throw s3Error('AccessDenied')
  const grants = children(listOf(root), 'Grant')
  if (grants.length > grantsMax) throw malformedAcl(`A list has at most ${grantsMax} grants.`)
  for (const grant of grants) checkGrant(grant, owner)
}

/** The list that every bucket and object has. */
export function aclDocument(owner: AclOwner): string {
  return xmlDocument('AccessControlPolicy', {
    Owner: { ...owner },
    AccessControlList: {
      Grant: {
        Grantee: {
          '@xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
          '@xsi:type': 'CanonicalUser',
          ...owner,
        },
        Permission: 'FULL_CONTROL',
      },
    },
  })
}

const harmlessAcls = new Set(['private', 'bucket-owner-full-control', 'bucket-owner-read'])
const grantingAcls = new Set([
  'public-read',
  'public-read-write',
  'authenticated-read',
  'aws-exec-read',
  'log-delivery-write',
])
const grantHeaders = [
  'x-amz-grant-full-control',
  'x-amz-grant-read',
  'x-amz-grant-read-acp',
  'x-amz-grant-write',
  'x-amz-grant-write-acp',
]
const permissions = new Set(['FULL_CONTROL', 'READ', 'READ_ACP', 'WRITE', 'WRITE_ACP'])

/** `id="79a5…", uri="http://…", emailAddress="…"` */
function checkGrantHeader(name: string, value: string, owner: AclOwner): void {
  for (const part of value.split(',')) {
    const match = /^\s*(id|uri|emailaddress)\s*=\s*(?:"([^"]*)"|([^"\s]+))\s*$/i.exec(part)
    if (match === null) throw invalidArgument('Argument format not recognized', name, value)
    const [, kind = '', quoted, bare] = match
    if (kind.toLowerCase() !== 'id' || (quoted ?? bare) !== owner.ID) throw notSupported()
  }
}

function checkGrant(grant: XmlNode, owner: AclOwner): void {
  const grantee = findChild(grant, 'Grantee')
  const permission = findText(grant, 'Permission')
  if (grantee === undefined || permission === undefined || !permissions.has(permission)) {
    throw malformedAcl('A Grant needs a Grantee and a Permission.')
  }
  const type = grantee.attributes.get('type')
  if (type === 'Group' || type === 'AmazonCustomerByEmail') throw notSupported()
  const id = findText(grantee, 'ID')
  if (id === undefined) throw malformedAcl('The Grantee is not of a known type.')
  if (id !== owner.ID) throw notSupported()
}

function readAcl(body: Uint8Array): XmlNode {
  try {
    return readXml(body, 'AccessControlPolicy')
  } catch (cause) {
    throw s3Error('MalformedACLError', { cause })
  }
}

function listOf(root: XmlNode): XmlNode {
  try {
    return child(root, 'AccessControlList')
  } catch (cause) {
    throw s3Error('MalformedACLError', { cause })
  }
}

function malformedAcl(message: string): S3Error {
  return s3Error('MalformedACLError', {
    message: `The XML you provided was not well-formed or did not validate against our published schema. ${message}`,
  })
}

function notSupported(): S3Error {
  return s3Error('AccessControlListNotSupported')
}
