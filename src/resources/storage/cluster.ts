/** The space of all aggregates together. Aggregates that lie on the same disk share its bytes, which count once. */
import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { bytes, decimal, percent } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import { DisksSeen, spaceOf } from './aggregates/space.ts'
import { ratio } from './volumes/efficiency.ts'

const storageClusterResource = resource({
  path: '/storage/cluster',
  noun: 'storage of the cluster',
  doc: 'The space of the whole cluster: sums over its aggregates.',
  key: [],
  nameWithin: false,
  fields: {
    ...groups({
      block_storage: 'The space on the disks of the cluster.',
      cloud_storage: 'The space in cloud tiers.',
      efficiency: 'The savings of storage efficiency in the cluster.',
    }),
    'block_storage.size': { doc: 'Bytes of all disks that volumes may use.', kind: bytes() },
    'block_storage.used': { doc: 'Bytes of all disks that are in use or guaranteed to volumes.', kind: bytes() },
    'block_storage.available': { doc: 'Bytes of all disks that new data or guarantees can have.', kind: bytes() },
    'block_storage.physical_used': { doc: 'Bytes that all volumes are stored in.', kind: bytes(), since: '9.10.1' },
    'block_storage.physical_used_percent': {
      doc: 'Bytes that all volumes are stored in, in percent of the size.',
      kind: percent(),
      since: '9.11.1',
    },
    'cloud_storage.used': { doc: 'Bytes in cloud tiers. Always 0, as there is no cloud tier.', kind: bytes() },
    'efficiency.logical_used': {
      doc: 'Logical bytes in all volumes: shared data counts for each object that uses it.',
      kind: bytes(),
    },
    'efficiency.savings': { doc: 'Bytes that compression and deduplication save.', kind: bytes() },
    'efficiency.ratio': { doc: 'The ratio of logical to physical bytes.', kind: decimal() },
  },
})

export const storageCluster: Behaviour<typeof storageClusterResource> = define(storageClusterResource, {
  rows: async (cluster) => [await clusterSpace(cluster)],
})

async function clusterSpace(cluster: Cluster): Promise<Row> {
  const disks = new Set<string>()
  let [size, available, stored, whole] = [0, 0, 0, 0]
  const seen = new DisksSeen(cluster)
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    const uuid = aggregate['uuid']
    const [disk, space] = [await seen.diskOf(uuid), await spaceOf(cluster, uuid, seen)]
    stored += space.storedBytes
    if (disk === undefined || disks.has(disk.disk)) continue
    disks.add(disk.disk)
    size += space.sizeBytes
    available += space.availableBytes
  }
  for (const sums of (await cluster.volumeSums.all()).values()) {
    whole += sums.usedBytes + sums.savedByCompressionBytes + sums.savedByDedupeBytes
  }
  return {
    'block_storage.size': exact(size),
    'block_storage.used': exact(size - available),
    'block_storage.available': exact(available),
    'block_storage.physical_used': exact(stored),
    'block_storage.physical_used_percent': size === 0 ? 0 : Math.round((stored / size) * 100),
    'cloud_storage.used': 0,
    'efficiency.logical_used': exact(whole),
    'efficiency.savings': exact(Math.max(0, whole - stored)),
    'efficiency.ratio': ratio(whole, stored),
  }
}

/** Sums of many sizes saturate where they would no longer be exact. */
const exact = (sum: number) => Math.min(sum, Number.MAX_SAFE_INTEGER)
