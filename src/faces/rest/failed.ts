/** The answer to a request that failed, whatever the cause. */
import { explainFailure } from '../../core/explain.ts'
import { describe } from '../../core/describe.ts'
import type { Failure } from '../../model/failure.ts'
import type { Json } from '../../model/value.ts'
import { MethodRefused } from '../requests/admission.ts'
import type { RestFace, RestReply, RestRequest } from './answer.ts'
import { statusOf, type Dialect } from './dialects.ts'

export function failed(face: RestFace, request: RestRequest, dialect: Dialect, cause: unknown): RestReply {
  const failure = explainFailure(cause)
  if (failure.kind === 'internal') {
    face.actions.cluster.log.error('A request failed.', {
      method: request.method,
      path: cut(request.target.split('?', 1)[0] ?? ''),
      cause: describe(cause),
    })
  }
  const { retryAfterSeconds } = failure
  return {
    status: statusOf(failure.kind, dialect),
    headers: {
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(failure instanceof MethodRefused ? { allow: failure.allowed.join(', ') } : {}),
      ...(failure.kind === 'unauthenticated' ? { 'www-authenticate': 'Basic realm="cluster", charset="UTF-8"' } : {}),
    },
    body: { error: printFailure(failure, dialect, request.headers) },
  }
}

export function printFailure(
  { message, code, target, givens }: Failure,
  dialect: Dialect,
  headers: RestRequest['headers'],
): Record<string, Json> {
  // For clients that word messages themselves: what stands in this one, by its place.
  const hasArguments = givens.length > 0 && headers['x-dot-error-arguments']?.toLowerCase() === 'true'
  return {
    message: cut(message),
    code: dialect.errorCode(code),
    ...(target === undefined ? {} : { target: cut(target) }),
    ...(hasArguments ? { arguments: givens.map((given, at) => ({ code: String(at + 1), message: cut(given) })) } : {}),
  }
}

/** Characters of what an error says. Messages quote what was given; errors stay small, whatever that was. */
export const ERROR_CHARACTERS_MAX = 2048

function cut(text: string): string {
  if (text.length <= ERROR_CHARACTERS_MAX) return text
  return `${text.slice(0, ERROR_CHARACTERS_MAX).replace(/[\ud800-\udbff]$/, '')}…`
}
