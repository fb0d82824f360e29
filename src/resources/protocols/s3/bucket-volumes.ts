/**
 * Buckets with a volume of their own, as shipping tools ask for them: for a bucket that names no volume one is made. When
 * the bucket is gone, whoever deleted it, the volume goes too.
 */
import { describe, isActive, JOBS } from '../../../core/jobs.ts'
import { MADE_FOR, type Cluster } from '../../../core/cluster.ts'
import type { Actions } from '../../../core/perform.ts'
import { Rounds } from '../../../core/rounds.ts'
import { job, type Step, uuidOfNew, type Work } from '../../../core/verb.ts'
import { failures } from '../../../model/failure.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { createVolume } from '../../storage/volume-verbs.ts'
import { createBucket, planBucket } from './bucket-verbs.ts'
import { ownVolumeSize } from './own-volume.ts'
import { BUCKETS } from './types.ts'

const VOLUMES = 'storage/volumes'
const LOOK_EVERY_MS = 5000

export const createWithVolume = job({
  example: { name: 'bucket-example', 'svm.name': 'svm1', aggregates: [{ name: 'aggr1' }], size: 1_073_741_824 },
  async plan(cluster, request) {
    const { aggregates, ...draft } = request.draft
    if (typeof draft['volume.uuid'] === 'string') {
      if (aggregates !== undefined) {
        throw failures.invalid('aggregates', 'The bucket lies in the aggregate of its volume. Name one of the two.')
      }
      return planBucket(cluster, draft)
    }
    const key = uuidOfNew(cluster, draft)
    const volumeDraft: Row = {
      name: volumeName(key),
      'svm.uuid': textAt(draft, 'svm.uuid'),
      type: 'rw',
      style: 'flexvol',
      state: 'online',
      ...ownVolumeSize(Number(draft['size'])),
      'guarantee.type': 'none',
      'snapshot_policy.uuid': (await cluster.keyOfName('storage/snapshot-policies', 'none')) ?? null,
      comment: `Made for the bucket ${textAt(draft, 'name')}.`,
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
function onVolumeStep(step: Step): Step {
  const forth: Step = {
    ...step,
    name: `volume: ${step.name}`,
    run: (cluster, work) => onVolume(work, (its) => step.run(cluster, its)),
  }
  if (step.undo === undefined) return forth
  return { ...forth, undo: (cluster, work) => onVolume(work, async (its) => step.undo?.(cluster, its)) }
}

async function onVolume(work: Work, act: (work: Work) => Promise<void>): Promise<void> {
  const volume = work.input['$volume'] as Row | undefined
  if (volume !== undefined) await act({ ...work, key: textAt(volume, 'uuid'), input: volume })
}

/** Begins as shipping systems name such volumes; the UUID of the bucket makes it unique without a look at other names. */
function volumeName(bucket: string): string {
  return `fg_oss_${bucket.replaceAll('-', '')}`
}

/** Deletes volumes whose bucket is gone. */
export class SpareVolumes {
  readonly #actions: Actions
  readonly #rounds: Rounds

  constructor(actions: Actions) {
    this.#actions = actions
    const { system, log } = actions.cluster
    this.#rounds = new Rounds(system.clock, {
      act: async () => {
        await this.look()
      },
      failed(failure) {
        log.warn('Volumes of deleted buckets were not all removed. It is tried again.', { cause: describe(failure) })
      },
      restMs: () => LOOK_EVERY_MS,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Gives the number of volumes whose deletion was begun. */
  async look(): Promise<number> {
    const { cluster } = this.#actions
    let begun = 0
    for (const volume of await cluster.rows(VOLUMES)) {
      if (textAt(volume, MADE_FOR) === '' || !(await this.#isSpare(volume))) continue
      await this.#actions.perform(cluster.behaviour(VOLUMES), 'remove', {
        caller: { user: 'cluster', role: 'admin', from: 'volumes of buckets' },
        row: volume,
        draft: {},
        path: {},
        args: { force: 'true' },
        description: `DELETE /api/storage/volumes/${textAt(volume, 'uuid')}`,
      })
      begun++
    }
    return begun
  }

  async #isSpare(volume: Row): Promise<boolean> {
    const { cluster } = this.#actions
    const uuid = textAt(volume, 'uuid')
    if ((await cluster.rows(BUCKETS, uuid)).length > 0) return false
    // The bucket is still to come, or the volume is going.
    const busy = new Set((await cluster.rows(JOBS)).filter(isActive).map((row) => row['$key']))
    return !busy.has(uuid) && !busy.has(textAt(volume, MADE_FOR))
  }
}
