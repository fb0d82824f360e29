import { type Behaviour, define } from '../../../core/behaviour.ts'
import { inline, type Verb, type VerbRequest } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { text, uuid as uuidKind } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import { SCHEDULES, SCHEDULES_LOCK } from '../../cluster/schedules.ts'
import { changePolicy } from '../snapshot-policies.ts'
import {
  copiesOf,
  copyFields,
  settleCopies,
  shownCopy,
  SNAPSHOT_POLICIES,
  type Copy,
  type GivenCopy,
} from './copies.ts'
import type { DraftOf, RowOf } from '../../../model/rows.ts'

const SCHEDULES_OF_POLICY = 'storage/snapshot-policies/{snapshot_policy.uuid}/schedules'
const PATH_KEY = 'snapshot_policy.uuid'
const POLICY_NAME = 'snapshot_policy.name'

type Schedule = RowOf<typeof SCHEDULES_OF_POLICY>

const snapshotPolicySchedulesResource = resource({
  path: `/${SCHEDULES_OF_POLICY}`,
  noun: 'schedule of the snapshot policy',
  doc: 'The schedules of a snapshot policy, the same as in its field `copies`.',
  key: ['schedule.uuid'],
  nameWithin: false,
  fields: {
    snapshot_policy: { doc: 'The snapshot policy.', ref: SNAPSHOT_POLICIES },
    schedule: { doc: 'The schedule that says when a snapshot is made.', isGroup: true },
    'schedule.name': { doc: 'The name of the schedule.', kind: text({ charactersMax: 256 }), set: 'create' },
    'schedule.uuid': { doc: 'The UUID of the schedule.', kind: uuidKind(), set: 'create' },
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
        const name = schedule.name ?? null
        rows.push({ ...shown, [PATH_KEY]: path[PATH_KEY] ?? '', 'schedule.uuid': schedule.uuid, 'schedule.name': name })
      }
      return rows
    },
    create: {
      ...changing(({ draft }, copies) => [...copies, { schedule: {}, ...draft }]),
      example: { 'schedule.name': 'weekly', count: 2 },
    },
    modify: {
      ...changing(({ draft, row }, copies) => copies.map((copy) => (isOf(copy, row) ? { ...copy, ...draft } : copy))),
      example: { count: 3 },
    },
    remove: changing(({ row }, copies) => copies.filter((copy) => !isOf(copy, row))),
  },
)

/** The copies that a policy is to have in place of those that it has. */
type Change = (
  asked: { readonly draft: Partial<GivenCopy>; readonly row: DraftOf<typeof SCHEDULES_OF_POLICY> },
  copies: readonly Copy[],
) => readonly GivenCopy[]

function changing(change: Change): Verb {
  return inline({
    async plan(cluster, request: VerbRequest<Schedule, DraftOf<typeof SCHEDULES_OF_POLICY>>) {
      const key = request.path[PATH_KEY] ?? ''
      const policy = await cluster.row(SNAPSHOT_POLICIES, key)
      const draft = nested(request.draft)
      const row: DraftOf<typeof SCHEDULES_OF_POLICY> = request.row ?? {}
      const copies = await settleCopies(cluster, change({ draft, row }, copiesOf(policy)), policy['svm.uuid'] ?? '')
      const schedule = request.row === undefined ? copies.at(-1)?.schedule.uuid : row['schedule.uuid']
      return { key: schedule ?? '', input: { policy: key, draft, row }, locks: [SCHEDULES_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { input: { policy: key, draft, row } }) {
        await changePolicy(cluster, key, (policy) => {
          const copies = copiesOf(policy)
          if (row['schedule.uuid'] !== undefined && !copies.some((copy) => isOf(copy, row))) {
            throw failure('snapshotPolicyScheduleGone')
          }
          return { copies: change({ draft, row }, copies) }
        })
      },
    },
  })
}

function isOf(copy: Copy, row: DraftOf<typeof SCHEDULES_OF_POLICY>): boolean {
  return copy.schedule.uuid === row['schedule.uuid']
}

/** Fields of a row as the element of the list has them. */
function nested(draft: DraftOf<typeof SCHEDULES_OF_POLICY>): Partial<GivenCopy> {
  const { 'schedule.uuid': uuid, 'schedule.name': name, [PATH_KEY]: _policy, [POLICY_NAME]: _name, ...copy } = draft
  const schedule = { ...(uuid === undefined ? {} : { uuid }), ...(name === undefined ? {} : { name }) }
  return uuid === undefined && name === undefined ? copy : { ...copy, schedule }
}
