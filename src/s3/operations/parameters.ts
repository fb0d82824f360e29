import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../headers.ts'
import type { RequestHeaders } from '../headers.ts'
import type { OpenBucket } from '../objects/store.ts'
import { percentEncode } from '../percent.ts'
import { urlEncodedKey } from '../keys.ts'

/** A whole number of a query, at most `max`: more is taken for that, as Amazon does. */
export function readCount(query: ReadonlyMap<string, string>, name: string, max: number): number {
  const value = query.get(name)
  if (value === undefined || value === '') return max
  if (!/^\d{1,10}$/.test(value) || Number(value) > 2 ** 31 - 1) {
    throw invalidArgument(`Argument ${name} must be an integer between 0 and 2147483647`, name, value)
  }
  return Math.min(Number(value), max)
}

/** How keys are written in a listing: as they are, or percent-encoded where the client asks for it. */
export function keyWriter(query: ReadonlyMap<string, string>): {
  readonly encodingType: 'url' | undefined
  readonly key: (key: Uint8Array) => string
  readonly text: (text: string) => string
} {
  const encodingType = query.get('encoding-type')
  if (encodingType === undefined) {
    return { encodingType, key: (key) => Buffer.from(key).toString('utf8'), text: (text) => text }
  }
  if (encodingType !== 'url') {
    throw invalidArgument('Invalid Encoding Method specified in Request', 'encoding-type', encodingType)
  }
  return {
    encodingType,
    key: urlEncodedKey,
    text: (text) => percentEncode(Buffer.from(text, 'utf8'), { keepSlash: true }),
  }
}

/** Which version an answer is about; nothing in a bucket that never had versions. */
export function versionHeaders({ versioning }: OpenBucket, version: string): Readonly<Record<string, string>> {
  return versioning === 'unversioned' ? {} : { 'x-amz-version-id': version }
}

/**
 * Refuses by name what a write asks for and would not get. To take such a header and ignore it would be a promise broken
 * in silence: an object thought to be encrypted, locked, tagged or public that is not.
 */
export function refuseUnbuilt(headers: RequestHeaders): void {
  for (const name of headers.keys()) {
    if (unbuilt.has(name) || unbuiltPrefixes.some((prefix) => name.startsWith(prefix))) throw notBuilt(name)
  }
  const acl = headerValue(headers, 'x-amz-acl')
  if (acl !== undefined && !ownersAcls.has(acl)) throw notBuilt(`x-amz-acl: ${acl}`)
  const storageClass = headerValue(headers, 'x-amz-storage-class')
  if (storageClass !== undefined && storageClass !== 'STANDARD') {
    throw s3Error('InvalidStorageClass', { fields: { StorageClassRequested: storageClass } })
  }
}

const unbuilt: ReadonlySet<string> = new Set([
  'x-amz-tagging',
  'x-amz-bucket-object-lock-enabled',
  'x-amz-website-redirect-location',
  'x-amz-write-offset-bytes',
])
const unbuiltPrefixes = [
  'x-amz-server-side-encryption',
  'x-amz-copy-source-server-side-encryption',
  'x-amz-object-lock-',
  'x-amz-grant-',
]
/** They grant nothing to anybody but the owner of the bucket, which is how everything is. */
const ownersAcls: ReadonlySet<string> = new Set(['private', 'bucket-owner-full-control', 'bucket-owner-read'])

function notBuilt(what: string): Error {
  return s3Error('NotImplemented', {
    message: `A header you provided implies functionality that is not implemented: ${what}`,
    fields: { Header: what },
  })
}
