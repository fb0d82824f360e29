import type { Cluster } from '../core/cluster.ts'

/**
 * The UUID of something that has a name and no record: the same each time, another one in another cluster. Of version 8,
 * which RFC 9562 leaves to whoever makes it.
 */
export function namedUuid(cluster: Cluster, name: string): string {
  const hex = Buffer.from(cluster.secrets.digest(`uuid of ${name}`), 'base64').toString('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}
