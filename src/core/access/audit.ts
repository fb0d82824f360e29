/** The audit trail: who did what, when, from where, and what became of it. */
import type { Change } from '../../ports/catalog.ts'
import { AUDIT_KEPT, type Cluster } from '../cluster.ts'

/** What an entry keeps of the request and of what became of it. */
const TEXT_CHARACTERS_MAX = 1024

export function auditEntry(
  cluster: Cluster,
  caller: { readonly user: string; readonly from: string },
  input: string,
  state: 'success' | 'error',
  message: string,
): Change {
  const [asked, told] = [input.slice(0, TEXT_CHARACTERS_MAX), message.slice(0, TEXT_CHARACTERS_MAX)]
  return {
    do: 'append-log',
    log: 'audit',
    timeMs: cluster.now(),
    body: { user: caller.user, location: caller.from, input: asked, state, message: told },
    keep: AUDIT_KEPT,
  }
}
