/** What an SVM allows of its volumes and clients, and whether it has room for another volume. */
import type { Cluster } from '../../core/cluster.ts'
import { failures } from '../../model/failure.ts'
import { flag } from '../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'

export const UNLIMITED = 'unlimited'

/** The protocols by which clients may be served, and whether an SVM allows them unless it is said. */
const PROTOCOLS = [
  ['nfs', true, '9.9.1'],
  ['cifs', true, '9.9.1'],
  ['iscsi', false, '9.9.1'],
  ['fcp', false, '9.9.1'],
  ['nvme', false, '9.9.1'],
  ['ndmp', false, '9.10.1'],
] as const

export const serviceFields: Readonly<Record<string, FieldDeclaration>> = Object.fromEntries(
  PROTOCOLS.map(([protocol, isUsual, since]) => [
    `${protocol}.allowed`,
    {
      doc: `Whether it may serve by ${protocol.toUpperCase()}. Kept.`,
      kind: flag(),
      set: 'always',
      default: isUsual,
      since,
    } satisfies FieldDeclaration,
  ]),
)

/** The snapshot policy of an SVM that names none. */
export async function usualPolicy(cluster: Cluster): Promise<Row> {
  return { 'snapshot_policy.uuid': (await cluster.keyOfName('storage/snapshot-policies', 'default')) ?? null }
}

/** Fails when the SVM may not have so many more volumes. */
export async function insistOnRoom(cluster: Cluster, svm: Row | undefined, more = 1): Promise<void> {
  const most = textAt(svm, 'max_volumes') || UNLIMITED
  if (svm === undefined || most === UNLIMITED) return
  const volumes = await cluster.rows('storage/volumes', textAt(svm, 'uuid'))
  if (volumes.length + more <= Number(most)) return
  throw failures.inUse(`The SVM "${textAt(svm, 'name')}" has ${volumes.length} volumes, and may have ${most}.`)
}
