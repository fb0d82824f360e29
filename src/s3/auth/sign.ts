import type { KeyObject } from 'node:crypto'
import { headersOf } from '../request/headers.ts'
import { percentEncode } from '../request/percent.ts'
import { queryParameters } from '../request/query.ts'
import {
  algorithmName,
  canonicalRequest,
  scopeText,
  signatureOf,
  signingKey,
  stringToSign,
  timestampOf,
} from './canonical.ts'
import type { Scope } from './canonical.ts'
import { emptySha256, unsignedPayload } from './payload.ts'

/** The client's side: signs requests for the shell, the console and tests. */
export interface RequestToSign {
  readonly method: string
  /** Percent-encoded as it will be sent. */
  readonly rawPath: string
  readonly rawQuery?: string
  /** Must have `host`. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>
}

export interface SigningIdentity {
  readonly accessKey: string
  readonly secret: string
  readonly region: string
}

export interface Signature {
  /** The given headers with `x-amz-date`, `x-amz-content-sha256` and `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  /** For the signatures of chunks. */
  readonly seedSignature: string
  readonly signingKey: KeyObject
  readonly scope: Scope
  readonly timestamp: string
}

/** Signs with the `Authorization` header. `payload` is the hex SHA-256 of the body, or one of the names in payload.ts. */
export function sign(
  request: RequestToSign,
  identity: SigningIdentity,
  now: Date,
  payload: string = emptySha256,
): Signature {
  const timestamp = timestampOf(now)
  const scope = { date: timestamp.slice(0, 8), region: identity.region, service: 's3' }
  const headers: Record<string, string> = { 'x-amz-date': timestamp, 'x-amz-content-sha256': payload }
  for (const [name, value] of Object.entries(request.headers)) headers[name.toLowerCase()] = value
  const signedHeaders = Object.keys(headers).toSorted()
  const canonical = canonicalRequest({
    method: request.method,
    rawPath: request.rawPath,
    query: queryParameters(request.rawQuery ?? ''),
    headers: headersOf(headers),
    signedHeaders,
    payload,
  })
  const key = signingKey(identity.secret, scope)
  const seedSignature = signatureOf(key, stringToSign(timestamp, scope, canonical))
  const authorization =
    `${algorithmName} Credential=${identity.accessKey}/${scopeText(scope)}, ` +
    `SignedHeaders=${signedHeaders.join(';')}, Signature=${seedSignature}`
  return { headers: { ...headers, authorization }, seedSignature, signingKey: key, scope, timestamp }
}

/** The query of a presigned URL: whoever has it may do this one thing until it expires. Does not sign the body. */
export function presign(
  request: RequestToSign,
  identity: SigningIdentity,
  options: { readonly now: Date; readonly expiresSeconds: number },
): string {
  const timestamp = timestampOf(options.now)
  const scope = { date: timestamp.slice(0, 8), region: identity.region, service: 's3' }
  const headers = headersOf(request.headers)
  const signedHeaders = [...headers.keys()].toSorted()
  const added = {
    'X-Amz-Algorithm': algorithmName,
    'X-Amz-Credential': `${identity.accessKey}/${scopeText(scope)}`,
    'X-Amz-Date': timestamp,
    'X-Amz-Expires': String(options.expiresSeconds),
    'X-Amz-SignedHeaders': signedHeaders.join(';'),
  }
  const rawQuery = [
    ...(request.rawQuery === undefined || request.rawQuery === '' ? [] : [request.rawQuery]),
    ...Object.entries(added).map(
      ([name, value]) => `${name}=${percentEncode(Buffer.from(value), { keepSlash: false })}`,
    ),
  ].join('&')
  const canonical = canonicalRequest({
    method: request.method,
    rawPath: request.rawPath,
    query: queryParameters(rawQuery),
    headers,
    signedHeaders,
    payload: unsignedPayload,
  })
  const signature = signatureOf(signingKey(identity.secret, scope), stringToSign(timestamp, scope, canonical))
  return `${rawQuery}&X-Amz-Signature=${signature}`
}

/**
 * The fields that let somebody else upload by a form: the given ones, the policy that fixes them, and its signature.
 * `conditions` are those for what the page adds.
 */
export function signForm(
  form: {
    readonly bucket: string
    readonly fields: Readonly<Record<string, string>>
    readonly conditions?: readonly unknown[]
  },
  identity: SigningIdentity,
  options: { readonly now: Date; readonly expiresSeconds: number },
): Readonly<Record<string, string>> {
  const timestamp = timestampOf(options.now)
  const scope = { date: timestamp.slice(0, 8), region: identity.region, service: 's3' }
  const fields = {
    ...form.fields,
    'x-amz-algorithm': algorithmName,
    'x-amz-credential': `${identity.accessKey}/${scopeText(scope)}`,
    'x-amz-date': timestamp,
  }
  const fixed = Object.entries({ bucket: form.bucket, ...fields }).map(([name, value]) =>
    // What is compared is the key with the name of the file in it.
    value.endsWith('${filename}')
      ? ['starts-with', `$${name}`, value.slice(0, -'${filename}'.length)]
      : { [name]: value },
  )
  const text = JSON.stringify({
    expiration: new Date(options.now.getTime() + options.expiresSeconds * 1000).toISOString(),
    conditions: [...fixed, ...(form.conditions ?? [])],
  })
  const policy = Buffer.from(text).toString('base64')
  return { ...fields, policy, 'x-amz-signature': signatureOf(signingKey(identity.secret, scope), policy) }
}
