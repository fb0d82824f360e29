import type { Derivation } from '../../../core/behaviour.ts'
import { type Cluster } from '../../../core/cluster.ts'
import { inline, type Plan, uuidOfNew, type Verb, type Work, type Changing, type Making } from '../../../core/verb.ts'
import { Failure, failure } from '../../../model/failure.ts'
import { printSize } from '../../../model/kinds/index.ts'
import type { DraftOf, NewOf } from '../../../model/rows.ts'
import { withoutUnset } from '../../../model/value.ts'
import { CommitRefused, type Change } from '../../../ports/catalog.ts'
import { chargedBytes } from '../../../ports/charged.ts'
import { closeBucket } from '../../../s3/objects/close-bucket.ts'
import { insistOnReadWrite, isReadOnly } from '../../storage/volumes/types.ts'
import { namesSetNow } from './services/namesakes.ts'
import { settleBucket } from './bucket-settings.ts'
import { checkSnapshotPolicy } from './bucket-snapshots.ts'
import { NOTES } from '../../storage/volumes/owed-snapshots.ts'
import { followSize } from './own-volume.ts'
import { checkPolicy, volumesOf } from './server-verbs.ts'
import { BUCKETS, SERVERS } from './types.ts'
import type { Bucket, ObjectServer, Volume } from '../../../records/rows.ts'

/** What clients of the interface know these failures by. */

/** Buckets of a cluster: the limit of the field. */
const BUCKETS_MAX = 12_000

export const bucketUse: Derivation<Bucket, 'logical_used_size' | 'object_count'> = {
  gives: ['logical_used_size', 'object_count'],
  async from(cluster, rows) {
    const counters = await cluster.catalog.buckets(rows.map((row) => row['uuid']))
    return rows.map((row): DraftOf<typeof BUCKETS> => {
      const counter = counters.get(row['uuid'])
      return { logical_used_size: counter?.usedBytes ?? 0, object_count: counter?.objects ?? 0 }
    })
  },
}

export const createBucket = inline({
  example: { name: 'bucket-example', 'volume.name': 'vol1', size: 1_073_741_824 },
  plan: (cluster, { draft }: Making<typeof BUCKETS>) => planBucket(cluster, draft),
  step: {
    name: 'write record',
    async run(cluster, { key, input: { $volume: own, ...input } }: Work<BucketInput>) {
      if ((await cluster.find(BUCKETS, key)) !== undefined) return
      for (let tries = 1; ; tries++) {
        const server = await cluster.record(SERVERS, input['server.uuid'] ?? '')
        if (server === undefined) throw failure('objectStoreNotFound', {}, { target: 'server.uuid' })
        if (own === undefined) await placeBucket(cluster, server.body, input['volume.uuid'])
        try {
          await cluster.commit([
            // Written anew, so that whoever looked for buckets of the server before this one looks again.
            cluster.put(SERVERS, server.body, { expect: server.revision }),
            {
              do: 'open-bucket',
              bucket: key,
              volume: input['volume.uuid'] ?? '',
              limitBytes: input['size'],
            },
            ...versioningChanges(key, undefined, input),
            cluster.put(BUCKETS, input, { expect: 'absent' }),
          ])
          return
        } catch (failure) {
          if (!isStale(failure) || tries >= TRIES_MAX) throw failure
        }
      }
    },
  },
})

/** A bucket that is to be made, and the volume that is made for it. */
export type BucketInput = Bucket & { readonly $volume?: Volume }

/** Plans a bucket in a data volume of its server, or in one that is being made for it. */
export async function planBucket(
  cluster: Cluster,
  draft: NewOf<typeof BUCKETS>,
  own?: { readonly key: string; readonly volume: string },
): Promise<Plan<BucketInput>> {
  const svm = draft['svm.uuid']
  const name = draft['name']
  if ((await cluster.keyOfName(BUCKETS, name, svm)) !== undefined) {
    throw failure('bucketNameTaken', { name })
  }
  if ((await cluster.shortRows(BUCKETS)).length >= BUCKETS_MAX) {
    throw failure('bucketLimitReached', { max: BUCKETS_MAX })
  }
  const server = await serverOf(cluster, svm, draft['server.uuid'])
  await checkPolicy(cluster, draft)
  await checkSnapshotPolicy(cluster, draft)
  const volume = own?.volume ?? (await placeBucket(cluster, server, draft['volume.uuid']))
  const key = own?.key ?? uuidOfNew(cluster, draft)
  const whole: Bucket = {
    ...draft,
    uuid: key,
    'server.uuid': server['uuid'],
    'volume.uuid': volume,
    create_time: cluster.now(),
    ...('policy.statements' in draft ? await namesSetNow(cluster) : {}),
  }
  const input = settleBucket(undefined, draft, withoutUnset(whole))
  return { key, input, locks: [`server:${server['uuid']}`] }
}

/** Buckets of one server may be made in several processes at once; each try but one finds that another came first. */
const TRIES_MAX = 20

function isStale(failure: unknown): boolean {
  const cause = failure instanceof Failure ? failure.cause : failure
  return cause instanceof CommitRefused && cause.reason === 'stale'
}

export const modifyBucket = modifyBucketBy()

/**
 * The same for clients of the object store, who may suspend versions that the bucket was never given: it is then as after
 * giving and suspending them.
 */
export const modifyBucketOfClient = modifyBucketBy({ suspendsAtOnce: true })

interface BucketChange {
  readonly suspendsAtOnce?: boolean
}

function modifyBucketBy(how: BucketChange = {}): Verb {
  return inline({
    plan(_cluster, { row, draft }: Changing<typeof BUCKETS>) {
      const key = row['uuid']
      // Clients know the bucket by its name, and policies and snapshots hold it.
      if (draft['name'] !== undefined && draft['name'] !== row['name']) {
        throw failure('fieldNotModifiable', { field: 'name' })
      }
      // Statements that come without the text of a policy are not those of the text any more.
      const input = 'policy.statements' in draft && !('$policy' in draft) ? { ...draft, $policy: null } : { ...draft }
      return Promise.resolve({ key, input, locks: [`bucket:${key}`] })
    },
    step: {
      name: 'write record',
      run: (cluster, { key, input }) => changeBucket(cluster, key, () => input, how),
    },
  })
}

/** Changes the record of a bucket by what `draft` makes of it. It is asked again where others changed the bucket meanwhile. */
export async function changeBucket(
  cluster: Cluster,
  key: string,
  draft: (bucket: Bucket) => DraftOf<typeof BUCKETS>,
  how: BucketChange = {},
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await changeOnce(cluster, key, draft, how)
      return
    } catch (failure) {
      // Object store clients change buckets too, in other processes.
      if (!isStale(failure) || tries >= TRIES_MAX) throw failure
    }
  }
}

async function changeOnce(
  cluster: Cluster,
  key: string,
  draft: (bucket: Bucket) => DraftOf<typeof BUCKETS>,
  how: BucketChange,
): Promise<void> {
  const record = await cluster.record(BUCKETS, key)
  if (record === undefined) throw failure('bucketNotFound')
  const before = record.body
  const asked = draft(before)
  const given = 'policy.statements' in asked ? { ...asked, ...(await namesSetNow(cluster)) } : asked
  const after = settleBucket(before, given, withoutUnset({ ...before, ...given }))
  await checkPolicy(cluster, after)
  if ('snapshot_policy.uuid' in given) await checkSnapshotPolicy(cluster, after)
  try {
    await cluster.catalog.commit([
      // A restore may have brought it above its size, which is no reason to refuse what does not concern that.
      ...(after['size'] === before['size']
        ? []
        : [{ do: 'limit-bucket', bucket: key, limitBytes: after['size'] } as const]),
      ...(await followSize(cluster, before, after)),
      ...versioningChanges(key, before, after, how),
      cluster.put(BUCKETS, after, { expect: record.revision }),
    ])
  } catch (cause) {
    if (!(cause instanceof CommitRefused) || cause.reason !== 'full') throw cause
    if (cause.scope !== 'bucket') throw failure('aggregateSizesOverLimit')
    const used = (await cluster.catalog.bucket(key))?.usedBytes ?? 0
    throw failure('bucketTooSmall', { used: printSize(used) })
  }
}

export const removeBucket = inline({
  plan: (_cluster, { row }: Changing<typeof BUCKETS>) =>
    Promise.resolve({ key: row['uuid'], input: {}, locks: [`bucket:${row['uuid']}`] }),
  step: {
    name: 'remove record',
    async run(cluster, { key }) {
      try {
        const prepare = (changes: readonly Change[]) => cluster.prepare(changes)
        await closeBucket({ catalog: cluster.catalog, prepare }, key, [
          { do: 'remove-record', type: BUCKETS, key },
          { do: 'remove-record', type: NOTES, key },
        ])
      } catch (cause) {
        if (!(cause instanceof CommitRefused) || cause.reason !== 'not-empty') throw cause
        const what = cause.scope === 'snapshot' ? 'has snapshots. Delete them' : 'is not empty. Delete its objects'
        throw failure('bucketNotEmpty', { state: what })
      }
    },
  },
})

/** The index follows the record in the same commit. */
function versioningChanges(
  bucket: string,
  before: Bucket | undefined,
  after: Bucket,
  { suspendsAtOnce = false }: BucketChange = {},
): Change[] {
  const { versioning_state: state } = after
  const known = before?.versioning_state ?? 'disabled'
  if (state === known || state === undefined) return []
  if (state === 'enabled' || (state === 'suspended' && known === 'enabled')) {
    return [{ do: 'version-bucket', bucket, state }]
  }
  if (state === 'suspended' && suspendsAtOnce) {
    return [
      { do: 'version-bucket', bucket, state: 'enabled' },
      { do: 'version-bucket', bucket, state },
    ]
  }
  throw failure('versioningTransition', { from: known, to: state })
}

async function serverOf(cluster: Cluster, svm: string, given: string | undefined): Promise<ObjectServer> {
  if (typeof given === 'string') return cluster.row(SERVERS, given)
  const [first] = (await cluster.rows(SERVERS, svm)).toSorted((a, b) => (a['name'] < b['name'] ? -1 : 1))
  if (first === undefined) throw failure('objectStoreMissing')
  return first
}

/** The volume that was asked for, if it is a data volume of the server; otherwise the data volume with most room. */
async function placeBucket(cluster: Cluster, server: ObjectServer, asked: string | undefined): Promise<string> {
  const data = volumesOf(server)
  if (typeof asked === 'string') {
    if (data.includes(asked)) {
      insistOnReadWrite(await cluster.row('storage/volumes', asked), 'bucketVolumeProtected')
      return asked
    }
    throw failure('bucketVolumeUnfit')
  }
  let best: { volume: string; room: number } | undefined
  for (const volume of data) {
    const row = await cluster.find('storage/volumes', volume)
    const counters = await cluster.catalog.volume(volume)
    if (row === undefined || counters === undefined || row['state'] !== 'online' || isReadOnly(row)) continue
    const room = counters.sizeBytes - chargedBytes(counters, counters.reserveBytes)
    if (room > 0 && (best === undefined || room > best.room)) best = { volume, room }
  }
  if (best === undefined) throw failure('dataVolumesFull')
  return best.volume
}
