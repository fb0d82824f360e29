import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { inline } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { resource } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'
import { fpolicyEngines } from './fpolicy/engines.ts'
import { fpolicyEvents } from './fpolicy/events.ts'
import { policiesOf, POLICIES_LOCK } from './fpolicy/names.ts'
import { partOf, partsKind } from './fpolicy/parts.ts'
import { fpolicyPolicies } from './fpolicy/policies.ts'

const PARTS = { events: fpolicyEvents, engines: fpolicyEngines, policies: fpolicyPolicies } as const

/** The types of what goes with an SVM, policies first. */
export const FPOLICY_TYPES: readonly string[] = [fpolicyPolicies, fpolicyEngines, fpolicyEvents].map(
  ({ resource }) => resource.type,
)

const fpolicyResource = resource({
  path: '/protocols/fpolicy',
  noun: 'FPolicy configuration',
  doc: 'The FPolicy configuration of an SVM: events, engines and policies.',
  key: ['svm.uuid'],
  recordKey: ['svm.uuid'],
  nameWithin: false,
  fields: {
    svm: { doc: 'The SVM.', ref: 'svm/svms' },
    events: { doc: 'The FPolicy events of the SVM.', kind: partsKind(PARTS.events.resource) },
    engines: { doc: 'The FPolicy engines of the SVM.', kind: partsKind(PARTS.engines.resource) },
    policies: { doc: 'The FPolicy policies of the SVM.', kind: partsKind(PARTS.policies.resource) },
  },
})

export const fpolicy: Behaviour<typeof fpolicyResource> = define(fpolicyResource, {
  async rows(cluster) {
    const rows = new Map<string, Record<string, Row[]>>()
    for (const [part, { resource }] of Object.entries(PARTS)) {
      for (const record of await cluster.rows(resource.type)) {
        const svm = textAt(record, 'svm.uuid')
        const row = rows.get(svm) ?? { events: [], engines: [], policies: [] }
        row[part]?.push(record)
        rows.set(svm, row)
      }
    }
    return [...rows].map(([svm, parts]) => {
      const shown = Object.entries(parts).map(([part, records]) => [part, records.map(partOf)])
      return Object.fromEntries([['svm.uuid', svm], ...shown]) as Row
    })
  },
  remove: inline({
    alone: () => [POLICIES_LOCK],
    async plan(cluster, { row }) {
      const svm = row['svm.uuid']
      const enabled = (await policiesOf(cluster, svm)).find((policy) => policy['enabled'] === true)
      if (enabled !== undefined) {
        throw failure('fpolicyPolicyEnabled', { policy: textAt(enabled, 'name') })
      }
      return { key: svm, input: {} }
    },
    step: { name: 'remove records', run: (cluster, { key }) => removeAll(cluster, key) },
  }),
})

async function removeAll(cluster: Cluster, svm: string): Promise<void> {
  const records = await Promise.all(FPOLICY_TYPES.map((type) => cluster.catalog.records(type, { parent: svm })))
  await cluster.commit(records.flat().map(({ type, key }) => ({ do: 'remove-record', type, key }) as const))
}
