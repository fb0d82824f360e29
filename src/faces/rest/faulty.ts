import type { Caller } from '../../core/verb.ts'
import { type Row, textOf } from '../../model/value.ts'
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
  const fault: Row | undefined = faults.isOn ? await faults.onRequest(method, target) : undefined
  if (fault === undefined) return undefined
  const { message = '', retry_after = null } = fault
  if (WRITES.has(method)) {
    const [path = ''] = target.split('?', 1)
    await face.actions.audit(caller, `${method} ${path}`, 'error', `fault on demand: ${textOf(message)}`)
  }
  return {
    status: Number(fault['status']),
    headers: {
      ...(retry_after === null ? {} : { 'retry-after': textOf(retry_after) }),
      'x-holdfast-fault': textOf(fault['uuid']),
    },
    body: { error: { message, code: dialect.errorCode(Number(fault['code'])) } },
  }
}
