import { type Behaviour, define } from '../../../core/behaviour.ts'
import { namedUuid } from '../../../records/named-uuid.ts'
import { eachInTurns } from '../../../core/time/turns.ts'
import { flag, list, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'

/** The service policies that each SVM comes with, by what clients know them for. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  'default-data-files': [
    'data_core',
    'data_nfs',
    'data_cifs',
    'data_flexcache',
    'data_fpolicy_client',
    'management_dns_client',
    'management_ad_client',
    'management_ldap_client',
    'management_nis_client',
  ],
  'default-management': ['management_core', 'management_ssh', 'management_https'],
}

const servicePoliciesResource = resource({
  path: '/network/ip/service-policies',
  noun: 'service policy',
  doc: 'Service policies name the services of network interfaces. Each SVM has the built-in policies. They restrict nothing: an interface serves all services of its SVM.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'services'],
  fields: {
    uuid: { doc: 'The UUID of the service policy.', kind: uuid() },
    name: { doc: 'The name of the service policy, unique within its SVM.', kind: text() },
    services: { doc: 'The services that the service policy names.', kind: list(text()) },
    scope: {
      doc: 'Whether the service policy belongs to an SVM. Always `svm`.',
      kind: oneOf({ svm: 'The policy belongs to an SVM.', cluster: 'The policy belongs to the cluster.' }),
    },
    is_built_in: {
      doc: 'Whether the service policy comes with its SVM. Always true.',
      kind: flag(),
      since: '9.11.1',
    },
    svm: { doc: 'The SVM that the service policy belongs to.', ref: 'svm/svms' },
    ipspace: { doc: 'The IPspace of the SVM.', ref: 'network/ipspaces' },
  },
})

export const servicePolicies: Behaviour<typeof servicePoliciesResource> = define(servicePoliciesResource, {
  async rows(cluster) {
    const rows: Row[] = []
    for await (const svm of eachInTurns(cluster.system, await cluster.shortRows('svm/svms'))) {
      const key = svm['uuid']
      for (const [name, services] of Object.entries(BUILT_IN)) {
        rows.push({
          uuid: namedUuid(cluster, `service policy ${name} of ${key}`),
          name,
          services,
          scope: 'svm',
          is_built_in: true,
          'svm.uuid': key,
          'ipspace.uuid': svm['ipspace.uuid'] ?? null,
        })
      }
    }
    return rows
  },
})
