import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { removeRecord } from '../../core/plain.ts'
import { inline, uuidOfNew } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { count, flag, name, oneOf, text, uuid, percent } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import type { DraftOf, RowOf } from '../../model/rows.ts'
import { without } from '../../model/value.ts'
import { SCHEDULES_LOCK } from '../cluster/schedules.ts'

export const EFFICIENCY_POLICIES = 'storage/volume-efficiency-policies'

const volumeEfficiencyPoliciesResource = resource({
  path: '/storage/volume-efficiency-policies',
  noun: 'efficiency policy',
  doc: 'Efficiency policies say when efficiency runs start, and how much they may slow down clients.',
  since: '9.8',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  isShared: true,
  columns: ['name', 'svm.name', 'enabled', 'type', 'schedule.name', 'start_threshold_percent', 'comment'],
  form: {
    Policy: ['name', 'svm.name', 'enabled', 'comment'],
    Start: ['type', 'schedule.name', 'start_threshold_percent', 'duration', 'qos_policy'],
  },
  removal: 'disruptive',
  within: { schedule: 'blocks' },
  fields: {
    uuid: { doc: 'The UUID of the policy.', kind: uuid() },
    name: { doc: 'The name of the policy.', kind: name({ charactersMax: 32 }), set: 'create', required: true },
    comment: { doc: 'A comment that describes the policy.', kind: text({ charactersMax: 255 }), set: 'always' },
    enabled: { doc: 'Whether the policy starts runs.', kind: flag(), set: 'always', default: true },
    type: {
      doc: 'How the policy starts runs.',
      kind: oneOf({
        scheduled: 'At the times of a schedule.',
        threshold: 'When enough data was written since the last run.',
      }),
      set: 'always',
      default: 'scheduled',
    },
    schedule: {
      when: { field: 'type', is: ['scheduled'] },
      doc: 'The schedule that starts the runs of a scheduled policy. Default: `daily`.',
      ref: 'cluster/schedules',
      set: 'always',
    },
    start_threshold_percent: {
      when: { field: 'type', is: ['threshold'] },
      doc: 'The new data since the last run that starts a run of a threshold policy, in percent of the data in the volume.',
      kind: percent({ max: 100 }),
      set: 'always',
    },
    duration: {
      when: { field: 'type', is: ['scheduled'] },
      doc: 'The maximum duration of a run of a scheduled policy, in hours. 0: no limit.',
      kind: count({ min: 0, max: 999, unit: 'hours' }),
      set: 'always',
    },
    qos_policy: {
      doc: 'The priority of runs compared with clients.',
      kind: oneOf({
        background: 'A run rests as long as it works.',
        best_effort: 'A run rests only to let clients have their turn.',
      }),
      set: 'always',
      default: 'best_effort',
    },
    svm: {
      doc: 'The SVM that owns the policy. Without one, the policy is for all SVMs.',
      ref: 'svm/svms',
      set: 'create',
    },
  },
})

export const volumeEfficiencyPolicies: Behaviour<typeof volumeEfficiencyPoliciesResource> = define(
  volumeEfficiencyPoliciesResource,
  {
    create: inline({
      example: { name: 'efficiency_example', type: 'threshold', start_threshold_percent: 30 },
      async plan(cluster, { draft }) {
        const [policy, svm] = [draft['name'], draft['svm.uuid'] ?? '']
        if ((await cluster.keyOfName(EFFICIENCY_POLICIES, policy, svm)) !== undefined) {
          throw failure('efficiencyPolicyNameTaken', { name: policy })
        }
        const key = uuidOfNew(cluster, draft)
        return { key, input: await settled(cluster, { ...draft, uuid: key }, draft), locks: [SCHEDULES_LOCK] }
      },
      step: {
        name: 'write record',
        async run(cluster, { input }) {
          // The schedule may have gone since the plan was made.
          await insistOnSchedule(cluster, input)
          await cluster.commit([cluster.put(EFFICIENCY_POLICIES, input, { expect: 'absent' })])
        },
      },
    }),
    modify: inline({
      async plan(cluster, { row, draft }) {
        insistOnOwn(row)
        await settled(cluster, { ...row, ...draft }, draft)
        return { key: row['uuid'], input: { ...draft }, locks: [SCHEDULES_LOCK] }
      },
      step: {
        name: 'write record',
        async run(cluster, { key, input }) {
          const record = await cluster.record(EFFICIENCY_POLICIES, key)
          if (record === undefined) throw failure('efficiencyPolicyNotFound')
          const row = await settled(cluster, { ...record.body, ...input }, input)
          await insistOnSchedule(cluster, row)
          await cluster.commit([cluster.put(EFFICIENCY_POLICIES, row, { expect: record.revision })])
        },
      },
    }),
    remove: inline({
      plan: (_cluster, { row }) => Promise.resolve({ key: row['uuid'], input: {}, locks: [SCHEDULES_LOCK] }),
      step: {
        name: 'remove record',
        async run(cluster, { key }) {
          insistOnOwn(await cluster.row(EFFICIENCY_POLICIES, key))
          await removeRecord(cluster, EFFICIENCY_POLICIES, key, {
            inUse({ name }) {
              return failure('efficiencyPolicyInUse', { volume: name })
            },
          })
        },
      },
    }),
  },
)

const THRESHOLD_PERCENT = 20

type Policy = RowOf<typeof EFFICIENCY_POLICIES>
type OfOneType = 'start_threshold_percent' | 'schedule.name' | 'schedule.uuid' | 'duration'

/** What each type has, with what was not said; what the other type has is refused, and forgotten where the type changes. */
async function settled(cluster: Cluster, row: Policy, given: DraftOf<typeof EFFICIENCY_POLICIES>): Promise<Policy> {
  const isScheduled = row['type'] !== 'threshold'
  const others: readonly OfOneType[] = isScheduled
    ? ['start_threshold_percent']
    : ['schedule.name', 'schedule.uuid', 'duration']
  const wrong = others.find((path) => (given[path] ?? null) !== null)
  if (wrong !== undefined) {
    throw failure('efficiencyPolicyFieldUnfit', { type: isScheduled ? 'scheduled' : 'threshold', field: wrong })
  }
  const kept = without(row, others)
  if (!isScheduled) {
    const percent = row['start_threshold_percent'] ?? THRESHOLD_PERCENT
    if (percent < 1) {
      throw failure('efficiencyThresholdTooLow')
    }
    return { ...kept, start_threshold_percent: percent }
  }
  const schedule = row['schedule.uuid'] ?? (await cluster.keyOfName('cluster/schedules', 'daily'))
  return { ...kept, ...(schedule === undefined ? {} : { 'schedule.uuid': schedule }), duration: row['duration'] ?? 0 }
}

async function insistOnSchedule(cluster: Cluster, policy: Policy): Promise<void> {
  const schedule = policy['schedule.uuid']
  if (typeof schedule !== 'string') return
  if ((await cluster.find('cluster/schedules', schedule)) === undefined) {
    throw failure('efficiencyScheduleUnknown')
  }
}

function insistOnOwn(policy: Policy): void {
  if (policy['$isBuiltIn'] !== true) return
  throw failure('builtInEfficiencyPolicy')
}
