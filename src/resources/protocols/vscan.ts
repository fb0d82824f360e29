import { each, flag, text } from '../../model/kinds/index.ts'
import { emptyCollection } from '../empty-collection.ts'

const named = (what: string) => each({ name: { kind: text(), doc: `The name of the ${what}.` } })

export const vscan = emptyCollection({
  path: '/protocols/vscan',
  noun: 'virus scan configuration',
  doc: 'How SVMs have files scanned for viruses. The product does not scan, so the collection is empty.',
  key: ['svm.uuid'],
  fields: {
    svm: { doc: 'The SVM whose files are scanned.', ref: 'svm/svms' },
    enabled: { doc: 'Whether files are scanned.', kind: flag() },
    scanner_pools: { doc: 'The servers that scan.', kind: named('scanner pool') },
    on_access_policies: { doc: 'What is scanned when a file is opened.', kind: named('policy') },
    on_demand_policies: { doc: 'What is scanned by a schedule.', kind: named('policy') },
  },
})
