import type { Derivation } from '../../../core/behaviour.ts'
import { flag, oneOf } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { areQuotasOn } from '../quota/limits.ts'
import type { Volume } from '../../../records/rows.ts'

export const quotaFields = {
  quota: { doc: 'Quotas in the volume.', isGroup: true },
  'quota.enabled': { doc: 'Whether the quota rules of the volume are enforced.', kind: flag(), set: 'modify' },
  'quota.state': {
    doc: 'Whether the quota rules of the volume are enforced, as a state.',
    kind: oneOf({ on: 'Rules are enforced.', off: 'Rules are ignored.' }),
  },
} as const satisfies Fields

export const volumeQuota: Derivation<Volume> = {
  gives: ['quota'],
  from: (_cluster, rows) =>
    Promise.resolve(
      rows.map((row) => ({ 'quota.enabled': areQuotasOn(row), 'quota.state': areQuotasOn(row) ? 'on' : 'off' })),
    ),
}
