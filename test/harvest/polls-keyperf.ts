/** What the templates of the collector `KeyPerf` of NetApp Harvest ask: totals of operations, by what they belong to. */
import type { Poll } from './polls.ts'

const ops = ['read', 'write', 'other', 'total']
const raw = (figure: string, words: readonly string[] = ops) => words.map((of) => `statistics.${figure}_raw.${of}`)
const OPERATIONS = [...raw('iops'), ...raw('latency'), ...raw('throughput')].join(' ')
const MEASURED = {
  times: 'statistics.timestamp',
  hidden: 'statistics',
  filters: ['statistics.timestamp=!"-"'],
} as const
const NFS_OPERATIONS = ['access', 'getattr', 'lookup', 'read', 'setattr', 'write']
  .flatMap((of) => [`statistics.nfs_ops_raw.${of}.count`, `statistics.nfs_ops_raw.${of}.total_time`])
  .join(' ')

/** The templates of this collector are for releases from 9.15 on, but for those of volumes. */
const since = '9.15.1'

export const keyPerf: readonly Poll[] = [
  {
    of: 'KeyPerf Aggregate',
    path: 'storage/aggregates',
    keys: 'uuid',
    labels: 'name node.name statistics.status',
    numbers: OPERATIONS,
    ...MEASURED,
    since,
  },
  {
    of: 'KeyPerf CIFSvserver',
    path: 'protocols/cifs/services',
    keys: 'svm.uuid',
    labels: 'svm.name statistics.status',
    ...MEASURED,
    isEmpty: true,
    since,
  },
  {
    of: 'KeyPerf Cluster',
    path: 'cluster',
    keys: 'uuid',
    labels: 'statistics.status',
    numbers: OPERATIONS,
    ...MEASURED,
    since,
  },
  {
    of: 'KeyPerf LIF',
    path: 'network/ip/interfaces',
    keys: 'uuid',
    labels: 'location.node.name location.port.name name statistics.status svm.name',
    numbers: raw('throughput', ['read', 'write', 'total']).join(' '),
    ...MEASURED,
    since,
  },
  ...['v3', 'v4', 'v41'].map((version): Poll => ({
    of: `KeyPerf NFS${version}`,
    path: 'protocols/nfs/services',
    keys: 'svm.uuid',
    labels: `svm.name statistics.${version}.status statistics.${version}.iops_raw.total`,
    times: `statistics.${version}.timestamp`,
    hidden: `statistics.${version}`,
    filters: [`statistics.${version}.timestamp=!"-"`],
    isEmpty: true,
    since,
  })),
  {
    of: 'KeyPerf SystemNode',
    path: 'cluster/nodes',
    keys: 'uuid',
    labels: 'name statistics.status',
    numbers: 'statistics.processor_utilization_raw statistics.processor_utilization_base',
    ...MEASURED,
    since,
  },
  {
    of: 'KeyPerf Volume',
    path: 'storage/volumes',
    keys: 'name svm.name',
    labels: 'statistics.status style',
    numbers: OPERATIONS,
    absent: NFS_OPERATIONS,
    ...MEASURED,
    filters: [...MEASURED.filters, 'style=!flexgroup'],
  },
  {
    of: 'KeyPerf Volume, parts',
    path: 'storage/volumes',
    keys: 'name svm.name',
    labels: 'statistics.status style',
    ...MEASURED,
    filters: [...MEASURED.filters, 'is_constituent=true'],
    isEmpty: true,
  },
  {
    of: 'KeyPerf FlexCache',
    path: 'storage/volumes',
    keys: 'name svm.name',
    labels:
      'statistics.flexcache_raw.cache_miss_blocks statistics.flexcache_raw.client_requested_blocks statistics.flexcache_raw.status',
    filters: ['statistics.flexcache_raw.timestamp=!"-"'],
    isEmpty: true,
  },
  {
    of: 'KeyPerf Qtree',
    path: 'storage/qtrees',
    keys: 'name svm.name volume.name',
    labels: 'statistics.status',
    numbers: OPERATIONS,
    ...MEASURED,
    filters: ['name=!""', ...MEASURED.filters],
    since,
  },
  {
    of: 'KeyPerf OntapS3SVM',
    path: 'protocols/s3/services',
    keys: 'svm.name',
    labels: 'name statistics.status',
    numbers: OPERATIONS,
    ...MEASURED,
    filters: [],
    since,
  },
]
