import type { Caller } from '../../core/verb.ts'
import type { RestFace, RestReply, RestRequest } from './answer.ts'
import type { Dialect } from './dialects.ts'

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** The answer that a fault on demand gives; nothing where none hits. A write that one hits is in the audit trail. */
export async function faultOf(
  face: RestFace,
  { method, target }: Pick<RestRequest, 'method' | 'target'>,
  dialect: Dialect,
  caller: Caller,
): Promise<RestReply | undefined> {
  const { faults } = face.actions.cluster
  const fault = faults.isOn ? await faults.onRequest(method, target) : undefined
  if (fault === undefined) return undefined
  const { message = '', retry_after: retryAfter } = fault
  if (WRITES.has(method)) {
    const [path = ''] = target.split('?', 1)
    await face.actions.audit(caller, `${method} ${path}`, 'error', `fault on demand: ${message}`)
  }
  return {
    status: fault.status ?? 503,
    headers: {
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      'x-holdfast-fault': fault.uuid,
    },
    body: { error: { message, code: dialect.errorCode(fault.code ?? 0) } },
  }
}
