import { type Behaviour, define } from '../core/behaviour.ts'
import type { Cluster } from '../core/cluster.ts'
import { CLUSTER_ROW } from '../core/metrics/history.ts'
import { inline } from '../core/verb.ts'
import { failure } from '../model/failure.ts'
import { count, flag, name, oneOf, text, uuid } from '../model/kinds/index.ts'
import { printRelease } from '../model/release.ts'
import { resource } from '../model/resource.ts'
import type { RowOf } from '../model/rows.ts'
import { namesOf } from '../model/value.ts'
import { tagFields } from './tags.ts'
import { clusterDns, clusterDnsChanges, dnsDomains, dnsServers } from './name-services/dns.ts'
import { insistOnServerCertificate, managementFields, managementReadings } from './cluster/management.ts'
import { lastSample, operationFields, totalsOfAll } from './metric-readings.ts'

export const versionFields = {
  version: { doc: 'The release in use.', isGroup: true },
  'version.full': { doc: 'The product and the release, as one line.' },
  'version.generation': { doc: 'The first number of the release.', kind: count() },
  'version.major': { doc: 'The second number of the release.', kind: count() },
  'version.minor': { doc: 'The third number of the release.', kind: count() },
} as const

export function versionOf(cluster: Cluster) {
  const { generation, major, minor } = cluster.release
  return {
    'version.full': `Holdfast Release ${printRelease(cluster.release)}`,
    'version.generation': generation,
    'version.major': major,
    'version.minor': minor,
  }
}

const clusterResource = resource({
  path: '/cluster',
  noun: 'cluster',
  doc: 'The cluster: its name, its release and its options.',
  key: [],
  nameWithin: false,
  within: { certificate: 'blocks' },
  fields: {
    name: { doc: 'The name of the cluster.', kind: name({ charactersMax: 44 }), set: 'modify' },
    uuid: { doc: 'The UUID of the cluster, made at the first start.', kind: uuid() },
    contact: { doc: 'The contact person for the cluster.', kind: text({ charactersMax: 255 }), set: 'modify' },
    location: { doc: 'The location of the cluster.', kind: text({ charactersMax: 255 }), set: 'modify' },
    dns_domains: {
      doc: 'The DNS domains in which the cluster looks up unqualified names. Also at `/name-services/dns`.',
      kind: dnsDomains,
      set: 'modify',
    },
    name_servers: { doc: 'The addresses of the DNS servers that the cluster asks.', kind: dnsServers, set: 'modify' },
    ...managementFields,
    ...versionFields,
    ...operationFields,
    ...tagFields,
    san_optimized: { doc: 'Whether the cluster serves block storage only. Always false.', kind: flag() },
    disaggregated: { doc: 'Whether nodes share all disks. Always false.', kind: flag() },
    wire_dialect: {
      doc: 'How responses are spelled.',
      kind: oneOf({
        auto: 'By the client.',
        spec: 'To the letter of the specification.',
        native: 'As shipping clients expect.',
      }),
      set: 'modify',
    },
  },
})

export const cluster: Behaviour<typeof clusterResource> = define(clusterResource, {
  derive: [
    {
      gives: namesOf(versionFields),
      from: (cluster, rows) => Promise.resolve(rows.map(() => versionOf(cluster))),
    },
    {
      gives: ['dns_domains', 'name_servers'],
      from: (cluster, rows) => Promise.all(rows.map((row) => clusterDns(cluster, row['uuid']))),
    },
    {
      gives: ['san_optimized', 'disaggregated'],
      from: (_cluster, rows) => Promise.resolve(rows.map(() => ({ san_optimized: false, disaggregated: false }))),
    },
    ...managementReadings,
    lastSample(() => CLUSTER_ROW),
    totalsOfAll('object_store_server'),
  ],
  modify: inline({
    example: { location: 'Room 4', contact: 'operators@example.com' },
    async plan(cluster, { row, draft }) {
      await insistOnServerCertificate(cluster, draft)
      return { key: row['uuid'], input: { ...draft }, locks: ['accounts'] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const record = await cluster.record('cluster', key)
        if (record === undefined) throw failure('clusterNotFound')
        const { dns_domains: _domains, name_servers: _servers, ...own } = input
        const after: RowOf<'cluster'> = { ...record.body, ...own }
        await cluster.commit([
          ...(await clusterDnsChanges(cluster, key, input)),
          cluster.put('cluster', after, { expect: record.revision }),
        ])
      },
    },
  }),
})
