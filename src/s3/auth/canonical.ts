import { createHmac, createSecretKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { trimBlanks } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { percentDecode, percentEncode } from '../request/percent.ts'
import type { QueryParameter } from '../request/query.ts'

/**
 * The two texts that Signature Version 4 signs. For `GET /a%20b?x=1` with two signed headers:
 *
 *     canonical request               string to sign
 *     ------------------------------  ----------------------------------------
 *     GET                             AWS4-HMAC-SHA256
 *     /a%20b                          20130524T000000Z
 *     x=1                             20130524/us-east-1/s3/aws4_request
 *     host:examplebucket              <hex SHA-256 of the canonical request>
 *     x-amz-date:20130524T000000Z
 *
 *     host;x-amz-date
 *     <x-amz-content-sha256>
 *
 * Amazon S3 API Reference, "Authenticating Requests (AWS Signature Version 4)". S3 differs from other services: the path
 * is not normalised, so `//` and `..` are signed as they are, and it is encoded once, not twice.
 */
export function canonicalRequest(request: {
  readonly method: string
  readonly rawPath: string
  readonly query: readonly QueryParameter[]
  readonly headers: RequestHeaders
  readonly signedHeaders: readonly string[]
  readonly payload: string
}): string {
  return [
    request.method,
    canonicalPath(request.rawPath),
    canonicalQuery(request.query),
    ...request.signedHeaders.map((name) => `${name}:${canonicalValue(request.headers.get(name) ?? [])}`),
    '',
    request.signedHeaders.join(';'),
    request.payload,
  ].join('\n')
}

export function stringToSign(timestamp: string, scope: Scope, canonical: string): string {
  return [algorithmName, timestamp, scopeText(scope), hexSha256(latin1Bytes(canonical))].join('\n')
}

/** What a signing key is good for: one day, region and service. */
export interface Scope {
  /** `20130524`, UTC. */
  readonly date: string
  readonly region: string
  readonly service: string
}

export const algorithmName = 'AWS4-HMAC-SHA256'
export const scopeEnd = 'aws4_request'

/** `20130524/us-east-1/s3/aws4_request` */
export function scopeText(scope: Scope): string {
  return `${scope.date}/${scope.region}/${scope.service}/${scopeEnd}`
}

/** As an object that keys are made into once: to make one takes longer than all the rest of a signature. */
export function signingKey(secret: string, scope: Scope): KeyObject {
  let key = hmac(`AWS4${secret}`, scope.date)
  for (const step of [scope.region, scope.service, scopeEnd]) key = hmac(key, step)
  return createSecretKey(key)
}

/** Hex HMAC-SHA256: the signature of a string to sign, of a chunk, or of the policy of a POST form. */
export function signatureOf(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('hex')
}

export function hexSha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/** `20130524T000000Z` */
export function timestampOf(date: Date): string {
  return date.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
}

/** Milliseconds of `20130524T000000Z`, or nothing when it is no such date. */
export function readTimestamp(text: string): number | undefined {
  // Requests that come in the same second have the same time.
  if (text === lastRead.text) return lastRead.time
  const time = parse(text)
  if (time !== undefined) lastRead = { text, time }
  return time
}

let lastRead: { readonly text: string; readonly time: number | undefined } = { text: '', time: undefined }

function parse(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second] = match
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(time) || timestampOf(new Date(time)) !== text ? undefined : time
}

/** What needs no encoding, and so is encoded already. */
const plainPath = /^[A-Za-z0-9\-._~/]*$/
const plainText = /^[A-Za-z0-9\-._~]*$/

function canonicalPath(rawPath: string): string {
  return plainPath.test(rawPath) ? rawPath : percentEncode(percentDecode(rawPath), { keepSlash: true })
}

/**
 * Sorted by the bytes of the encoded name, then of the encoded value. Encoded text is ASCII, so comparing strings is
 * comparing bytes. Names and values are compared apart: `a=` sorts before `a-b=`, although `-` sorts before `=`.
 */
function canonicalQuery(query: readonly QueryParameter[]): string {
  if (query.length === 0) return ''
  return query
    .map(({ name, value }) => [encodeText(name), encodeText(value)] as const)
    .toSorted(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** Several blanks in a row, or a tab: what is to become one blank. */
const hasRun = / {2}|\t/

/** Blanks around a value are dropped, several in a row become one, several values are joined with a comma. */
function canonicalValue(values: readonly string[]): string {
  const [only] = values
  if (values.length === 1 && only !== undefined && !hasRun.test(only)) return trimBlanks(only)
  return values.map((value) => trimBlanks(value).replaceAll(/[ \t]+/g, ' ')).join(',')
}

function encodeText(text: string): string {
  return plainText.test(text) ? text : percentEncode(Buffer.from(text, 'utf8'), { keepSlash: false })
}

/** Header values hold one character per byte, and what is signed are the bytes. All else in the request is ASCII. */
function latin1Bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest()
}
