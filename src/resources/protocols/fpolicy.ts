import { type Behaviour, define, type Derivation } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { inline } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { resource } from '../../model/resource.ts'
import type { RowIn } from '../../model/rows.ts'
import type { Row } from '../../model/value.ts'
import { FPOLICY_ENGINES, fpolicyEngines } from './fpolicy/engines.ts'
import { FPOLICY_EVENTS, fpolicyEvents } from './fpolicy/events.ts'
import { FPOLICY_POLICIES, policiesOf, POLICIES_LOCK } from './fpolicy/names.ts'
import { partOf, partsKind } from './fpolicy/parts.ts'
import { fpolicyPolicies } from './fpolicy/policies.ts'

const PARTS = { events: fpolicyEvents, engines: fpolicyEngines, policies: fpolicyPolicies } as const

/** The types of what goes with an SVM, policies first. */
export const FPOLICY_TYPES = [FPOLICY_POLICIES, FPOLICY_ENGINES, FPOLICY_EVENTS] as const

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
    const all = await Promise.all(FPOLICY_TYPES.map((type) => cluster.shortRows(type)))
    return [...new Set(all.flat().map((row) => row['svm.uuid']))].map((svm) => ({ 'svm.uuid': svm }))
  },
  derive: [
    partsOf('events', FPOLICY_EVENTS),
    partsOf('engines', FPOLICY_ENGINES),
    partsOf('policies', FPOLICY_POLICIES),
  ],
  remove: inline({
    alone: () => [POLICIES_LOCK],
    async plan(cluster, { row }) {
      const svm = row['svm.uuid']
      const enabled = (await policiesOf(cluster, svm)).find((policy) => policy['enabled'] === true)
      if (enabled !== undefined) {
        throw failure('fpolicyPolicyEnabled', { policy: enabled['name'] })
      }
      return { key: svm, input: {} }
    },
    step: { name: 'remove records', run: (cluster, { key }) => removeAll(cluster, key) },
  }),
})

/** The list of one kind of part, read for the SVMs that are shown. */
function partsOf(
  path: keyof typeof PARTS,
  type: (typeof FPOLICY_TYPES)[number],
): Derivation<RowIn<typeof fpolicyResource>> {
  return {
    gives: [path],
    async from(cluster, rows) {
      const lists: Row[] = []
      for (const row of rows) lists.push({ [path]: (await cluster.rows(type, row['svm.uuid'])).map(partOf) })
      return lists
    },
  }
}

async function removeAll(cluster: Cluster, svm: string): Promise<void> {
  const records = await Promise.all(FPOLICY_TYPES.map((type) => cluster.catalog.records(type, { parent: svm })))
  await cluster.commit(records.flat().map(({ type, key }) => ({ do: 'remove-record', type, key }) as const))
}
