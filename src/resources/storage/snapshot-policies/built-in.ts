/** The schedules and snapshot policies that a cluster comes with. */
import type { Cluster } from '../../../core/cluster.ts'
import type { DraftOf, RowOf } from '../../../model/rows.ts'
import type { Change } from '../../../ports/catalog.ts'
import { SCHEDULES } from '../../cluster/schedules.ts'
import { SNAPSHOT_POLICIES, type Copy } from './copies.ts'

const every = (minutes: number) => Array.from({ length: 60 / minutes }, (_, at) => at * minutes)

const SCHEDULES_BUILT_IN: Readonly<Record<string, DraftOf<typeof SCHEDULES>>> = {
  '5min': { 'cron.minutes': every(5) },
  '8hour': { 'cron.minutes': [15], 'cron.hours': [2, 10, 18] },
  hourly: { 'cron.minutes': [5] },
  daily: { 'cron.minutes': [10], 'cron.hours': [0] },
  weekly: { 'cron.minutes': [15], 'cron.hours': [0], 'cron.weekdays': [0] },
  monthly: { 'cron.minutes': [20], 'cron.hours': [0], 'cron.days': [1] },
}

const POLICIES_BUILT_IN: Readonly<Record<string, { comment: string; counts: Readonly<Record<string, number>> }>> = {
  default: {
    comment: 'Default policy with hourly, daily & weekly schedules.',
    counts: { hourly: 6, daily: 2, weekly: 2 },
  },
  'default-1weekly': {
    comment: 'Default policy with 6 hourly, 2 daily & 1 weekly schedule.',
    counts: { hourly: 6, daily: 2, weekly: 1 },
  },
  none: { comment: 'Policy for no automatic snapshots.', counts: {} },
}

/** Makes them all. `known` are policies of these names that are there already, from before they had schedules. */
export function builtIns(cluster: Cluster, known: readonly RowOf<typeof SNAPSHOT_POLICIES>[] = []): Change[] {
  const uuid = () => cluster.system.random.uuid()
  const schedules = new Map(Object.keys(SCHEDULES_BUILT_IN).map((name) => [name, uuid()]))
  const made = [...schedules].map(([name, key]) =>
    cluster.put(SCHEDULES, {
      uuid: key,
      name,
      type: 'cron',
      $changed: cluster.now(),
      $isBuiltIn: true,
      ...SCHEDULES_BUILT_IN[name],
    }),
  )
  const policies = Object.entries(POLICIES_BUILT_IN).map(([name, { comment, counts }]) => {
    const copies = Object.entries(counts).map(([schedule, count]) => copyOf(schedule, schedules.get(schedule), count))
    const before = known.find((policy) => policy['name'] === name) ?? { uuid: uuid(), enabled: name !== 'none' }
    const row = { ...before, name, comment, copies, $isBuiltIn: true }
    return cluster.put(SNAPSHOT_POLICIES, row)
  })
  return [...made, ...policies]
}

function copyOf(schedule: string, uuid: string | undefined, count: number): Copy {
  const copy = { schedule: { uuid: uuid ?? '' }, prefix: schedule, count }
  return schedule === 'hourly' ? copy : { ...copy, snapmirror_label: schedule }
}

/** Gives schedules to a cluster that was first started before there were any. */
export async function addBuiltIns(cluster: Cluster): Promise<void> {
  const policies = await cluster.rows(SNAPSHOT_POLICIES)
  if (policies.every((policy) => policy['copies'] !== undefined)) return
  await cluster.commit(builtIns(cluster, policies))
}
