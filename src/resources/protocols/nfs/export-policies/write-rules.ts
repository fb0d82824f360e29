import { changeExportPolicy } from '../export-policies.ts'
import type { Step } from '../../../../core/verb.ts'
import type { ExportRule } from './rule-list.ts'

/** Nobody else changes the policy between plan and step: both are alone. */
export function writeRules(): Step<{ readonly policy: string; readonly rules: readonly ExportRule[] }> {
  return {
    name: 'write record',
    async run(cluster, { input }) {
      await changeExportPolicy(cluster, input.policy, () => ({ rules: input.rules }))
    },
  }
}
