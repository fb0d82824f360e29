import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { plainModify, plainRemove } from '../../core/plain.ts'
import { inline } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { address, count, flag, list, oneOf, text, uuid } from '../../model/kinds/index.ts'
import { resource, type TypeName } from '../../model/resource.ts'
import type { DraftOf } from '../../model/rows.ts'
import type { Row } from '../../model/value.ts'

export const DNS = 'name-services/dns'

/** What the documentation of the interface allows. */
const DOMAINS_MAX = 6
const SERVERS_MAX = 3

const domain = text({
  charactersMin: 1,
  charactersMax: 255,
  pattern: /^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/,
  patternDoc: 'a domain such as example.com',
})

export const dnsDomains = list(domain, { elementsMax: DOMAINS_MAX })
export const dnsServers = list(address(), { elementsMax: SERVERS_MAX })

const dnsResource = resource({
  path: '/name-services/dns',
  noun: 'DNS configuration',
  doc: 'DNS configurations of the cluster and of SVMs. Stored without effect: no names are looked up yet.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  fields: {
    uuid: { doc: 'The UUID of the SVM, or of the cluster.', kind: uuid() },
    svm: { doc: 'The SVM of the DNS configuration.', ref: 'svm/svms', set: 'create', required: true },
    scope: {
      doc: 'Whether the configuration is for an SVM or for the cluster.',
      kind: oneOf({ svm: 'The configuration is for an SVM.', cluster: 'The configuration is for the cluster.' }),
    },
    domains: {
      doc: 'The domains in which unqualified names are looked up.',
      kind: dnsDomains,
      set: 'always',
      required: true,
    },
    servers: { doc: 'The IP addresses of the DNS servers.', kind: dnsServers, set: 'always', required: true },
    timeout: {
      doc: 'The number of seconds to wait for a response of a server.',
      kind: count({ min: 1, max: 5, unit: 'seconds' }),
      set: 'always',
      default: 2,
      since: '9.9.1',
    },
    attempts: {
      doc: 'The number of times that all servers are queried.',
      kind: count({ min: 1, max: 4 }),
      set: 'always',
      default: 1,
      since: '9.9.1',
    },
    dynamic_dns: { doc: 'Dynamic updates of DNS.', isGroup: true },
    'dynamic_dns.enabled': {
      doc: 'Whether addresses of the SVM are registered at the DNS servers.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.9.1',
    },
    'dynamic_dns.use_secure': {
      doc: 'Whether registrations are authenticated.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.9.1',
    },
    'dynamic_dns.fqdn': {
      doc: 'The host name to register.',
      kind: text({ charactersMax: 255 }),
      set: 'always',
      since: '9.9.1',
    },
    'dynamic_dns.time_to_live': {
      doc: 'How long a registration may be cached, as an ISO 8601 duration.',
      kind: text({
        charactersMax: 32,
        pattern: /^P(?=.)(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?$/,
        patternDoc: 'a duration such as PT24H',
      }),
      set: 'always',
      since: '9.9.1',
    },
    'dynamic_dns.skip_fqdn_validation': {
      doc: 'Whether the host name to register is not validated.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.9.1',
    },
    source_address_match: {
      doc: 'Whether a response must come from the server that was queried.',
      kind: flag(),
      set: 'always',
      default: true,
      since: '9.9.1',
    },
    packet_query_match: {
      doc: 'Whether a response must repeat the query.',
      kind: flag(),
      set: 'always',
      default: true,
      since: '9.9.1',
    },
    tld_query_enabled: {
      doc: 'Whether a name without a dot is also looked up as a top-level domain.',
      kind: flag(),
      set: 'always',
      default: true,
      since: '9.9.1',
    },
    skip_config_validation: {
      doc: 'Whether to skip the test of the servers. Accepted without effect: servers are never tested.',
      kind: flag(),
      set: 'always',
      since: '9.9.1',
    },
  },
})

export const dns: Behaviour<typeof dnsResource> = define(dnsResource, {
  derive: [
    {
      gives: ['svm.name', 'svm.uuid', 'scope'],
      async from(cluster, rows) {
        const [self] = await cluster.rows('cluster')
        return Promise.all(
          rows.map(async (row): Promise<Row> => {
            const key = row['uuid']
            const isCluster = key === self?.['uuid']
            const owner = isCluster ? self : await cluster.find('svm/svms', key)
            return { 'svm.name': owner?.['name'] ?? null, 'svm.uuid': key, scope: isCluster ? 'cluster' : 'svm' }
          }),
        )
      },
    },
  ],
  create: inline({
    example: { svm: { name: 'svm1' }, domains: ['example.com'], servers: ['192.0.2.53'] },
    async plan(cluster, { draft }) {
      const key = draft['svm.uuid']
      if ((await cluster.find(DNS, key)) !== undefined) {
        throw failure('dnsTaken')
      }
      return { key, input: settled({ ...draft, uuid: key }), locks: [`${DNS}:${key}`] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        await cluster.row('svm/svms', key)
        await cluster.commit([cluster.put(DNS, input, { expect: 'absent' })])
      },
    },
  }),
  modify: plainModify(DNS, { check: (_cluster, row) => settled(row) }),
  remove: plainRemove(DNS),
})

function settled<Of extends DraftOf<typeof DNS>>(row: Of): Omit<Of, 'skip_config_validation'> {
  for (const path of ['domains', 'servers'] as const) {
    const given = row[path]
    if (!Array.isArray(given) || given.length === 0) throw failure('dnsListEmpty', { field: path })
    if (new Set(given).size < given.length) throw failure('dnsListRepeats', { field: path })
  }
  const { skip_config_validation: _taken, ...rest } = row
  return rest
}

/** How the cluster itself looks up names; nothing where it has not been told. */
export async function clusterDns(cluster: Cluster, uuid: string): Promise<Row> {
  const row = await cluster.find(DNS, uuid)
  return row === undefined ? {} : { dns_domains: row['domains'] ?? null, name_servers: row['servers'] ?? null }
}

/** The change that tells the cluster how to look up names: what is empty or not given stays out of it. */
export async function clusterDnsChanges(cluster: Cluster, uuid: string, given: Row) {
  const { dns_domains: domains, name_servers: servers } = given
  if (domains === undefined && servers === undefined) return []
  const before = await cluster.find(DNS, uuid)
  const row: Row = {
    ...CLUSTER_DEFAULTS,
    ...before,
    uuid,
    ...(domains === undefined ? {} : { domains }),
    ...(servers === undefined ? {} : { servers }),
  }
  const isEmpty = [row['domains'], row['servers']].every((one) => !Array.isArray(one) || one.length === 0)
  if (isEmpty) return before === undefined ? [] : [{ do: 'remove-record', type: DNS, key: uuid } as const]
  // The type is that of SVMs, and the cluster is none.
  return [cluster.put(DNS as TypeName, settled(row))]
}

const CLUSTER_DEFAULTS: Row = {
  timeout: 2,
  attempts: 1,
  'dynamic_dns.enabled': false,
  'dynamic_dns.use_secure': false,
  'dynamic_dns.skip_fqdn_validation': false,
  source_address_match: true,
  packet_query_match: true,
  tld_query_enabled: true,
}
