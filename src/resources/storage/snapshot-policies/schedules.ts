import { type Behaviour, define } from '../../../core/behaviour.ts'
import { inline, type Verb, type VerbRequest } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type Row, textOf, type Value } from '../../../model/value.ts'
import { SCHEDULES, SCHEDULES_LOCK } from '../../cluster/schedules.ts'
import { changePolicy } from '../snapshot-policies.ts'
import { copiesOf, copyFields, settleCopies, shownCopy, SNAPSHOT_POLICIES, type Copy } from './copies.ts'
import type { DraftOf } from '../../../model/rows.ts'

const PATH_KEY = 'snapshot_policy.uuid'

const snapshotPolicySchedulesResource = resource({
  path: '/storage/snapshot-policies/{snapshot_policy.uuid}/schedules',
  noun: 'schedule of the snapshot policy',
  doc: 'The schedules of a snapshot policy, the same as in its field `copies`.',
  key: ['schedule.uuid'],
  nameWithin: false,
  fields: {
    snapshot_policy: { doc: 'The snapshot policy.', ref: SNAPSHOT_POLICIES },
    schedule: { doc: 'The schedule that says when a snapshot is made.', isGroup: true },
    'schedule.name': { doc: 'The name of the schedule.', kind: text({ charactersMax: 256 }), set: 'create' },
    'schedule.uuid': { doc: 'The UUID of the schedule.', kind: uuid(), set: 'create' },
    count: { ...copyFields.count, set: 'always', required: true },
    prefix: { ...copyFields.prefix, set: 'always' },
    snapmirror_label: { ...copyFields.snapmirror_label, set: 'always' },
    retention_period: { ...copyFields.retention_period, set: 'always', since: '9.12.1' },
  },
})

export const snapshotPolicySchedules: Behaviour<typeof snapshotPolicySchedulesResource> = define(
  snapshotPolicySchedulesResource,
  {
    async rows(cluster, path) {
      const policy = await cluster.find(SNAPSHOT_POLICIES, path[PATH_KEY] ?? '')
      const rows: Row[] = []
      for (const copy of copiesOf(policy)) {
        const { schedule, ...shown } = shownCopy(copy, await cluster.find(SCHEDULES, copy.schedule.uuid))
        const { uuid: key, name } = schedule as { uuid: string; name: Value }
        rows.push({ ...shown, [PATH_KEY]: path[PATH_KEY] ?? '', 'schedule.uuid': key, 'schedule.name': name })
      }
      return rows
    },
    create: {
      ...changing(({ draft }, copies) => [...copies, draft]),
      example: { 'schedule.name': 'weekly', count: 2 },
    },
    modify: {
      ...changing(({ draft, row }, copies) =>
        copies.map((copy) => (isOf(copy, row) ? { ...(copy as unknown as Row), ...draft } : copy)),
      ),
      example: { count: 3 },
    },
    remove: changing(({ row }, copies) => copies.filter((copy) => !isOf(copy, row))),
  },
)

type Change = (request: Pick<VerbRequest, 'draft' | 'row'>, copies: readonly Copy[]) => readonly (Copy | Row)[]

/** A verb that makes other copies of those that its policy has. */
function changing(change: Change): Verb {
  return inline({
    async plan(cluster, request) {
      const key = request.path[PATH_KEY] ?? ''
      const policy = await cluster.row(SNAPSHOT_POLICIES, key)
      const draft = nested(request.draft)
      const row = request.row ?? {}
      const before = copiesOf(policy)
      const copies = await settleCopies(cluster, change({ draft, row }, before) as Value[], policy['svm.uuid'] ?? '')
      const schedule = request.row === undefined ? copies.at(-1)?.schedule.uuid : textOf(row['schedule.uuid'])
      return { key: schedule ?? '', input: { policy: key, draft, row }, locks: [SCHEDULES_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        const row = input['row']
        await changePolicy(cluster, input['policy'], (policy) => {
          const copies = copiesOf(policy)
          if (textOf(row['schedule.uuid']) !== '' && !copies.some((copy) => isOf(copy, row))) {
            throw failure('snapshotPolicyScheduleGone')
          }
          return { copies: change({ draft: input['draft'], row }, copies) as Value }
        })
      },
    },
  })
}

function isOf(
  copy: Copy,
  row: DraftOf<'storage/snapshot-policies/{snapshot_policy.uuid}/schedules'> | undefined,
): boolean {
  return copy.schedule.uuid === row?.['schedule.uuid']
}

/** Fields of a row as the element of the list has them. */
function nested(draft: DraftOf<'storage/snapshot-policies/{snapshot_policy.uuid}/schedules'>): Row {
  const { 'schedule.uuid': key, 'schedule.name': name, [PATH_KEY]: _policy, ...rest } = draft
  const kept = Object.fromEntries(Object.entries(rest).filter(([path]) => path in copyFields))
  const schedule = { ...(key === undefined ? {} : { uuid: key }), ...(name === undefined ? {} : { name }) }
  return key === undefined && name === undefined ? kept : { ...kept, schedule }
}
