/**
 * The buckets of a clone: those that its parent had in the snapshot, under names of their own, because names are unique in
 * an SVM. They keep size, versions and what clients may be told of them. Policies name the bucket they are of, and locks
 * protect the original: these stay behind.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import { without } from '../../../model/value.ts'
import { type Change, CommitRefused } from '../../../ports/catalog.ts'
import type { Bucket, ObjectServer, Volume } from '../../../records/rows.ts'

const BUCKETS = 'protocols/s3/buckets'
const NAME_CHARACTERS_MAX = 63
/** Names tried for one bucket. */
const TRIES_MAX = 100

/** Set in a bucket that came with a clone: it goes with it. */
export const CAME_WITH_CLONE = '$cameWithClone'

/** Fields of a bucket that do not go with a clone. */
const LEFT_BEHIND = [
  'policy.statements',
  '$policy',
  'policy.name',
  'qos_policy.uuid',
  'retention.mode',
  'retention.default_period',
  '$hasLocks',
] as const

/**
 * The bucket of a clone that is to have what one of its parent has: the same each time in one making of the clone, of
 * which the UUID is random. So what a repeated step finds needs no list.
 */
export function bucketOf(making: string, bucket: string): string {
  const others = bucket.replaceAll('-', '')
  const digits = Array.from(making.replaceAll('-', ''), (digit, at) => {
    const mixed = Number.parseInt(digit, 16) ^ Number.parseInt(others.charAt(at), 16)
    return (at === VERSION_AT ? 4 : at === VARIANT_AT ? (mixed & 3) | 8 : mixed).toString(16)
  })
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Digits of a UUID that say of which kind it is. */
const VERSION_AT = 12
const VARIANT_AT = 16

/** Opens buckets in the index, still without a name. Repeating it changes nothing. */
export function openBuckets({ key, making }: Making, rows: readonly Bucket[]): Change[] {
  return rows.flatMap((row): Change[] => {
    const bucket = bucketOf(making, row['uuid'])
    const versioning = row['versioning_state']
    return [
      { do: 'open-bucket', bucket, volume: key, limitBytes: row['size'] ?? 0 },
      ...(versioning === 'enabled' || versioning === 'suspended'
        ? [{ do: 'version-bucket', bucket, state: versioning } as const]
        : []),
    ]
  })
}

export interface Making {
  /** The clone. */
  readonly key: string
  /** What tells its buckets from those of an earlier try. */
  readonly making: string
}

/** The records of some buckets, with names that are free now. */
export async function bucketRecords(
  cluster: Cluster,
  clone: Volume,
  { key, making }: Making,
  rows: readonly Bucket[],
): Promise<Change[]> {
  const server = await serverOf(cluster, clone, rows)
  const taken = new Set<string>()
  const changes: Change[] = []
  for (const row of rows) {
    const name = await freeName(cluster, clone, row['name'], taken)
    taken.add(name)
    changes.push(
      cluster.put(
        BUCKETS,
        {
          ...without(row, LEFT_BEHIND),
          uuid: bucketOf(making, row['uuid']),
          name,
          'svm.uuid': clone['svm.uuid'] ?? '',
          'server.uuid': server['uuid'],
          'volume.uuid': key,
          'policy.name': 'default',
          'retention.mode': 'no_lock',
          create_time: cluster.now(),
          [CAME_WITH_CLONE]: true,
        },
        { expect: 'absent', isBeforeParent: true },
      ),
    )
  }
  return changes
}

/** `papers-clone1`, or with a number where that is taken. */
async function freeName(cluster: Cluster, clone: Volume, bucket: string, taken: ReadonlySet<string>): Promise<string> {
  const suffix = clone['name']
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  for (let n = 1; n <= TRIES_MAX; n++) {
    const end = `-${suffix.slice(0, NAME_CHARACTERS_MAX / 2)}${n === 1 ? '' : `-${n}`}`
    const name = bucket.slice(0, NAME_CHARACTERS_MAX - end.length).replace(/[-.]+$/, '') + end
    const holder = await cluster.keyOfName(BUCKETS, name, clone['svm.uuid'])
    if (holder === undefined && !taken.has(name)) return name
  }
  throw failure('cloneBucketTaken', { bucket, suffix })
}

/** The server that serves the buckets: that of the parent's, or the first of another SVM. */
async function serverOf(cluster: Cluster, clone: Volume, rows: readonly Bucket[]): Promise<ObjectServer> {
  const servers = await cluster.rows('protocols/s3/services', clone['svm.uuid'])
  const same = servers.find((server) => rows.some((row) => row['server.uuid'] === server['uuid']))
  const server = same ?? servers.toSorted((a, b) => (a['name'] < b['name'] ? -1 : 1))[0]
  if (server !== undefined) return server
  throw failure('cloneWithoutObjectStore')
}

/** Whether another bucket of the name was made between the look and the commit. */
export function isNameTaken(failure: unknown): boolean {
  return failure instanceof CommitRefused && failure.reason === 'taken'
}
