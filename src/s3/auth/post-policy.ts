import { repeatedName } from '../../model/repeated-name.ts'
import { entityTooLarge, invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { requestHeaders } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { encodeHeaderText } from '../request/metadata.ts'
import { percentEncode } from '../request/percent.ts'
import { wellFormedText, xmlElement } from '../xml/xml.ts'
import { readIsoDate } from '../config/elements.ts'
import { algorithmName, readTimestamp } from './canonical.ts'
import type { Scope } from './canonical.ts'
import { otherSignatureVersion, queryMalformed, readCredential } from './credentials.ts'
import { provenKey, signatureMismatch } from './sigv4.ts'
import type { Account, Verifier } from './sigv4.ts'

/**
 * Uploads by a form of a web page. Whoever holds a key signs a policy, which says until when and with which fields somebody
 * else may upload. A form without a policy is anonymous. Amazon S3 API Reference, "Browser-based uploads using POST".
 */
export interface FormFields {
  /** By name in lower case. */
  readonly fields: ReadonlyMap<string, string>
  readonly fileName: string
}

export type VerifiedForm<A extends Account> =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'signed'
      readonly accessKey: string
      readonly account: A
      readonly scope: Scope
      readonly signedMs: number
      /** Base64, as it was signed. */
      readonly policy: string
    }

/** Finds out who signed the policy of a form. What the policy says is for `checkPostPolicy`. */
export async function verifyForm<A extends Account>(
  { fields }: FormFields,
  verifier: Verifier<A>,
): Promise<VerifiedForm<A>> {
  if (fields.has('awsaccesskeyid') || fields.has('signature')) throw otherSignatureVersion()
  const policy = fields.get('policy')
  const isSigned = signatureFields.some((name) => fields.has(name))
  if (!isSigned && policy === undefined) return { kind: 'anonymous' }
  if (policy === undefined) throw fieldMissing('policy')
  const [algorithm, credential, timestamp, signature] = signatureFields.map((name) => {
    const value = fields.get(name)
    if (value === undefined) throw fieldMissing(signatureFieldNames[name])
    return value
  }) as [string, string, string, string]
  if (algorithm !== algorithmName) throw queryMalformed(`X-Amz-Algorithm only supports "${algorithmName}"`)
  const { accessKey, scope } = readCredential(credential, (message) =>
    queryMalformed(`Error parsing the X-Amz-Credential parameter; ${message}`),
  )
  const signedMs = readTimestamp(timestamp)
  if (signedMs === undefined) {
    throw queryMalformed(`X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`)
  }
  if (timestamp.slice(0, 8) !== scope.date) {
    throw queryMalformed(
      `Invalid credential date "${scope.date}". This date is not the same as X-Amz-Date: "${timestamp.slice(0, 8)}".`,
    )
  }
  const [expected] = verifier.regions ?? []
  if (expected !== undefined && verifier.regions?.includes(scope.region) === false) {
    throw queryMalformed(
      `Error parsing the X-Amz-Credential parameter; the region '${scope.region}' is wrong; expecting '${expected}'`,
      { Region: expected },
    )
  }
  const account = await verifier.accountOf(accessKey)
  if (account === undefined) throw s3Error('InvalidAccessKeyId', { fields: { AWSAccessKeyId: accessKey } })
  if (fields.has('x-amz-security-token')) throw s3Error('InvalidToken')
  if (provenKey(account, scope, { text: policy, signature }, verifier) === undefined) {
    throw signatureMismatch({ AWSAccessKeyId: accessKey, StringToSign: policy, SignatureProvided: signature })
  }
  return { kind: 'signed', accessKey, account, scope, signedMs, policy }
}

export interface PostPolicy {
  readonly expirationMs: number
  readonly conditions: readonly PostCondition[]
}

export type PostCondition =
  | { readonly kind: 'eq' | 'starts-with'; readonly field: string; readonly value: string; readonly text: string }
  | { readonly kind: 'range'; readonly minBytes: number; readonly maxBytes: number }

export const postConditionsMax = 200

export function readPostPolicy(base64: string): PostPolicy {
  const { expiration, conditions } = policyFields(policyJson(base64))
  if (expiration === undefined) throw invalidPolicy('Policy missing expiration.')
  if (conditions === undefined) throw invalidPolicy('Policy missing conditions.')
  const expirationMs = typeof expiration === 'string' && expiration.includes('T') ? readIsoDate(expiration) : undefined
  if (expirationMs === undefined) throw invalidPolicy(`Invalid 'expiration' value: ${JSON.stringify(expiration)}`)
  if (!Array.isArray(conditions)) throw invalidPolicy("Invalid 'conditions' value: must be a List.")
  if (conditions.length > postConditionsMax) throw invalidPolicy(`At most ${postConditionsMax} conditions are allowed.`)
  return { expirationMs, conditions: conditions.map(readCondition) }
}

/**
 * Checks everything but the size of the file, and tells the limits of that. Every field must be covered by a condition,
 * and every condition must hold. The bucket is known from the address, and counts as a field.
 */
export function checkPostPolicy(
  policy: PostPolicy,
  form: FormFields,
  request: { readonly bucket: string; readonly nowMs: number },
): SizeRange {
  if (policy.expirationMs <= request.nowMs) throw denied('Policy expired.')
  const values = new Map(form.fields)
  values.set('bucket', request.bucket)
  if (values.has('key')) values.set('key', formKey(form))
  const covered = new Set<string>()
  let range: SizeRange = { minBytes: 0, maxBytes: Number.POSITIVE_INFINITY }
  for (const condition of policy.conditions) {
    if (condition.kind === 'range') {
      range = {
        minBytes: Math.max(range.minBytes, condition.minBytes),
        maxBytes: Math.min(range.maxBytes, condition.maxBytes),
      }
      continue
    }
    covered.add(condition.field)
    const value = values.get(condition.field) ?? ''
    const holds = condition.kind === 'eq' ? value === condition.value : value.startsWith(condition.value)
    if (!holds) throw denied(`Policy Condition failed: ${condition.text}`)
  }
  const extra = [...values.keys()].filter((name) => !covered.has(name) && !isFree(name))
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.join(', ')}`)
  return range
}

export interface SizeRange {
  readonly minBytes: number
  readonly maxBytes: number
}

/** Hands bytes on and fails as soon as there are too many, or at the end when there are too few. */
export async function* withinRange(file: AsyncIterable<Buffer>, range: SizeRange): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const piece of file) {
    sizeBytes += piece.length
    if (sizeBytes > range.maxBytes) throw entityTooLarge(sizeBytes, range.maxBytes)
    yield piece
  }
  if (sizeBytes < range.minBytes) {
    throw s3Error('EntityTooSmall', {
      fields: { ProposedSize: String(sizeBytes), MinSizeAllowed: String(range.minBytes) },
    })
  }
}

/** The key of the object, the name of the file in its place. It is not checked as a key yet. */
export function formKey({ fields, fileName }: FormFields): string {
  const key = fields.get('key')
  if (key === undefined) throw fieldMissing('key')
  const filled = key.replaceAll('${filename}', () => fileName)
  if (filled === '') {
    throw invalidArgument('User key must have a length greater than 0.', 'key', '')
  }
  return filled
}

/**
 * The fields as the headers that PutObject would have had: metadata, checksums, locks, storage class. `acl` is `x-amz-acl`.
 * `tagging`, which holds a document, and what belongs to the form itself stay out.
 */
export function formHeaders({ fields }: FormFields): RequestHeaders {
  const flat: string[] = []
  for (const [name, value] of fields) {
    const header = name === 'acl' ? 'x-amz-acl' : name
    if (!contentFields.has(header) && (!header.startsWith('x-amz-') || ownFields.has(header))) continue
    // A line end would begin another header, once it is sent back.
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
      throw invalidArgument('A field of the form cannot have control characters.', name, value)
    }
    flat.push(header, encodeHeaderText(value))
  }
  return requestHeaders(flat)
}

export interface StoredForm {
  /** URL of the object. */
  readonly location: string
  readonly bucket: string
  readonly key: string
  /** Without quotes. */
  readonly etag: string
}

export interface FormAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * What the page gets: a redirect if it asked for one that can be followed, otherwise the status it asked for, 204 if none
 * of those there are.
 */
export function formAnswer({ fields }: FormFields, stored: StoredForm): FormAnswer {
  const etag = `"${stored.etag}"`
  const headers = { etag }
  const redirect = redirectTo(fields.get('success_action_redirect') ?? fields.get('redirect'), stored)
  if (redirect !== undefined) return { status: 303, headers: { ...headers, location: redirect } }
  const withPlace = { ...headers, location: stored.location }
  const status = fields.get('success_action_status')?.trim()
  if (status === '201') return { status: 201, headers: withPlace, body: postResponse(stored) }
  return { status: status === '200' ? 200 : 204, headers: withPlace }
}

/** As Amazon's, it has no namespace. */
export function postResponse({ location, bucket, key, etag }: StoredForm): string {
  const content = { Location: location, Bucket: bucket, Key: wellFormedText(key), ETag: `"${etag}"` }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${xmlElement('PostResponse', content)}`
}

const signatureFieldNames: Readonly<Record<string, string>> = {
  'x-amz-algorithm': 'X-Amz-Algorithm',
  'x-amz-credential': 'X-Amz-Credential',
  'x-amz-date': 'X-Amz-Date',
  'x-amz-signature': 'X-Amz-Signature',
}
const signatureFields = Object.keys(signatureFieldNames)

const ownFields = new Set([...signatureFields, 'x-amz-security-token', 'x-amz-tagging'])
const contentFields = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-md5',
  'content-type',
  'expires',
])

/** Fields that need no condition. */
function isFree(name: string): boolean {
  return name === 'policy' || name === 'x-amz-signature' || name === 'file' || name.startsWith('x-ignore-')
}

function policyJson(base64: string): unknown {
  const bytes = Buffer.from(base64, 'base64')
  // Node passes over what is not base64; line ends and missing padding are all that clients leave in or out.
  const compact = base64.replaceAll(/\s/g, '').replace(/=+$/, '')
  if (bytes.toString('base64').replace(/=+$/, '') !== compact) throw invalidPolicy('Invalid base64 encoding.')
  let text: string
  let parsed: unknown
  try {
    text = plainEscapes(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    parsed = JSON.parse(text)
  } catch {
    throw invalidPolicy('Invalid JSON.')
  }
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw invalidPolicy(`"${repeated.slice(0, 80)}" is given twice.`)
  return parsed
}

/** Amazon has two escapes that JSON has not: `\$`, for a dollar that begins no variable, and `\v`. */
function plainEscapes(text: string): string {
  return text.replaceAll(/\\(.)/gs, (escape, letter) => (letter === '$' ? '$' : letter === 'v' ? '\\u000b' : escape))
}

/** Unlike the names of fields, these two are told apart by case. */
function policyFields(value: unknown): { readonly expiration?: unknown; readonly conditions?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidPolicy('Invalid JSON.')
  const unexpected = Object.keys(value).find((name) => name !== 'expiration' && name !== 'conditions')
  if (unexpected !== undefined) throw invalidPolicy(`Unexpected: '${unexpected}'`)
  return value
}

function readCondition(value: unknown): PostCondition {
  if (typeof value !== 'object' || value === null) {
    throw invalidPolicy('Invalid Condition: must be a List or an Object.')
  }
  const text = JSON.stringify(value)
  if (Array.isArray(value)) return readListCondition(value, text)
  const [entry, ...more] = Object.entries(value)
  if (entry === undefined || more.length > 0) {
    throw invalidPolicy('Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.')
  }
  const [field, wanted] = entry as [string, unknown]
  if (typeof wanted !== 'string') throw invalidPolicy('Invalid Simple-Condition: value must be a string.')
  return {
    kind: 'eq',
    field: field.toLowerCase(),
    value: wanted,
    text: `["eq", "$${field}", ${JSON.stringify(wanted)}]`,
  }
}

function readListCondition(list: readonly unknown[], text: string): PostCondition {
  const [operation, first, second] = list
  const kind = typeof operation === 'string' ? operation.toLowerCase() : ''
  if (list.length !== 3) throw invalidPolicy(`Invalid Condition: wrong number of arguments: ${text}`)
  if (kind === 'content-length-range') {
    const [minBytes, maxBytes] = [readBytes(first), readBytes(second)]
    if (minBytes === undefined || maxBytes === undefined) {
      throw invalidPolicy(`Invalid content-length-range: ${text}`)
    }
    return { kind: 'range', minBytes, maxBytes }
  }
  if (kind !== 'eq' && kind !== 'starts-with') throw invalidPolicy(`Unknown or invalid operation in Condition: ${text}`)
  if (typeof first !== 'string' || !first.startsWith('$') || typeof second !== 'string') {
    throw invalidPolicy(`Invalid Condition: ${text}`)
  }
  const field = first.slice(1)
  return {
    kind,
    field: field.toLowerCase(),
    value: second,
    text: `["${kind}", "$${field}", ${JSON.stringify(second)}]`,
  }
}

function readBytes(value: unknown): number | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** Only to pages: `javascript:` and its like would run in the name of the store. Others are as if they were not there. */
function redirectTo(wanted: string | undefined, { bucket, key, etag }: StoredForm): string | undefined {
  if (wanted === undefined || !/^https?:\/\//i.test(wanted) || !URL.canParse(wanted)) return undefined
  const url = new URL(wanted)
  const added = Object.entries({ bucket, key, etag: `"${etag}"` })
    .map(([name, value]) => `${name}=${percentEncode(Buffer.from(value, 'utf8'), { keepSlash: false })}`)
    .join('&')
  url.search = url.search === '' ? added : `${url.search}&${added}`
  return url.href
}

function fieldMissing(name: string | undefined): S3Error {
  return invalidArgument(
    `Bucket POST must contain a field named '${name ?? ''}'.  If it is specified, please check the order of the fields.`,
    name ?? '',
    '',
  )
}

function denied(why: string): S3Error {
  return s3Error('AccessDenied', { message: `Invalid according to Policy: ${why}` })
}

function invalidPolicy(why: string): S3Error {
  return s3Error('InvalidPolicyDocument', { message: `Invalid Policy: ${why}` })
}
