import { s3Error } from '../errors.ts'
import { headerValue } from './headers.ts'
import type { RequestHeaders } from './headers.ts'

/** User metadata, names and values together, in bytes of UTF-8 (Amazon S3 User Guide, "User-defined object metadata"). */
export const userMetadataBytesMax = 2 * 1024
/** In bytes (Amazon S3 User Guide, "Setting an object redirect"). */
export const redirectBytesMax = 2 * 1024
/** System headers kept with an object, together. Keeps what is stored with an object within its bounds. */
export const contentHeadersBytesMax = 6 * 1024

export const defaultContentType = 'binary/octet-stream'

/** What a client said about an object, and gets back with it. Absent headers are absent here. */
export interface ObjectMetadata {
  readonly contentType: string
  readonly cacheControl?: string
  readonly contentDisposition?: string
  readonly contentEncoding?: string
  readonly contentLanguage?: string
  readonly expires?: string
  /** Where a web site of the bucket would send readers. It is kept and told; no web site is served. */
  readonly websiteRedirectLocation?: string
  /** Names in lower case without `x-amz-meta-`, values as text. */
  readonly user: Readonly<Record<string, string>>
}

/** Reads the metadata of PutObject, CreateMultipartUpload, or CopyObject with `REPLACE`. */
export function readMetadata(headers: RequestHeaders): ObjectMetadata {
  const content: Record<string, string> = {}
  let contentBytes = 0
  for (const [field, name] of Object.entries(contentHeaders)) {
    const raw = headerValue(headers, name)
    const value = name === 'content-encoding' ? withoutAwsChunked(raw) : raw
    if (value === undefined || value === '') continue
    content[field] = decodeHeaderText(value)
    contentBytes += value.length
  }
  if (contentBytes > contentHeadersBytesMax) throw s3Error('RequestHeaderSectionTooLarge')
  return {
    contentType: defaultContentType,
    ...content,
    ...readWebsiteRedirect(headers),
    user: readUserMetadata(headers),
  }
}

function readWebsiteRedirect(headers: RequestHeaders): Pick<ObjectMetadata, 'websiteRedirectLocation'> {
  const raw = headerValue(headers, websiteRedirectHeader)
  if (raw === undefined) return {}
  if (raw.length > redirectBytesMax) {
    throw s3Error('InvalidRedirectLocation', {
      message: `The website redirect location has at most ${redirectBytesMax} bytes.`,
    })
  }
  if (!/^(?:\/|https?:\/\/)/.test(raw)) throw s3Error('InvalidRedirectLocation')
  return { websiteRedirectLocation: decodeHeaderText(raw) }
}

/** Headers that answer GET and HEAD, in the form that goes out on the wire. */
export function metadataHeaders(metadata: ObjectMetadata): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const [field, name] of contentFields) {
    const value = metadata[field]
    if (value !== undefined) headers[name] = encodeHeaderText(value)
  }
  const { websiteRedirectLocation: redirect } = metadata
  if (redirect !== undefined) headers[websiteRedirectHeader] = encodeHeaderText(redirect)
  for (const [name, value] of Object.entries(metadata.user)) headers[`${userPrefix}${name}`] = encodeHeaderText(value)
  return headers
}

/**
 * The `response-*` parameters of GET and HEAD, by the header each replaces. Only a signed request may have them: an
 * anonymous one would let anyone serve another's object as a page of scripts.
 */
export function responseOverrides(
  query: ReadonlyMap<string, string>,
  request: { readonly isAnonymous: boolean },
): Readonly<Record<string, string>> {
  if (query.size === 0) return {}
  const overrides: Record<string, string> = {}
  for (const name of Object.values(contentHeaders)) {
    const value = query.get(`response-${name}`)
    if (value === undefined) continue
    if (request.isAnonymous) {
      throw s3Error('InvalidRequest', {
        message: 'Request specific response headers cannot be used for anonymous GET requests.',
      })
    }
    // A line end would begin another header.
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
      throw s3Error('InvalidArgument', {
        message: 'A response header cannot have control characters.',
        fields: { ArgumentName: `response-${name}`, ArgumentValue: value },
      })
    }
    overrides[name] = encodeHeaderText(value)
  }
  return overrides
}

/** `aws-chunked` is how the body travelled, not what it is: `gzip,aws-chunked` is kept as `gzip`, alone as nothing. */
export function withoutAwsChunked(contentEncoding: string | undefined): string | undefined {
  if (contentEncoding === undefined || !/aws-chunked/i.test(contentEncoding)) return contentEncoding
  const kept = contentEncoding
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked')
  return kept.length === 0 ? undefined : kept.join(',')
}

/**
 * Bytes of a header as text: UTF-8 where they are (Go, Rust and curl send it raw), otherwise one letter per byte. RFC 2047
 * words (`=?UTF-8?B?…?=`, as Java sends and Amazon answers) stay as they are: whoever sent them reads them.
 */
export function decodeHeaderText(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1')
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return latin1
  }
}

/** The way back: text goes out as UTF-8 bytes, also where it came as Latin-1, so that all readers see the same. */
export function encodeHeaderText(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const userPrefix = 'x-amz-meta-'
export const websiteRedirectHeader = 'x-amz-website-redirect-location'

const contentHeaders = {
  contentType: 'content-type',
  cacheControl: 'cache-control',
  contentDisposition: 'content-disposition',
  contentEncoding: 'content-encoding',
  contentLanguage: 'content-language',
  expires: 'expires',
} as const satisfies Readonly<Partial<Record<keyof ObjectMetadata, string>>>

const contentFields = Object.entries(contentHeaders) as readonly (readonly [keyof typeof contentHeaders, string])[]

function readUserMetadata(headers: RequestHeaders): Readonly<Record<string, string>> {
  const user: [string, string][] = []
  let size = 0
  for (const name of headers.keys()) {
    if (!name.startsWith(userPrefix)) continue
    const value = decodeHeaderText(headerValue(headers, name) ?? '')
    const bare = name.slice(userPrefix.length)
    size += Buffer.byteLength(bare) + Buffer.byteLength(value)
    user.push([bare, value])
  }
  if (size > userMetadataBytesMax) {
    throw s3Error('MetadataTooLarge', { fields: { Size: String(size), MaxSizeAllowed: String(userMetadataBytesMax) } })
  }
  return Object.fromEntries(user)
}
