/** What is counted of a request beside its operation: how it was signed, and what policies said of it. */
import type { Noted } from '../../core/metrics/server-counters.ts'
import type { Verified } from '../auth/sigv4.ts'
import type { S3Error } from '../errors.ts'
import { headerValue, type RequestHeaders } from '../request/headers.ts'
import type { Decision } from '../policy/statements.ts'
import type { User } from '../tenancy/records.ts'

export function notedOfSignature(verified: Verified<User>): Noted[] {
  const noted: Noted[] = []
  if (verified.kind === 'signed') noted.push('signature_v4_requests')
  if (verified.kind === 'signed' && verified.by === 'query') noted.push('presigned_url_requests')
  if (verified.payload.kind === 'chunked') noted.push('chunked_upload_requests')
  return noted
}

/** Clients of long ago: `AWS <key>:<signature>`, or the same in the URL. */
export function isSignedByVersion2(headers: RequestHeaders, query: ReadonlyMap<string, string>): boolean {
  return headerValue(headers, 'authorization')?.startsWith('AWS ') === true || query.has('AWSAccessKeyId')
}

export function notedOfDecision(decision: Decision, caller: User | undefined, hasGroups: boolean): Noted[] {
  const noted: Noted[] = hasGroups ? ['group_policy_evaluated'] : []
  if (decision === 'allow') return [...noted, caller === undefined ? 'anonymous_access' : 'allow_access']
  if (caller === undefined) noted.push('anonymous_deny_access')
  return [...noted, decision === 'deny' ? 'explicit_deny_access' : 'default_deny_access']
}

/** Documents that are not what they are to be. */
export function isUnreadable(failure: S3Error | undefined): boolean {
  return failure?.code === 'MalformedXML'
}
