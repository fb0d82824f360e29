/**
 * Buckets with a volume of their own, as shipping tools ask for them: for a bucket that names no volume one is made. When
 * the bucket is gone, whoever deleted it, the volume goes too.
 */
import { MADE_FOR, type Cluster } from '../../../core/cluster.ts'
import { job, type Plan, type Step, uuidOfNew, type Work, type Making } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import type { NewOf } from '../../../model/rows.ts'
import type { Volume } from '../../../records/rows.ts'
import { createVolume } from '../../storage/volumes/create.ts'
import { type BucketInput, createBucket, planBucket } from './bucket-verbs.ts'
import { ownVolumeSize } from './own-volume.ts'

const VOLUMES = 'storage/volumes'

export const createWithVolume = job({
  example: { name: 'bucket-example', 'svm.name': 'svm1', aggregates: [{ name: 'aggr1' }], size: 1_073_741_824 },
  async plan(cluster, request: Making<'protocols/s3/buckets'>): Promise<Plan<BucketInput>> {
    const { aggregates, ...draft } = request.draft
    if (typeof draft['volume.uuid'] === 'string') {
      if (aggregates !== undefined) {
        throw failure('bucketAggregatesTwice')
      }
      return planBucket(cluster, draft)
    }
    const key = uuidOfNew(cluster, draft)
    const unprotected = await cluster.keyOfName('storage/snapshot-policies', 'none')
    const volumeDraft: NewOf<typeof VOLUMES> = {
      name: volumeName(key),
      'svm.uuid': draft['svm.uuid'],
      type: 'rw',
      style: 'flexvol',
      state: 'online',
      ...ownVolumeSize(draft['size']),
      'guarantee.type': 'none',
      ...(unprotected === undefined ? {} : { 'snapshot_policy.uuid': unprotected }),
      comment: `Made for the bucket ${draft['name']}.`,
      [MADE_FOR]: key,
      ...(aggregates === undefined ? {} : { aggregates }),
    }
    const volume = await createVolume.plan(cluster, { ...request, draft: volumeDraft })
    const bucket = await planBucket(cluster, draft, { key, volume: volume.key })
    return {
      key,
      input: { ...bucket.input, $volume: volume.input },
      locks: [...(volume.locks ?? []), ...(bucket.locks ?? [])],
    }
  },
  steps: [
    ...createVolume.steps.map(onVolumeStep),
    // A bucket that cannot be made leaves no volume behind.
    {
      name: 'keep volume',
      run: () => Promise.resolve(),
      undo: (cluster, work) => onVolume(work, forgetVolume(cluster)),
    },
    ...createBucket.steps,
  ],
})

const forgetVolume =
  (cluster: Cluster) =>
  async ({ key }: Work): Promise<void> => {
    await cluster.commit([
      { do: 'remove-record', type: VOLUMES, key },
      { do: 'close-volume', volume: key },
      { do: 'drop-counters', table: 'volume', row: key },
    ])
  }

/** A step of making a volume, as one of making a bucket with it. */
function onVolumeStep(step: Step<Volume>): Step<BucketInput> {
  const { name, isCancellable = false, isPausable = false } = step
  const forth: Step<BucketInput> = {
    name: `volume: ${name}`,
    isCancellable,
    isPausable,
    run: (cluster, work) => onVolume(work, (its) => step.run(cluster, its)),
  }
  if (step.undo === undefined) return forth
  return { ...forth, undo: (cluster, work) => onVolume(work, async (its) => step.undo?.(cluster, its)) }
}

async function onVolume(work: Work<BucketInput>, act: (work: Work<Volume>) => Promise<void>): Promise<void> {
  const { $volume: volume } = work.input
  if (volume !== undefined) await act({ ...work, key: volume['uuid'], input: volume })
}

/** Begins as shipping systems name such volumes; the UUID of the bucket makes it unique without a look at other names. */
function volumeName(bucket: string): string {
  return `fg_oss_${bucket.replaceAll('-', '')}`
}
