/** The efficiency policies that a cluster comes with. */
import type { Cluster } from '../../../core/cluster.ts'
import type { DraftOf } from '../../../model/rows.ts'
import { EFFICIENCY_POLICIES } from '../volume-efficiency-policies.ts'

const BUILT_IN: Readonly<Record<string, DraftOf<typeof EFFICIENCY_POLICIES>>> = {
  default: { type: 'scheduled', duration: 0, qos_policy: 'best_effort', comment: 'Once a day.' },
  auto: {
    type: 'threshold',
    start_threshold_percent: 20,
    qos_policy: 'background',
    comment: 'When a fifth of what the volume holds was written since the last time.',
  },
  'inline-only': { type: 'scheduled', duration: 0, qos_policy: 'background', comment: 'Never in the background.' },
}

/** Makes those that are not there: for a new cluster, and for one from before there were any. */
export async function addBuiltInEfficiency(cluster: Cluster): Promise<void> {
  const known = new Set((await cluster.rows(EFFICIENCY_POLICIES)).map((row) => row['name']))
  const missing = Object.entries(BUILT_IN).filter(([name]) => !known.has(name))
  if (missing.length === 0) return
  const daily = await cluster.keyOfName('cluster/schedules', 'daily')
  await cluster.commit(
    missing.map(([name, fields]) => {
      const schedule = name === 'default' && daily !== undefined ? { 'schedule.uuid': daily } : {}
      const row = { uuid: cluster.system.random.uuid(), name, enabled: true, ...fields, ...schedule, $isBuiltIn: true }
      return cluster.put(EFFICIENCY_POLICIES, row, { expect: 'absent' })
    }),
  )
}
