/** `/livez` and `/readyz` on the ports of the object store, for load balancers. */
import { hasCredentials } from '../auth/sigv4.ts'
import type { Reply } from './call.ts'
import type { RequestHeaders } from '../request/headers.ts'

export interface ServingState {
  /** The process lets requests finish and ends. */
  readonly isDraining: boolean
  /** The SVM runs, and a server of the port is enabled. */
  readonly isServed: boolean
  /** Commits can be made, and the addresses that the environment gives are served. */
  readonly isReady: () => Promise<boolean>
}

export function mayAskForHealth(rawPath: string): boolean {
  return rawPath === '/livez' || rawPath === '/readyz'
}

/** Nothing where the request is for the object store: credentials mean a bucket of that name. */
export async function answerHealth(
  { isDraining, isServed, isReady }: ServingState,
  method: string,
  rawPath: string,
  request: { readonly rawQuery: string; readonly headers: RequestHeaders },
): Promise<(Reply & { readonly status: number }) | undefined> {
  if (!mayAskForHealth(rawPath) || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (hasCredentials(request)) return undefined
  const status = isDraining ? 'draining' : rawPath === '/livez' ? 'ok' : await readiness(isServed, isReady)
  return {
    status: status === 'ok' ? 200 : 503,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ status }),
  }
}

async function readiness(isServed: boolean, isReady: () => Promise<boolean>): Promise<'ok' | 'disabled' | 'not ready'> {
  if (!isServed) return 'disabled'
  return (await isReady()) ? 'ok' : 'not ready'
}
