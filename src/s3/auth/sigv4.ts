import { timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readHttpDate } from '../request/conditions.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { queryParameters } from '../request/query.ts'
import type { QueryParameter } from '../request/query.ts'
import { canonicalRequest, readTimestamp, signatureOf, signingKey, stringToSign, timestampOf } from './canonical.ts'
import type { Scope } from './canonical.ts'
import {
  headerMalformed,
  otherSignatureVersion,
  queryMalformed,
  readAuthorization,
  readQueryClaim,
} from './credentials.ts'
import type { Claim } from './credentials.ts'
import { readAnonymousPayload, readPayload, unsignedPayload } from './payload.ts'
import type { Payload } from './payload.ts'

/** How far the clocks of client and server may be apart. */
export const clockSkewMs = 15 * 60 * 1000
/** Longest life of a presigned URL: a week. */
export const presignedSecondsMax = 604_800

/** A request as it came, nothing decoded. */
export interface SignedRequest {
  readonly method: string
  readonly rawPath: string
  readonly rawQuery: string
  readonly headers: RequestHeaders
}

/** Whom an access key belongs to. Callers add what they need; it comes back with the verified request. */
export interface Account {
  readonly secret: string
}

export interface Verifier<A extends Account> {
  readonly now: Date
  readonly accountOf: (accessKey: string) => Promise<A | undefined>
  /** Regions that scopes may name. Without it any is accepted. The first is the one a client is told to use. */
  readonly regions?: readonly string[]
  readonly signingKeys?: SigningKeys
}

export type Verified<A extends Account> =
  | { readonly kind: 'anonymous'; readonly payload: Payload }
  | {
      readonly kind: 'signed'
      readonly by: 'header' | 'query'
      readonly accessKey: string
      readonly account: A
      readonly scope: Scope
      /** `20130524T000000Z`, as signed. */
      readonly timestamp: string
      /** What the signatures of chunks begin with. */
      readonly seedSignature: string
      readonly signingKey: KeyObject
      readonly payload: Payload
    }

/**
 * Finds out who sent a request and that it arrived as it was sent. Without any credentials the request is anonymous; with
 * bad ones it is refused, never taken for anonymous. The body is not looked at: `payload` says what must be checked then.
 */
export async function verify<A extends Account>(request: SignedRequest, verifier: Verifier<A>): Promise<Verified<A>> {
  const query = queryParameters(request.rawQuery)
  const authorization = request.headers.get('authorization')
  const inQuery = query.find(({ name }) => queryCredentials.has(name))
  if (authorization !== undefined && inQuery !== undefined) {
    throw invalidArgument(
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or ' +
        'the Authorization header should be specified',
      'Authorization',
      authorization.join(','),
    )
  }
  if (authorization !== undefined) return verifyHeader(request, query, authorization, verifier)
  if (inQuery === undefined) return { kind: 'anonymous', payload: anonymousPayload(request.headers) }
  if (!query.some(({ name }) => name.startsWith('X-Amz-'))) throw otherSignatureVersion()
  return verifyQuery(request, query, verifier)
}

/** Whether the request carries credentials of any kind, good or bad. */
export function hasCredentials(request: Pick<SignedRequest, 'rawQuery' | 'headers'>): boolean {
  return (
    request.headers.has('authorization') ||
    queryParameters(request.rawQuery).some(({ name }) => queryCredentials.has(name))
  )
}

/** Signing keys of one process, each of about 300 bytes. */
const signingKeysMax = 10_000

/**
 * Keeps signing keys, which take four HMACs to make and live for a day. Bounded: the oldest go first. A key is kept once a
 * signature was right, so that strangers keep nothing. It is found by secret and scope, so a changed secret never meets
 * an old key.
 */
export class SigningKeys {
  readonly #keys = new Map<string, KeyObject>()
  readonly #keysMax: number

  constructor(keysMax = signingKeysMax) {
    this.#keysMax = keysMax
  }

  get size(): number {
    return this.#keys.size
  }

  find(secret: string, scope: Scope): KeyObject | undefined {
    return this.#keys.get(nameOfKey(secret, scope))
  }

  keep(secret: string, scope: Scope, key: KeyObject): void {
    this.#keys.set(nameOfKey(secret, scope), key)
    if (this.#keys.size <= this.#keysMax) return
    const [oldest] = this.#keys.keys()
    if (oldest !== undefined) this.#keys.delete(oldest)
  }
}

function nameOfKey(secret: string, { date, region, service }: Scope): string {
  return `${date}/${region}/${service}/${secret}`
}

/** The key of an account that has signed these, or nothing. */
export function provenKey(
  account: Account,
  scope: Scope,
  signed: { readonly text: string; readonly signature: string },
  { signingKeys }: Pick<Verifier<Account>, 'signingKeys'>,
): KeyObject | undefined {
  const kept = signingKeys?.find(account.secret, scope)
  const key = kept ?? signingKey(account.secret, scope)
  if (!sameSignature(signed.signature, signatureOf(key, signed.text))) return undefined
  if (kept === undefined) signingKeys?.keep(account.secret, scope, key)
  return key
}

/** Any of these means that the request wants to be known: Version 4 and, by its old names, Version 2. */
const queryCredentials = new Set([
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Signature',
  'AWSAccessKeyId',
  'Signature',
])

async function verifyHeader<A extends Account>(
  request: SignedRequest,
  query: readonly QueryParameter[],
  authorization: readonly string[],
  verifier: Verifier<A>,
): Promise<Verified<A>> {
  const [header = ''] = authorization
  if (authorization.length > 1) throw headerMalformed('there is more than one.')
  const claim = readAuthorization(header)
  const timestamp = headerTimestamp(request.headers)
  checkScope(claim.scope, timestamp, verifier.regions, headerMalformed)

  const time = readTimestamp(timestamp) ?? Number.NaN
  if (!(Math.abs(verifier.now.getTime() - time) <= clockSkewMs)) {
    throw s3Error('RequestTimeTooSkewed', {
      fields: {
        RequestTime: timestamp,
        ServerTime: verifier.now.toISOString(),
        MaxAllowedSkewMilliseconds: String(clockSkewMs),
      },
    })
  }

  const contentSha256 = headerValue(request.headers, 'x-amz-content-sha256')
  if (contentSha256 === undefined) {
    throw s3Error('InvalidRequest', { message: 'Missing required header for this request: x-amz-content-sha256' })
  }
  const payload = readPayload(contentSha256)
  const account = await findAccount(request, claim, verifier)
  const canonical = canonicalRequest({ ...request, query, signedHeaders: claim.signedHeaders, payload: contentSha256 })
  const key = checkSignature(account, claim, timestamp, canonical, verifier)
  checkAllSigned(request.headers, claim.signedHeaders)
  return { kind: 'signed', by: 'header', account, timestamp, signingKey: key, payload, ...known(claim) }
}

async function verifyQuery<A extends Account>(
  request: SignedRequest,
  query: readonly QueryParameter[],
  verifier: Verifier<A>,
): Promise<Verified<A>> {
  const parameter = (name: string): string => {
    const found = query.filter((one) => one.name === name)
    if (found.length === 1 && found[0] !== undefined) return found[0].value
    throw queryMalformed(
      found.length > 1
        ? `${name} is given more than once.`
        : 'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, ' +
            'X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
    )
  }
  const claim = readQueryClaim(parameter)
  const timestamp = parameter('X-Amz-Date')
  const signedMs = readTimestamp(timestamp)
  if (signedMs === undefined) {
    throw queryMalformed(`X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`)
  }
  checkScope(claim.scope, timestamp, verifier.regions, queryMalformed)
  checkLife(signedMs, readExpires(parameter('X-Amz-Expires')), parameter('X-Amz-Expires'), verifier.now)

  // The hash that was signed is that of a signed header or parameter. Without one it is UNSIGNED-PAYLOAD, and a header
  // that whoever uploads has added tells how the body travels.
  const header = headerValue(request.headers, 'x-amz-content-sha256')
  const signedHash = claim.signedHeaders.includes('x-amz-content-sha256')
    ? header
    : query.find(({ name }) => name.toLowerCase() === 'x-amz-content-sha256')?.value
  const payload = readPayload(header ?? signedHash ?? unsignedPayload)

  const account = await findAccount(request, claim, verifier)
  const canonical = canonicalRequest({
    ...request,
    query: query.filter(({ name }) => name !== 'X-Amz-Signature'),
    signedHeaders: claim.signedHeaders,
    payload: signedHash ?? unsignedPayload,
  })
  const key = checkSignature(account, claim, timestamp, canonical, verifier)
  checkAllSigned(request.headers, [...claim.signedHeaders, 'x-amz-content-sha256'])
  return { kind: 'signed', by: 'query', account, timestamp, signingKey: key, payload, ...known(claim) }
}

function known(claim: Claim): { accessKey: string; scope: Scope; seedSignature: string } {
  return { accessKey: claim.accessKey, scope: claim.scope, seedSignature: claim.signature }
}

/** `x-amz-date`, or `Date` in its place, as `20130524T000000Z`. */
function headerTimestamp(headers: RequestHeaders): string {
  const amazonDate = headerValue(headers, 'x-amz-date')
  if (amazonDate !== undefined && readTimestamp(amazonDate) !== undefined) return amazonDate
  const time = readHttpDate(amazonDate ?? headerValue(headers, 'date') ?? '')
  if (time === undefined) {
    throw s3Error('AccessDenied', { message: 'AWS authentication requires a valid Date or x-amz-date header' })
  }
  return timestampOf(new Date(time))
}

function checkScope(
  scope: Scope,
  timestamp: string,
  regions: readonly string[] | undefined,
  failure: (message: string, fields?: Readonly<Record<string, string>>) => S3Error,
): void {
  const [expected] = regions ?? []
  if (regions !== undefined && expected !== undefined && !regions.includes(scope.region)) {
    throw failure(`the region '${scope.region}' is wrong; expecting '${expected}'`, { Region: expected })
  }
  if (timestamp.slice(0, 8) !== scope.date) {
    throw failure(
      `Invalid credential date "${scope.date}". This date is not the same as X-Amz-Date: "${timestamp.slice(0, 8)}".`,
    )
  }
}

function readExpires(text: string): number {
  if (!/^-?\d+$/.test(text)) throw queryMalformed('X-Amz-Expires should be a number')
  if (text.startsWith('-')) throw queryMalformed('X-Amz-Expires must be non-negative')
  const seconds = Number(text)
  if (seconds < 1 || seconds > presignedSecondsMax) {
    throw queryMalformed(
      'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be at least 1 and less ' +
        `than ${presignedSecondsMax} seconds`,
    )
  }
  return seconds
}

function checkLife(signedMs: number, seconds: number, expires: string, now: Date): void {
  if (signedMs - now.getTime() > clockSkewMs) {
    throw s3Error('AccessDenied', {
      message: 'Request is not valid yet',
      fields: { 'X-Amz-Date': timestampOf(new Date(signedMs)), ServerTime: now.toISOString() },
    })
  }
  const endMs = signedMs + seconds * 1000
  if (now.getTime() > endMs) {
    throw s3Error('AccessDenied', {
      message: 'Request has expired',
      fields: { 'X-Amz-Expires': expires, Expires: new Date(endMs).toISOString(), ServerTime: now.toISOString() },
    })
  }
}

async function findAccount<A extends Account>(request: SignedRequest, claim: Claim, verifier: Verifier<A>): Promise<A> {
  const account = await verifier.accountOf(claim.accessKey)
  if (account === undefined) throw s3Error('InvalidAccessKeyId', { fields: { AWSAccessKeyId: claim.accessKey } })
  // There are no temporary credentials here, so a token belongs to keys of somewhere else.
  const hasToken =
    request.headers.has('x-amz-security-token') ||
    queryParameters(request.rawQuery).some(({ name }) => name === 'X-Amz-Security-Token')
  if (hasToken) throw s3Error('InvalidToken')
  return account
}

function checkSignature(
  account: Account,
  claim: Claim,
  timestamp: string,
  canonical: string,
  verifier: Pick<Verifier<Account>, 'signingKeys'>,
): KeyObject {
  const text = stringToSign(timestamp, claim.scope, canonical)
  const key = provenKey(account, claim.scope, { text, signature: claim.signature }, verifier)
  if (key !== undefined) return key
  throw signatureMismatch({
    AWSAccessKeyId: claim.accessKey,
    StringToSign: text,
    SignatureProvided: claim.signature,
    StringToSignBytes: hexBytes(text),
    CanonicalRequest: canonical,
    CanonicalRequestBytes: hexBytes(canonical),
  })
}

export function signatureMismatch(fields: Readonly<Record<string, string>>): S3Error {
  return s3Error('SignatureDoesNotMatch', { fields })
}

/** Takes the same time wherever the two differ. */
export function sameSignature(a: string, b: string): boolean {
  const [bytesA, bytesB] = [Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1')]
  return bytesA.length === bytesB.length && timingSafeEqual(bytesA, bytesB)
}

/**
 * Headers that change what a request does must be signed, or whoever relays it could add some. Checked after the
 * signature, so that only those who hold the secret learn about it. The SDK for JavaScript, awscli, s3cmd and
 * rclone sign every `x-amz-` header that they send (tried); `x-amzn-trace-id`, which proxies add, has another prefix.
 */
function checkAllSigned(headers: RequestHeaders, signedHeaders: readonly string[]): void {
  const missing: string[] = []
  for (const name of headers.keys()) if (name.startsWith('x-amz-') && !signedHeaders.includes(name)) missing.push(name)
  if (missing.length === 0) return
  throw s3Error('AccessDenied', {
    message: 'There were headers present in the request which were not signed',
    fields: { HeadersNotSigned: missing.join(', ') },
  })
}

function anonymousPayload(headers: RequestHeaders): Payload {
  const payload = readAnonymousPayload(headerValue(headers, 'x-amz-content-sha256') ?? unsignedPayload)
  if (payload.kind === 'chunked' && payload.isSigned) {
    throw s3Error('InvalidRequest', { message: 'A body in signed chunks needs a signed request.' })
  }
  return payload
}

/** `47 45 54`: lets people see the difference between blanks. */
function hexBytes(text: string): string {
  return Buffer.from(text, 'latin1')
    .toString('hex')
    .replaceAll(/(..)(?=.)/g, '$1 ')
}
