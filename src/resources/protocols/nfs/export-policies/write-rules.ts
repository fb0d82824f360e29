import type { Cluster } from '../../../../core/cluster.ts'
import { type Row, textAt } from '../../../../model/value.ts'
import { changeExportPolicy } from '../export-policies.ts'

/** Nobody else changes the policy between plan and step: both are alone. */
export function writeRules() {
  return {
    name: 'write record',
    async run(cluster: Cluster, { input }: { readonly input: Row }) {
      await changeExportPolicy(cluster, textAt(input, 'policy'), () => ({ rules: input['rules'] ?? [] }))
    },
  }
}
