import { isUtf8 } from 'node:buffer'
import { invalidArgument, s3Error } from '../errors.ts'
import { isId } from '../objects/ids.ts'
import { percentDecode, percentEncode } from './percent.ts'

/** Longest object key, in bytes of its UTF-8 form. */
export const keyBytesMax = 1024

/** What a request is about. Without a bucket: the service. With a bucket only: the bucket. */
export interface Target {
  readonly bucket?: string
  /** The key's bytes, decoded exactly once and otherwise untouched: `..`, `//` and a trailing `/` are part of it. */
  readonly key?: Buffer
}

/** Splits a request target (the first line's second word) into path and query, as they were sent. */
export function splitTarget(target: string): { readonly rawPath: string; readonly rawQuery: string } {
  // A proxy request carries the whole URL (RFC 9112, 3.2.2).
  const absolute = /^https?:\/\/[^/?]*/i.exec(target)
  const rest = absolute === null ? target : target.slice(absolute[0].length)
  const question = rest.indexOf('?')
  const path = question < 0 ? rest : rest.slice(0, question)
  return { rawPath: path === '' ? '/' : path, rawQuery: question < 0 ? '' : rest.slice(question + 1) }
}

/**
 * Finds bucket and key: path style (`/bucket/key`), or virtual-hosted style (`/key`) where the host has named the bucket.
 */
export function readTarget(rawPath: string, hostBucket?: string): Target {
  const path = percentDecode(rawPath)
  if (path[0] !== slash) throw s3Error('InvalidURI', { message: 'The path of the request target must begin with "/".' })
  if (hostBucket !== undefined) return target(hostBucket, path.subarray(1))
  const end = path.indexOf(slash, 1)
  if (end < 0) return target(text(path.subarray(1)), undefined)
  return target(text(path.subarray(1, end)), path.subarray(end + 1))
}

/** A server's name as a domain, below which buckets are when it is of that style. */
export interface HostDomain {
  readonly name: string
  readonly isVirtualHosted: boolean
}

/**
 * The bucket that a host names: `bucket.s3.example.com`. A port, a trailing dot and upper case do not count. A host that is
 * the name of a server names no bucket, also where it lies below the name of another; of several, the longest counts.
 */
export function findHostBucket(host: string, domains: readonly HostDomain[]): string | undefined {
  const name = plainHost(host)
  let bucket: string | undefined
  for (const domain of domains) {
    const suffix = plainHost(domain.name)
    if (name === suffix) return undefined
    if (!domain.isVirtualHosted || suffix === '' || !name.endsWith(`.${suffix}`)) continue
    const found = name.slice(0, -suffix.length - 1)
    if (found !== '' && (bucket === undefined || found.length < bucket.length)) bucket = found
  }
  return bucket
}

function plainHost(host: string): string {
  const kept = plainHosts.get(host)
  if (kept !== undefined) return kept
  const plain = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  // Clients name few hosts, again and again. Strangers can name any: what is kept is bounded, and made anew when it is full.
  if (plainHosts.size >= plainHostsMax) plainHosts.clear()
  if (host.length <= hostCharactersMax) plainHosts.set(host, plain)
  return plain
}

const plainHosts = new Map<string, string>()
const plainHostsMax = 1000
/** A bucket's name, a server's, and a port. */
const hostCharactersMax = 330

const snapshotMark = '-s3snap-'
/** Longest name of a bucket with that of a snapshot behind it. */
const snapshotNameMax = 63 + snapshotMark.length + 255

/** Bucket and snapshot of `<bucket>-s3snap-<snapshot>`, as shipping systems name them since release 9.16.1. */
export function splitSnapshotName(name: string): { readonly bucket: string; readonly snapshot: string } | undefined {
  const at = name.indexOf(snapshotMark)
  const [bucket, snapshot] = [name.slice(0, at), name.slice(at + snapshotMark.length)]
  if (at < 0 || snapshot === '' || name.length > snapshotNameMax || bucketNameProblem(bucket) !== undefined) {
    return undefined
  }
  return { bucket, snapshot }
}

/** What may stand for a bucket in a request: its name, or that of one of its snapshots. */
export function checkBucketAddress(name: string): void {
  if (splitSnapshotName(name) === undefined) checkBucketName(name)
}

/** A name that no bucket can have is refused `InvalidBucketName`, whether it is to be made or only looked up. */
export function checkBucketName(name: string): void {
  const problem = bucketNameProblem(name)
  if (problem !== undefined) throw s3Error('InvalidBucketName', { message: problem, fields: { BucketName: name } })
}

/** Why a bucket cannot have this name, as a sentence. Amazon S3 User Guide, "Bucket naming rules". */
export function bucketNameProblem(name: string): string | undefined {
  if (name.length < 3 || name.length > 63) return 'A bucket name has 3 to 63 characters.'
  if (!/^[a-z0-9.-]+$/.test(name)) return 'A bucket name has lower-case letters, digits, dots and hyphens only.'
  if (!/^[a-z0-9].*[a-z0-9]$/.test(name)) return 'A bucket name begins and ends with a letter or a digit.'
  if (name.includes('..')) return 'A bucket name cannot have two dots next to each other.'
  if (name.includes('.-') || name.includes('-.')) return 'A bucket name cannot have a dot next to a hyphen.'
  if (/^\d+\.\d+\.\d+\.\d+$/.test(name)) return 'A bucket name cannot look like an IP address.'
  return undefined
}

/** Checks a key from any source: a path, a form, or a document. */
export function checkKey(key: Uint8Array): void {
  if (key.length > keyBytesMax) {
    throw s3Error('KeyTooLongError', { fields: { Size: String(key.length), MaxSizeAllowed: String(keyBytesMax) } })
  }
  if (!isUtf8(key)) throw s3Error('InvalidURI', { message: 'The object key is not valid UTF-8.' })
  if (key.includes(0)) throw s3Error('InvalidURI', { message: 'An object key cannot have a NUL character.' })
}

/** Whether this could be the name of a version. */
export function isVersionId(version: string): boolean {
  return version === 'null' || isId(version)
}

/** Refuses what cannot be the name of a version, as Amazon does. What could be one is looked for. */
export function checkVersionId(version: string): void {
  if (isVersionId(version)) return
  const message = version === '' ? 'Version id cannot be the empty string' : 'Invalid version id specified'
  throw invalidArgument(message, 'versionId', version)
}

/**
 * A copy source: `bucket/key`, with or without a leading slash, percent-encoded, and maybe `?versionId=…`.
 * Some clients encode the slash between bucket and key too, so it is split after decoding.
 */
export function readCopySource(header: string): { bucket: string; key: Buffer; versionId: string | undefined } {
  // A `?` in the key is encoded as %3F, so the first bare one begins the version.
  const question = header.indexOf('?')
  const rawPath = question < 0 ? header : header.slice(0, question)
  const version = question < 0 ? undefined : /^versionId=([^&]*)$/.exec(header.slice(question + 1))?.[1]
  const decoded = decodedSource(rawPath, header)
  const path = decoded[0] === slash ? decoded.subarray(1) : decoded
  const end = path.indexOf(slash)
  if (end <= 0 || end === path.length - 1 || (question >= 0 && version === undefined)) {
    throw s3Error('InvalidArgument', {
      message: 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey',
      fields: { ArgumentName: 'x-amz-copy-source', ArgumentValue: header },
    })
  }
  const key = path.subarray(end + 1)
  checkKey(key)
  const bucket = text(path.subarray(0, end))
  checkBucketAddress(bucket)
  return { bucket, key, versionId: version === undefined ? undefined : percentDecode(version).toString('utf8') }
}

function decodedSource(rawPath: string, header: string): Buffer {
  try {
    return percentDecode(rawPath)
  } catch {
    throw invalidArgument('The x-amz-copy-source is not percent-encoded as it should be.', 'x-amz-copy-source', header)
  }
}

/** `encoding-type=url` in listings: as in signatures, but `/` stays, which is what SDKs decode and people can read. */
export function urlEncodedKey(key: Uint8Array): string {
  return percentEncode(key, { keepSlash: true })
}

const slash = 0x2f

function target(bucket: string, key: Buffer | undefined): Target {
  if (bucket === '') {
    if (key === undefined || key.length === 0) return {}
    throw s3Error('InvalidBucketName', { fields: { BucketName: '' } })
  }
  if (key === undefined || key.length === 0) return { bucket }
  checkKey(key)
  return { bucket, key }
}

function text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw s3Error('InvalidURI', { message: 'The bucket name is not valid UTF-8.' })
  return bytes.toString('utf8')
}
