/** Secrets that have to be had back are kept under the cluster key, beside the field that they were given in. */
import type { Row, Value } from '../../model/value.ts'
import type { Cluster } from '../cluster.ts'

/** What was sealed and is kept with a record, if anything is: `$password`. */
export function unsealed(cluster: Cluster, kept: Value | undefined): string | undefined {
  return typeof kept === 'string' && kept !== '' ? cluster.secrets.unseal(kept) : undefined
}

/**
 * The row with its secret fields sealed: `password` becomes `$password`. A secret that is null or empty is forgotten; one
 * that is not given stays as it was.
 */
export function sealSecrets(cluster: Cluster, type: string, row: Row): Row {
  const sealed: Record<string, Value> = { ...row }
  for (const [path, { kind }] of cluster.registry.resource(type).fields) {
    const given = row[path]
    if (kind.isSecret !== true || given === undefined) continue
    delete sealed[path]
    sealed[`$${path}`] = typeof given === 'string' && given !== '' ? cluster.secrets.seal(given) : null
  }
  return sealed
}
