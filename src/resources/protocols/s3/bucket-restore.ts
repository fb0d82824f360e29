/** Takes a whole bucket back to a snapshot: `PATCH …/buckets/{uuid}?restore_to.snapshot.name=…`. */
import { action, type Acting } from '../../../core/action.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { type Changing, inline, type Plan, type Work } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { text } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { DraftOf } from '../../../model/rows.ts'
import { leaveRange, restoreRange, type RangeInput, type RangeMemo } from '../../storage/volumes/range-restore.ts'
import { changeBucket, modifyBucket } from './bucket-verbs.ts'
import { findSnapshot } from './bucket-snapshots.ts'
import type { BUCKETS } from './types.ts'

const restoreArgs = {
  'snapshot.name': {
    doc: 'The name of the snapshot to restore the bucket from. Newer snapshots are kept.',
    kind: text(),
  },
  'snapshot.uuid': {
    doc: 'The UUID of the snapshot to restore the bucket from. Newer snapshots are kept.',
    kind: text(),
  },
} as const satisfies Fields

/** Arguments of a change that ask for it. */
const queryArgs = {
  'restore_to.snapshot.name': restoreArgs['snapshot.name'],
  'restore_to.snapshot.uuid': restoreArgs['snapshot.uuid'],
} as const satisfies Fields

type RestoreInput = { readonly $range: RangeInput }

export const restoreBucket = action({
  doc: 'Restores the bucket from one of its snapshots, or from one of its volume. Newer snapshots are kept.',
  danger: 'destructive',
  args: restoreArgs,
  example: { 'snapshot.name': 'snap-example' },
  needs: 'a bucket with a snapshot "snap-example"',
  spelled: {
    asks: { 'restore_to.snapshot.name': 'any', 'restore_to.snapshot.uuid': 'any' },
    args: { 'snapshot.name': 'restore_to.snapshot.name', 'snapshot.uuid': 'restore_to.snapshot.uuid' },
    alone: () => failure('restoreWithChanges'),
  },
  async plan(cluster, { row, args }: Acting<typeof BUCKETS, typeof restoreArgs>) {
    const snapshot = await findSnapshot(cluster, row, { name: args['snapshot.name'], uuid: args['snapshot.uuid'] })
    const volume = row['volume.uuid'] ?? ''
    if ((await cluster.row('storage/volumes', volume))['state'] === 'offline') throw failure('bucketVolumeOffline')
    const $range: RangeInput = { bucket: row['uuid'], snapshot, prefix: '' }
    return { key: row['uuid'], input: { 'svm.uuid': row['svm.uuid'], $range }, locks: [`volume:${volume}`] }
  },
  steps: [{ name: 'restore', run: restore, undo: leave }],
})

async function restore(cluster: Cluster, work: Work<RestoreInput, RangeMemo>): Promise<void> {
  await restoreRange(cluster, work, work.input.$range)
}

async function leave(cluster: Cluster, work: Work<RestoreInput, RangeMemo>): Promise<void> {
  await leaveRange(cluster, work, work.input.$range)
}

/** A change, or the range of a restore. */
type ChangeInput = DraftOf<typeof BUCKETS> & Partial<RestoreInput>

/** A change of a bucket whose arguments may ask for a restore. */
export const modifyOrRestoreBucket = inline({
  // The restore does.
  isJob: 'when long',
  args: queryArgs,
  plan: (cluster, request: Changing<typeof BUCKETS, typeof queryArgs>): Promise<Plan<ChangeInput>> =>
    modifyBucket.plan(cluster, request),
  step: {
    name: 'write record',
    // Before a restore was an action, a change of this one step was its job. An upgrade may find one that was interrupted.
    async run(cluster, work: Work<ChangeInput>) {
      const { $range, ...draft } = work.input
      await ($range === undefined ? changeBucket(cluster, work.key, () => draft) : restoreRange(cluster, work, $range))
    },
    async undo(cluster, work: Work<ChangeInput>) {
      const { $range } = work.input
      if ($range !== undefined) await leaveRange(cluster, work, $range)
    },
  },
})
