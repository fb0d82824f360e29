/** Takes a whole bucket back to a snapshot: `PATCH …/buckets/{uuid}?restore_to.snapshot.name=…`. */
import type { Cluster } from '../../../core/cluster.ts'
import { inline, type Work, type Changing, type Plan } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { text } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { DraftOf } from '../../../model/rows.ts'
import { leaveRange, restoreRange, type RangeInput } from '../../storage/volumes/range-restore.ts'
import { changeBucket, modifyBucket } from './bucket-verbs.ts'
import { findSnapshot } from './bucket-snapshots.ts'

/** What is given of the bucket, or the range that is restored. */
type Input = DraftOf<'protocols/s3/buckets'> & { readonly $range?: RangeInput }

const restoreArgs = {
  'restore_to.snapshot.name': {
    doc: 'The name of the snapshot to restore the bucket from. Newer snapshots are kept.',
    kind: text(),
  },
  'restore_to.snapshot.uuid': {
    doc: 'The UUID of the snapshot to restore the bucket from. Newer snapshots are kept.',
    kind: text(),
  },
} as const satisfies Fields

/** Changes a bucket inline, as elsewhere. With these arguments it is a job, and changes nothing else. */
export const modifyOrRestoreBucket = inline({
  isJob: 'when long',
  args: restoreArgs,
  async plan(cluster, request: Changing<'protocols/s3/buckets', typeof restoreArgs>): Promise<Plan<Input>> {
    const { row, draft, args } = request
    const name = args['restore_to.snapshot.name']
    const uuid = args['restore_to.snapshot.uuid']
    if (name === undefined && uuid === undefined) return modifyBucket.plan(cluster, request)
    if (Object.keys(draft).length > 0) {
      throw failure('restoreWithChanges')
    }
    const snapshot = await findSnapshot(cluster, row, { name, uuid })
    const volume = row['volume.uuid'] ?? ''
    if ((await cluster.row('storage/volumes', volume))['state'] === 'offline') {
      throw failure('bucketVolumeOffline')
    }
    const range: RangeInput = { bucket: row['uuid'], snapshot, prefix: '' }
    const input = { 'svm.uuid': row['svm.uuid'] ?? '', $range: range }
    return { key: range.bucket, input, locks: [`volume:${volume}`], isLong: true }
  },
  step: {
    name: 'write record',
    async run(cluster: Cluster, work: Work<Input>) {
      const { $range: range, ...draft } = work.input
      await (range === undefined ? changeBucket(cluster, work.key, () => draft) : restoreRange(cluster, work, range))
    },
    async undo(cluster: Cluster, work: Work<Input>) {
      const { $range: range } = work.input
      if (range !== undefined) await leaveRange(cluster, work, range)
    },
  },
})
