import { type CorsMethod, corsMethods, type CorsRule } from '../../records/cors-rules.ts'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { children, findText, malformed, readXml, xmlDocument } from '../xml/xml.ts'
import type { XmlNode } from '../xml/xml.ts'
import { checkElements, findNumber } from './elements.ts'

export const corsRulesMax = 100
/** The whole document. Amazon S3 User Guide, "Elements of a CORS configuration". */
export const corsBytesMax = 64 * 1024
export const corsIdCharactersMax = 255

/** The body of PutBucketCors. */
export function readCors(body: Uint8Array): readonly CorsRule[] {
  if (body.length > corsBytesMax) throw s3Error('MaxMessageLengthExceeded')
  const root = readXml(body, 'CORSConfiguration')
  checkElements(root, ['CORSRule'])
  const rules = children(root, 'CORSRule')
  if (rules.length === 0) throw malformed('CORSConfiguration needs a CORSRule.')
  if (rules.length > corsRulesMax) {
    throw s3Error('InvalidRequest', {
      message: `The number of CORS rules should not exceed allowed limit of ${corsRulesMax} rules.`,
    })
  }
  const read = rules.map(readRule)
  const problem = read.map(corsRuleProblem).find((one) => one !== undefined)
  if (problem !== undefined) throw s3Error('InvalidRequest', { message: problem })
  return read
}

/** What Amazon says about a rule that it does not take, whichever way the rule came. */
export function corsRuleProblem(rule: {
  readonly id?: string
  readonly allowedOrigins: readonly string[]
  readonly allowedMethods: readonly string[]
  readonly allowedHeaders: readonly string[]
  readonly exposeHeaders: readonly string[]
}): string | undefined {
  if (rule.id !== undefined && rule.id.length > corsIdCharactersMax) {
    return `ID length should not exceed allowed limit of ${corsIdCharactersMax}`
  }
  const method = rule.allowedMethods.find((one) => !isCorsMethod(one))
  if (method !== undefined) {
    return `Found unsupported HTTP method in CORS config. Unsupported method is ${method}`
  }
  const origin = rule.allowedOrigins.find(hasTwoStars)
  if (origin !== undefined) return `AllowedOrigin "${origin}" can not have more than one wildcard.`
  const header = rule.allowedHeaders.find(hasTwoStars)
  if (header !== undefined) return `AllowedHeader "${header}" can not have more than one wildcard.`
  const unnamed = rule.allowedHeaders.find((one) => !token.test(one))
  if (unnamed !== undefined) return `AllowedHeader "${unnamed}" contains invalid character.`
  const exposed = rule.exposeHeaders.find((one) => one.includes('*'))
  if (exposed !== undefined) {
    return `ExposeHeader "${exposed}" contains wildcard. We currently do not support wildcard for ExposeHeader.`
  }
  // These names go out in headers, so they must be such.
  const bad = rule.exposeHeaders.find((one) => !token.test(one))
  return bad === undefined ? undefined : `ExposeHeader "${bad}" is not the name of a header.`
}

export function corsDocument(rules: readonly CorsRule[]): string {
  return xmlDocument('CORSConfiguration', {
    CORSRule: rules.map((rule) => ({
      ID: rule.id,
      AllowedMethod: rule.allowedMethods,
      AllowedOrigin: rule.allowedOrigins,
      AllowedHeader: rule.allowedHeaders,
      ExposeHeader: rule.exposeHeaders,
      MaxAgeSeconds: rule.maxAgeSeconds,
    })),
  })
}

/**
 * Answers a preflight: headers of the 200, or `AccessForbidden`. The first rule that allows origin, method and all headers
 * decides. `rules` is absent where the bucket has no configuration, or where there is no such bucket: nobody learns which.
 */
export function answerPreflight(
  rules: readonly CorsRule[] | undefined,
  headers: RequestHeaders,
  resource: 'BUCKET' | 'OBJECT' | 'SERVICE',
): Readonly<Record<string, string>> {
  const origin = headerValue(headers, 'origin')
  if (origin === undefined || origin === '') {
    throw badRequest('Insufficient information. Origin request header needed.')
  }
  const method = headerValue(headers, 'access-control-request-method')
  if (method === undefined || !isCorsMethod(method)) {
    throw badRequest(`Invalid Access-Control-Request-Method: ${method ?? 'null'}`)
  }
  const requested = requestedHeaders(headers)
  if (rules === undefined || rules.length === 0) {
    throw forbidden('CORSResponse: CORS is not enabled for this bucket.', method, resource)
  }
  const rule = rules.find((one) => allows(one, origin, method, requested))
  if (rule !== undefined) return allowed(rule, origin, requested)
  throw forbidden(
    'CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / ' +
      "Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
    method,
    resource,
  )
}

/**
 * Headers to add to the answer of any other request, failures too. A rule that does not fit adds nothing: it is the
 * browser that then keeps the answer from the page. `Vary` is there wherever rules are, as caches must not hand the answer
 * given to one origin, or to none, to another.
 */
export function corsHeaders(
  rules: readonly CorsRule[] | undefined,
  method: string,
  headers: RequestHeaders,
): Readonly<Record<string, string>> {
  if (rules === undefined || rules.length === 0) return {}
  const origin = headerValue(headers, 'origin')
  if (origin === undefined || origin === '') return { vary }
  // Amazon goes by the method that is asked for, if one is, also outside of a preflight.
  const asked = headerValue(headers, 'access-control-request-method') ?? method
  const requested = namesOf(headers)
  const rule = rules.find((one) => allows(one, origin, asked, requested))
  return rule === undefined ? { vary } : allowed(rule, origin, requested)
}

const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'
const token = /^[!#$%&'*+.^_`|~\w-]+$/
/** Headers one preflight may ask for. */
const requestedHeadersMax = 200

function readRule(node: XmlNode): CorsRule {
  checkElements(node, ['ID', 'AllowedMethod', 'AllowedOrigin', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds'])
  const texts = (name: string): string[] => children(node, name).map(({ text }) => text.trim())
  const id = findText(node, 'ID')
  const maxAgeSeconds = findNumber(node, 'MaxAgeSeconds')
  const allowedOrigins = texts('AllowedOrigin')
  const allowedMethods = texts('AllowedMethod')
  if (allowedOrigins.length === 0) throw malformed('CORSRule needs an AllowedOrigin.')
  if (allowedMethods.length === 0) throw malformed('CORSRule needs an AllowedMethod.')
  if (maxAgeSeconds !== undefined && (maxAgeSeconds < 0 || maxAgeSeconds > 0x7fff_ffff)) {
    throw malformed('MaxAgeSeconds is out of range.')
  }
  return {
    ...(id === undefined ? {} : { id }),
    allowedOrigins,
    // Those that are none are refused by name right after.
    allowedMethods: allowedMethods as CorsMethod[],
    allowedHeaders: texts('AllowedHeader'),
    exposeHeaders: texts('ExposeHeader'),
    ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
  }
}

function allows(rule: CorsRule, origin: string, method: string, requested: readonly string[]): boolean {
  return (
    rule.allowedMethods.some((one) => one === method) &&
    rule.allowedOrigins.some((pattern) => fits(pattern, origin)) &&
    requested.every((name) => rule.allowedHeaders.some((pattern) => fits(pattern.toLowerCase(), name)))
  )
}

function allowed(rule: CorsRule, origin: string, requested: readonly string[]): Readonly<Record<string, string>> {
  const isAnyOrigin = rule.allowedOrigins.find((pattern) => fits(pattern, origin)) === '*'
  return {
    'access-control-allow-origin': isAnyOrigin ? '*' : origin,
    'access-control-allow-methods': rule.allowedMethods.join(', '),
    ...(requested.length === 0 ? {} : { 'access-control-allow-headers': requested.join(', ') }),
    ...(rule.exposeHeaders.length === 0 ? {} : { 'access-control-expose-headers': rule.exposeHeaders.join(', ') }),
    ...(rule.maxAgeSeconds === undefined ? {} : { 'access-control-max-age': String(rule.maxAgeSeconds) }),
    // A browser refuses credentials together with `*`.
    ...(isAnyOrigin ? {} : { 'access-control-allow-credentials': 'true' }),
    vary,
  }
}

function requestedHeaders(headers: RequestHeaders): readonly string[] {
  const names = namesOf(headers)
  const bad = names.find((name) => !token.test(name))
  if (bad !== undefined || names.length > requestedHeadersMax) {
    throw badRequest(`Invalid Access-Control-Request-Headers: ${bad ?? 'too many'}`)
  }
  return names
}

function namesOf(headers: RequestHeaders): readonly string[] {
  return (headerValue(headers, 'access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
}

/** One star stands for any characters, none too. */
function fits(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*')
  if (star < 0) return pattern === text
  const tail = pattern.slice(star + 1)
  return text.length >= pattern.length - 1 && text.startsWith(pattern.slice(0, star)) && text.endsWith(tail)
}

function hasTwoStars(pattern: string): boolean {
  return pattern.indexOf('*') !== pattern.lastIndexOf('*')
}

function isCorsMethod(text: string): text is CorsMethod {
  return corsMethods.some((method) => method === text)
}

function badRequest(message: string): S3Error {
  return s3Error('BadRequest', { message })
}

function forbidden(message: string, method: string, resource: string): S3Error {
  return s3Error('AccessForbidden', { message, fields: { Method: method, ResourceType: resource } })
}
