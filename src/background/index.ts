/** What the cluster does by itself and needs nothing but verbs. Who needs more is begun where that is: see `bin/start.ts`. */
import type { Actions } from '../core/perform.ts'
import type { Watch } from '../core/tasks/watch.ts'
import { EfficiencySchedule } from './efficiency-schedule.ts'
import { LifecycleSchedule } from './lifecycle-schedule.ts'
import { QuotaWatch } from './quota-watch.ts'
import { RecoveryQueueWatch } from './recovery-queue-watch.ts'
import { Sampling } from './sampling.ts'
import { ScheduledSnapshots } from './scheduled-snapshots.ts'
import { ScrubSchedule } from './scrub-schedule.ts'
import { SpareVolumes } from './spare-volumes.ts'
import { VolumeWatch } from './volume-watch.ts'

export type Begun = Pick<Watch, 'start' | 'stop'>

export function backgroundTasks(actions: Actions): readonly Begun[] {
  const { cluster } = actions
  return [
    new ScheduledSnapshots(cluster),
    new VolumeWatch(cluster),
    new RecoveryQueueWatch(cluster),
    new QuotaWatch(cluster),
    new LifecycleSchedule(actions),
    new SpareVolumes(actions),
    new EfficiencySchedule(actions),
    new ScrubSchedule(actions),
    new Sampling(cluster),
  ]
}
