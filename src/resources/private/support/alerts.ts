import { flag, text, time } from '../../../model/kinds/index.ts'
import { emptyCollection } from '../../empty-collection.ts'

export const alerts = emptyCollection({
  path: '/private/support/alerts',
  noun: 'health alert',
  doc: 'Alerts of hardware monitors. The product monitors no hardware, so the collection is empty. Events are at `/support/ems/events`.',
  key: ['alert_id'],
  fields: {
    alert_id: { doc: 'Identifier of the alert.' },
    node: { doc: 'The node that raised the alert.', ref: 'cluster/nodes' },
    monitor: { doc: 'The monitor that raised the alert.', kind: text() },
    resource: { doc: 'The part that the alert is about.' },
    subsystem: { doc: 'The subsystem that the part belongs to.' },
    severity: { doc: 'The severity of the alert.' },
    cause: { doc: 'Cause of the alert.' },
    effect: { doc: 'The consequence of the alert for the cluster.' },
    corrective_action: { doc: 'The action that resolves the alert.' },
    time: { doc: 'When the alert was raised.', kind: time() },
    acknowledge: { doc: 'Whether an administrator acknowledged the alert.', kind: flag() },
    suppress: { doc: 'Whether an administrator suppressed the alert.', kind: flag() },
  },
})
