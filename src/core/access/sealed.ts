/** Secrets that have to be had back are kept under the cluster key, beside the field that they were given in. */
import type { Row, Value } from '../../model/value.ts'
import type { Cluster } from '../cluster.ts'

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
