/**
 * The buckets of a clone: those that its parent had in the snapshot, under names of their own, because names are unique in
 * an SVM. They keep size, versions and what clients may be told of them. Policies name the bucket they are of, and locks
 * protect the original: these stay behind.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { Failure, failures } from '../../../model/failure.ts'
import { type Row, textAt } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'

const BUCKETS = 'protocols/s3/buckets'
const NAME_CHARACTERS_MAX = 63
/** Names tried for one bucket. */
const TRIES_MAX = 100

/** Set in a bucket that came with a clone: it goes with it. */
export const CAME_WITH_CLONE = '$cameWithClone'

/** Fields of a bucket that do not go with a clone. */
const LEFT_BEHIND: ReadonlySet<string> = new Set([
  'policy.statements',
  '$policy',
  'policy.name',
  'qos_policy.uuid',
  'retention.mode',
  'retention.default_period',
  '$hasLocks',
])

/** A bucket of the parent, as it was, and the one of the clone. */
export interface BucketPair {
  readonly from: string
  readonly to: string
}

/** Opens the buckets in the index, still without a name. */
export function openBuckets(clone: Row, rows: readonly Row[], pairs: readonly BucketPair[]): Change[] {
  return pairs.flatMap(({ from, to }): Change[] => {
    const row = rows.find((one) => one['uuid'] === from)
    const versioning = textAt(row, 'versioning_state')
    return [
      { do: 'open-bucket', bucket: to, volume: textAt(clone, 'uuid'), limitBytes: Number(row?.['size']) },
      ...(versioning === 'enabled' || versioning === 'suspended'
        ? [{ do: 'version-bucket', bucket: to, state: versioning } as const]
        : []),
    ]
  })
}

/** The records of the buckets, with names that are free now. */
export async function bucketRecords(
  cluster: Cluster,
  clone: Row,
  rows: readonly Row[],
  pairs: readonly BucketPair[],
): Promise<Change[]> {
  const server = pairs.length === 0 ? undefined : await serverOf(cluster, clone, rows)
  const taken = new Set<string>()
  const changes: Change[] = []
  for (const { from, to } of pairs) {
    const row = rows.find((one) => one['uuid'] === from) ?? {}
    const kept = Object.entries(row).filter(([path]) => !LEFT_BEHIND.has(path))
    const name = await freeName(cluster, clone, textAt(row, 'name'), taken)
    taken.add(name)
    changes.push(
      cluster.put(
        BUCKETS,
        {
          ...Object.fromEntries(kept),
          uuid: to,
          name,
          'svm.uuid': clone['svm.uuid'] ?? '',
          'server.uuid': textAt(server, 'uuid'),
          'volume.uuid': textAt(clone, 'uuid'),
          'policy.name': 'default',
          'retention.mode': 'no_lock',
          create_time: cluster.now(),
          [CAME_WITH_CLONE]: true,
        },
        { expect: 'absent' },
      ),
    )
  }
  return changes
}

/** `papers-clone1`, or with a number where that is taken. */
async function freeName(cluster: Cluster, clone: Row, bucket: string, taken: ReadonlySet<string>): Promise<string> {
  const suffix = textAt(clone, 'name')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  for (let n = 1; n <= TRIES_MAX; n++) {
    const end = `-${suffix.slice(0, NAME_CHARACTERS_MAX / 2)}${n === 1 ? '' : `-${n}`}`
    const name = bucket.slice(0, NAME_CHARACTERS_MAX - end.length).replace(/[-.]+$/, '') + end
    const holder = await cluster.keyOfName(BUCKETS, name, textAt(clone, 'svm.uuid'))
    if (holder === undefined && !taken.has(name)) return name
  }
  throw failures.duplicate(`A bucket named "${bucket}-${suffix}"`, 'name')
}

/** The server that serves the buckets: that of the parent's, or the first of another SVM. */
async function serverOf(cluster: Cluster, clone: Row, rows: readonly Row[]): Promise<Row> {
  const servers = await cluster.rows('protocols/s3/services', textAt(clone, 'svm.uuid'))
  const same = servers.find((server) => rows.some((row) => row['server.uuid'] === server['uuid']))
  const server = same ?? servers.toSorted((a, b) => (textAt(a, 'name') < textAt(b, 'name') ? -1 : 1))[0]
  if (server !== undefined) return server
  throw failures.invalid(
    'svm.name',
    'The parent has buckets, and the SVM has no object store server that could serve them.',
    92405861,
  )
}

/** Whether another bucket of the name was made between the look and the commit. */
export function isNameTaken(failure: unknown): boolean {
  return failure instanceof Failure && failure.kind === 'conflict' && failure.target === 'name'
}
