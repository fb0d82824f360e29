import { address, each, flag, oneOf, text, time } from '../../model/kinds/index.ts'
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
    on_access_policies: { doc: 'The policies for scans when a file is opened.', kind: named('policy') },
    on_demand_policies: { doc: 'The policies for scheduled scans.', kind: named('policy') },
  },
})

export const vscanServers = emptyCollection({
  path: '/protocols/vscan/server-status',
  noun: 'virus scanner',
  doc: 'The servers that scan files for viruses, as nodes see them. The product does not scan, so the collection is empty.',
  key: ['node.uuid', 'svm.uuid', 'ip'],
  fields: {
    svm: { doc: 'The SVM whose files the server scans.', ref: 'svm/svms' },
    node: { doc: 'The node that the server is connected to.', ref: 'cluster/nodes' },
    ip: { doc: 'The address of the server.', kind: address() },
    state: {
      doc: 'Whether the server is connected.',
      kind: oneOf({ connected: 'The server is connected.', disconnected: 'The server is not connected.' }),
    },
    disconnected_reason: { doc: 'Why the server is not connected.' },
    type: {
      doc: 'The role of the server.',
      kind: oneOf({ primary: 'The server scans.', backup: 'The server scans if no primary server can.' }),
    },
    vendor: { doc: 'The maker of the scanner.' },
    version: { doc: 'The version of the scanner.' },
    update_time: { doc: 'When the state of the server was read.', kind: time() },
  },
})
