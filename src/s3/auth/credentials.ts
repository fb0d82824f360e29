import { invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { algorithmName, scopeEnd } from './canonical.ts'
import type { Scope } from './canonical.ts'

/** The longest region that a scope may name. Those of Amazon have below 20 characters. */
export const scopeRegionCharactersMax = 64
/** The longest access key that a user can have. */
const accessKeyCharactersMax = 128

/** What a request says about its signature, before anything of it was verified. */
export interface Claim {
  readonly accessKey: string
  readonly scope: Scope
  readonly signedHeaders: readonly string[]
  readonly signature: string
}

/** Reads `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`. */
export function readAuthorization(header: string): Claim {
  // Requests of one client differ in the signature alone, which comes last.
  const beforeSignature = header.slice(0, -signatureCharacters)
  const signature = header.slice(-signatureCharacters)
  const kept = readBefore.get(beforeSignature)
  if (kept !== undefined && signatureProblem(signature) === undefined) return { ...kept, signature }
  const claim = read(header)
  if (beforeSignature.length <= keptCharactersMax && beforeSignature.endsWith('Signature=')) {
    // Strangers can fill it with what only they send: it is bounded, and begun anew when it is full.
    if (readBefore.size >= keptMax) readBefore.clear()
    const { accessKey, scope, signedHeaders } = claim
    readBefore.set(beforeSignature, { accessKey, scope, signedHeaders })
  }
  return claim
}

const signatureCharacters = 64
const keptMax = 1000
const keptCharactersMax = 512
/** What authorizations say but for the signature at their end. */
const readBefore = new Map<string, Omit<Claim, 'signature'>>()

function read(header: string): Claim {
  const blank = header.indexOf(' ')
  const scheme = blank < 0 ? header : header.slice(0, blank)
  if (scheme === 'AWS' || scheme === 'AWS4-ECDSA-P256-SHA256') throw otherSignatureVersion()
  if (scheme !== algorithmName) throw invalidArgument('Unsupported Authorization Type', 'Authorization', scheme)

  const parts = new Map<string, string>()
  for (const part of header.slice(scheme.length).split(',')) {
    const text = part.trim()
    const equals = text.indexOf('=')
    if (text === '') continue
    if (equals < 0 || parts.has(text.slice(0, equals))) throw headerMalformed(componentsNeeded)
    parts.set(text.slice(0, equals), text.slice(equals + 1))
  }
  const credential = parts.get('Credential')
  const signedHeaders = parts.get('SignedHeaders')
  const signature = parts.get('Signature')
  if (credential === undefined || signedHeaders === undefined || signature === undefined || parts.size > 3) {
    throw headerMalformed(componentsNeeded)
  }
  const problem = signatureProblem(signature) ?? signedHeadersProblem(signedHeaders)
  if (problem !== undefined) throw headerMalformed(problem)
  return { ...readCredential(credential, headerMalformed), signedHeaders: signedHeaders.split(';'), signature }
}

/** Reads the `X-Amz-…` parameters of a presigned URL that say who signed what. */
export function readQueryClaim(parameter: (name: string) => string): Claim {
  if (parameter('X-Amz-Algorithm') !== algorithmName) {
    throw queryMalformed(`X-Amz-Algorithm only supports "${algorithmName}"`)
  }
  const signature = parameter('X-Amz-Signature')
  const signedHeaders = parameter('X-Amz-SignedHeaders')
  const problem = signatureProblem(signature) ?? signedHeadersProblem(signedHeaders)
  if (problem !== undefined) throw queryMalformed(problem)
  return {
    ...readCredential(parameter('X-Amz-Credential'), (message) =>
      queryMalformed(`Error parsing the X-Amz-Credential parameter; ${message}`),
    ),
    signedHeaders: signedHeaders.split(';'),
    signature,
  }
}

/** `AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request`; an access key may have slashes of its own. */
export function readCredential(
  credential: string,
  failure: (message: string) => S3Error,
): { readonly accessKey: string; readonly scope: Scope } {
  const parts = credential.split('/')
  const [date = '', region = '', service = '', end = ''] = parts.slice(-4)
  const accessKey = parts.slice(0, -4).join('/')
  if (accessKey === '' || accessKey.length > accessKeyCharactersMax) {
    throw failure('the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".')
  }
  if (!/^\d{8}$/.test(date)) {
    throw failure(`incorrect date format "${date}". This date in the credential must be in the format "yyyyMMdd".`)
  }
  if (region === '') throw failure('the region is missing from the Credential.')
  if (region.length > scopeRegionCharactersMax || !/^[\w.-]+$/.test(region)) {
    throw failure(`the region has at most ${scopeRegionCharactersMax} letters, digits, dots, hyphens and underscores.`)
  }
  if (service !== 's3') throw failure(`incorrect service "${service}". This endpoint belongs to "s3".`)
  if (end !== scopeEnd) throw failure(`incorrect terminal "${end}". This endpoint uses "${scopeEnd}".`)
  return { accessKey, scope: { date, region, service } }
}

export function headerMalformed(message: string, fields?: Readonly<Record<string, string>>): S3Error {
  return s3Error('AuthorizationHeaderMalformed', {
    message: `The authorization header is malformed; ${message}`,
    ...(fields === undefined ? {} : { fields }),
  })
}

export function queryMalformed(message: string, fields?: Readonly<Record<string, string>>): S3Error {
  return s3Error('AuthorizationQueryParametersError', { message, ...(fields === undefined ? {} : { fields }) })
}

/** Signature Version 2 and 4A, by header or by query. */
export function otherSignatureVersion(): S3Error {
  return s3Error('InvalidRequest', {
    message: `The authorization mechanism you have provided is not supported. Please use ${algorithmName}.`,
  })
}

const componentsNeeded = 'the authorization header requires three components: Credential, SignedHeaders, and Signature.'

function signatureProblem(signature: string): string | undefined {
  return /^[0-9a-f]{64}$/.test(signature) ? undefined : 'the Signature must be 64 lower-case hex digits.'
}

/** Names are listed once each: a repeated one would let a small request make a large canonical request. */
function signedHeadersProblem(text: string): string | undefined {
  const names = text.split(';')
  if (!names.every((name) => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) || new Set(names).size !== names.length) {
    return 'the SignedHeaders must be lower-case header names, each once, separated by semicolons.'
  }
  return names.includes('host') ? undefined : 'the host header must be one of the SignedHeaders.'
}
