import { define } from '../../core/behaviour.ts'
import { flag, name, text, uuid } from '../../model/kinds/index.ts'

export const snapshotPolicies = define({
  path: '/storage/snapshot-policies',
  noun: 'snapshot policy',
  doc: 'Policies that volumes name. Their schedules are not run yet: see docs/differences.md.',
  key: ['uuid'],
  fields: {
    uuid: { doc: 'The UUID of the policy.', kind: uuid() },
    name: { doc: 'The name of the policy.', kind: name() },
    comment: { doc: 'What it is for.', kind: text() },
    enabled: { doc: 'Whether it makes snapshots.', kind: flag() },
  },
})
