/** `/livez` and `/readyz` on the ports of the object store, for load balancers. */
import { hasCredentials } from './auth/sigv4.ts'
import type { Reply } from './call.ts'
import type { RequestHeaders } from './headers.ts'

export interface ServingState {
  /** The process lets requests finish and ends. */
  readonly isDraining: boolean
  /** The SVM runs, and a server of the port is enabled. */
  readonly isServed: boolean
}

/** Nothing where the request is for the object store: credentials mean a bucket of that name. */
export function answerHealth(
  { isDraining, isServed }: ServingState,
  method: string,
  rawPath: string,
  request: { readonly rawQuery: string; readonly headers: RequestHeaders },
): (Reply & { readonly status: number }) | undefined {
  if ((rawPath !== '/livez' && rawPath !== '/readyz') || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (hasCredentials(request)) return undefined
  const isDisabled = !isServed && rawPath === '/readyz'
  return {
    status: isDraining || isDisabled ? 503 : 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ status: isDraining ? 'draining' : isDisabled ? 'disabled' : 'ok' }),
  }
}
