import type { DeleteCondition, WriteCondition } from '../../ports/catalog.ts'
import { readIsoDate } from '../config/elements.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from './headers.ts'
import type { RequestHeaders } from './headers.ts'

/** What conditions are evaluated against. */
export interface Validators {
  /** Without quotes. */
  readonly etag: string
  readonly modifiedMs: number
}

/** An entity tag list holds at most this many tags. */
export const etagsMax = 100

/**
 * Evaluates the conditions of GET and HEAD in the order of RFC 9110, 13.2.2, which is also what Amazon documents:
 *
 *     If-Match            given: fails → 412; holds → If-Unmodified-Since does not count
 *     If-Unmodified-Since changed since → 412
 *     If-None-Match       given: matches → 304; does not → If-Modified-Since does not count
 *     If-Modified-Since   not changed since → 304
 */
export function checkReadConditions(headers: RequestHeaders, object: Validators): 'proceed' | 'not-modified' {
  return evaluate(headers, '', object)
}

/** Conditions on the source of a copy: any that does not hold answers 412, as there is nothing to answer 304 with. */
export function checkCopySourceConditions(headers: RequestHeaders, source: Validators): void {
  if (evaluate(headers, 'x-amz-copy-source-', source) === 'not-modified') throw s3Error('PreconditionFailed')
}

/** `If-Range` (RFC 9110, 13.1.5): false means that the range no longer fits, so the whole object is to be sent. */
export function rangeStillFits(headers: RequestHeaders, object: Validators): boolean {
  const value = headerValue(headers, 'if-range')
  if (value === undefined) return true
  if (value.startsWith('W/')) return false
  const date = readHttpDate(value)
  return date === undefined ? unquoted(value) === object.etag : date === wholeSeconds(object.modifiedMs)
}

/**
 * The condition of a write, to be handed to the commit, where alone it can be checked without a race. Nothing when the
 * request has none. More is taken than Amazon does: If-None-Match with entity tags, If-Match `*`.
 */
export function writeCondition(headers: RequestHeaders): WriteCondition | undefined {
  const ifMatch = headerValue(headers, 'if-match')
  const ifNoneMatch = headerValue(headers, 'if-none-match')
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined
  return {
    ...(ifMatch === undefined ? {} : { ifMatch: readEtags('If-Match', ifMatch) }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: readEtags('If-None-Match', ifNoneMatch) }),
  }
}

/** The condition of DeleteObject, which may also name size and time (`x-amz-if-match-last-modified-time`). */
export function readDeleteCondition(headers: RequestHeaders): DeleteCondition | undefined {
  const size = headerValue(headers, 'x-amz-if-match-size')
  const time = headerValue(headers, 'x-amz-if-match-last-modified-time')
  const write = writeCondition(headers)
  if (write === undefined && size === undefined && time === undefined) return undefined
  return {
    ...write,
    ...(size === undefined ? {} : { ifSizeBytes: readSize('x-amz-if-match-size', size) }),
    ...(time === undefined ? {} : { ifModifiedMs: readTime('x-amz-if-match-last-modified-time', time) }),
  }
}

export function readSize(name: string, value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw invalidArgument('The size must be a number of bytes.', name, value)
  return Number(value)
}

/** An HTTP date, as in headers, or an ISO 8601 one, as in documents. */
export function readTime(name: string, value: string): number {
  const timeMs = readHttpDate(value) ?? readIsoDate(value)
  if (timeMs === undefined) throw invalidArgument('The time is not a date.', name, value)
  return timeMs
}

/** Entity tags without their quotes, or `*` alone. Clients send them quoted, bare, weak (`W/"…"`) and in lists. */
export function readEtags(name: string, value: string): readonly string[] {
  const etags: string[] = []
  for (const match of value.matchAll(etagPattern)) {
    const [, quoted, bare] = match
    if (quoted === undefined && bare === undefined) throw invalidArgument('The entity tags are not valid.', name, value)
    etags.push(quoted ?? bare ?? '')
    if (etags.length > etagsMax) throw invalidArgument(`At most ${etagsMax} entity tags may be given.`, name, value)
  }
  if (etags.length === 0) throw invalidArgument('An entity tag is needed.', name, value)
  return etags
}

/** Without quotes and without the mark of a weak tag: `"abc"` → `abc`. */
export function unquoted(etag: string): string {
  return /^(?:W\/)?"(.*)"$/s.exec(etag)?.[1] ?? etag
}

/** Milliseconds of an HTTP date in any of its three forms (RFC 9110, 5.6.7), or nothing when it is none. */
export function readHttpDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined
  // The oldest form, of C's asctime, names no zone and means GMT.
  const time = Date.parse(/GMT$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}

const httpDate = /^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? [\w :-]{15,24}$/i

// A tag in quotes, a bare one, or (third) anything else, which is refused.
const etagPattern = /(?:W\/)?"([^"]*)"|([^\s",]+)|"/g

function evaluate(headers: RequestHeaders, prefix: string, object: Validators): 'proceed' | 'not-modified' {
  const ifMatch = headerValue(headers, `${prefix}if-match`)
  const ifNoneMatch = headerValue(headers, `${prefix}if-none-match`)
  const modified = wholeSeconds(object.modifiedMs)

  if (ifMatch !== undefined) {
    if (!includes(readEtags(`${prefix}if-match`, ifMatch), object.etag)) throw failed('If-Match')
  } else {
    const since = dateOf(headers, `${prefix}if-unmodified-since`)
    if (since !== undefined && modified > since) throw failed('If-Unmodified-Since')
  }

  if (ifNoneMatch !== undefined) {
    return includes(readEtags(`${prefix}if-none-match`, ifNoneMatch), object.etag) ? 'not-modified' : 'proceed'
  }
  const since = dateOf(headers, `${prefix}if-modified-since`)
  return since !== undefined && modified <= since ? 'not-modified' : 'proceed'
}

function includes(etags: readonly string[], etag: string): boolean {
  return etags.includes('*') || etags.includes(etag)
}

/** A date that cannot be read is ignored (RFC 9110, 13.1.3). */
function dateOf(headers: RequestHeaders, name: string): number | undefined {
  const value = headerValue(headers, name)
  return value === undefined ? undefined : readHttpDate(value)
}

/** Dates in headers have seconds: an object changed within the second it names is not newer. */
function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000
}

function failed(condition: string): Error {
  return s3Error('PreconditionFailed', { fields: { Condition: condition } })
}
