import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { count, each, flag, group, list, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import { type Row, textOf } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { BROADCAST_DOMAINS, DEFAULT, INTERFACES, IPSPACES, NETWORK_LOCK, PORTS } from '../names.ts'
import { ADDRESSES, DOMAIN, portRows } from './port-rows.ts'
import type { DraftOf, NewOf } from '../../../model/rows.ts'

export const qualifiedPorts = each({
  name: { kind: text(), doc: 'The name of the port on the machine.' },
  uuid: { kind: uuid(), doc: 'The UUID of the port. It changes with the name of the port.' },
  node: { kind: group({ name: { kind: text(), doc: 'The name of the node.' } }), doc: 'The node that has the port.' },
})

const portsResource = resource({
  path: '/network/ethernet/ports',
  noun: 'port',
  doc: 'The network ports of the machine. They are configured on the machine.',
  key: ['uuid'],
  nameWithin: false,
  // Of ports that the machine has now, and that hold their broadcast domain. Settings of others let go of it.
  within: { broadcast_domain: namesBy(BROADCAST_DOMAINS, 'kept', DOMAIN, { cleared: '' }) },
  order: [
    { path: 'node.name', isDescending: false },
    { path: 'name', isDescending: false },
  ],
  columns: ['name', 'node.name', 'state', 'type', 'speed', 'mtu', 'broadcast_domain.name'],
  fields: {
    uuid: { doc: 'The UUID of the port. It stays the same as long as its name does.', kind: uuid() },
    name: { doc: 'The name that the machine gives it.', kind: text() },
    node: { doc: 'The node that has the port.', isGroup: true },
    'node.name': { doc: 'The name of the node that has the port.', kind: text() },
    'node.uuid': { doc: 'The UUID of the node that has the port.', kind: uuid() },
    type: {
      doc: 'The type of the port.',
      kind: oneOf({
        vlan: 'A VLAN on another port.',
        physical: 'A physical port.',
        lag: 'A link aggregation group of several ports.',
      }),
    },
    state: {
      doc: 'The link state of the port, as reported by the machine.',
      kind: oneOf({ up: 'The link is up.', down: 'The link is down.' }),
    },
    enabled: { doc: 'Whether the port may be used. Stored without effect.', kind: flag(), set: 'modify' },
    mtu: { doc: 'The maximum size of a frame on the port, in bytes.', kind: count({ unit: 'bytes' }) },
    speed: { doc: 'The speed of the port in megabits per second, if it is known.', kind: count() },
    mac_address: { doc: 'The MAC address of the port.', kind: text() },
    interface_count: { doc: 'The number of network interfaces on the port.', kind: count() },
    rdma_protocols: { doc: 'The RDMA protocols of the port. Always empty.', kind: list(text()), since: '9.10.1' },
    reachability: {
      doc: 'Whether the port reaches its broadcast domain. Not tested: a port in a broadcast domain counts as `ok`.',
      kind: oneOf({ ok: 'The port is in a broadcast domain.', not_repairable: 'The port is in no broadcast domain.' }),
    },
    broadcast_domain: { doc: 'The broadcast domain that the port belongs to.', isGroup: true },
    'broadcast_domain.name': { doc: 'The name of the broadcast domain of the port.', kind: text(), set: 'modify' },
    [DOMAIN]: { doc: 'The UUID of the broadcast domain of the port.', kind: uuid(), set: 'modify' },
    'broadcast_domain.ipspace': { doc: 'The IPspace of the broadcast domain.', isGroup: true },
    'broadcast_domain.ipspace.name': {
      doc: 'The name of the IPspace of the broadcast domain.',
      kind: text(),
      set: 'modify',
    },
    'broadcast_domain.ipspace.uuid': { doc: 'The UUID of the IPspace of the broadcast domain.', kind: uuid() },
    vlan: { doc: 'The VLAN that the port carries.', isGroup: true },
    'vlan.tag': { doc: 'The VLAN tag of a VLAN port.', kind: count({ min: 1, max: 4094 }) },
    'vlan.base_port': { doc: 'The port that the VLAN is on.', isGroup: true },
    'vlan.base_port.name': { doc: 'The name of the port below a VLAN port.', kind: text() },
    'vlan.base_port.uuid': { doc: 'The UUID of the port below a VLAN port.', kind: uuid() },
    'vlan.base_port.node': { doc: 'The node of the port that the VLAN is on.', isGroup: true },
    'vlan.base_port.node.name': { doc: 'The name of the node of the port below a VLAN port.', kind: text() },
    lag: { doc: 'The link aggregation group that the port is.', isGroup: true },
    'lag.mode': {
      doc: 'How a link aggregation group uses its ports.',
      kind: oneOf({
        multimode_lacp: 'All ports carry traffic, negotiated by LACP.',
        multimode: 'All ports carry traffic.',
        singlemode: 'One port carries traffic at a time.',
      }),
    },
    'lag.distribution_policy': {
      doc: 'How a link aggregation group distributes frames to its ports.',
      kind: oneOf({
        port: 'By the TCP or UDP port.',
        ip: 'By the IP address.',
        mac: 'By the MAC address.',
        sequential: 'In turn.',
      }),
    },
    'lag.member_ports': { doc: 'The member ports of a link aggregation group.', kind: qualifiedPorts },
    'lag.active_ports': { doc: 'The member ports that carry traffic now.', kind: qualifiedPorts },
  },
})

export const ports: Behaviour<typeof portsResource> = define(portsResource, {
  rows: (cluster) => portRows(cluster),
  derive: [
    {
      gives: ['interface_count', 'rdma_protocols', 'reachability'],
      async from(cluster, rows) {
        const used = (await cluster.rows(INTERFACES)).map((row) => row['ip.address'])
        return rows.map((row): Row => {
          const own = new Set(row[ADDRESSES] as readonly string[])
          return {
            interface_count: used.filter((address) => own.has(address)).length,
            rdma_protocols: [],
            reachability: textOf(row[DOMAIN]) !== '' ? 'ok' : 'not_repairable',
          }
        })
      },
    },
    {
      gives: ['broadcast_domain.name', 'broadcast_domain.ipspace.name'],
      async from(cluster, rows) {
        const names = new Map(
          [...(await cluster.rows(BROADCAST_DOMAINS)), ...(await cluster.rows(IPSPACES))].map((row) => [
            row['uuid'],
            row['name'] ?? null,
          ]),
        )
        return rows.map((row) => ({
          'broadcast_domain.name': names.get(row[DOMAIN] ?? '') ?? null,
          'broadcast_domain.ipspace.name': names.get(row['broadcast_domain.ipspace.uuid'] ?? '') ?? null,
        }))
      },
    },
  ],
  modify: inline({
    example: { enabled: true },
    async plan(cluster, { row, draft }) {
      const { enabled } = draft
      const domain = await chosenDomain(cluster, draft)
      const input: DraftOf<'network/ethernet/ports'> = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(domain === undefined ? {} : { [DOMAIN]: domain }),
      }
      return { key: row['uuid'], input, locks: [NETWORK_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const domain = input[DOMAIN] ?? ''
        // It may have gone since the plan was made.
        if (domain !== '') await cluster.row(BROADCAST_DOMAINS, domain)
        await cluster.commit([await portChange(cluster, key, input)])
      },
    },
  }),
})

/** The change that sets something of a port. To be made and committed with `NETWORK_LOCK` held. */
export async function portChange(cluster: Cluster, key: string, settings: Row): Promise<Change> {
  return cluster.put(PORTS, { uuid: key, ...(await cluster.find(PORTS, key)), ...settings })
}

/** The broadcast domain that a change names. Without an IPspace, it is one of the IPspace that comes with the cluster. */
async function chosenDomain(cluster: Cluster, draft: NewOf<'network/ethernet/ports'>): Promise<string | undefined> {
  const given = draft[DOMAIN]
  const domainName = draft['broadcast_domain.name']
  const space = draft['broadcast_domain.ipspace.name']
  if (typeof given === 'string') {
    const found = await cluster.find(BROADCAST_DOMAINS, given)
    if (found === undefined) throw failure('broadcastDomainUuidUnknown', { uuid: given })
    if (typeof domainName === 'string' && domainName !== found['name']) {
      throw failure('broadcastDomainMismatch')
    }
    return given
  }
  if (typeof domainName !== 'string') {
    if (space === undefined) return undefined
    throw failure('fieldRequired', { field: 'broadcast_domain.name' })
  }
  return domainNamed(cluster, domainName, typeof space === 'string' ? space : DEFAULT)
}

/** The UUID of a broadcast domain by its name and that of its IPspace. */
export async function domainNamed(cluster: Cluster, domain: string, ipspace: string): Promise<string> {
  const within = await cluster.keyOfName(IPSPACES, ipspace)
  if (within === undefined) {
    throw failure('portIpspaceUnknown', { ipspace: ipspace.slice(0, 80) })
  }
  const found = await cluster.keyOfName(BROADCAST_DOMAINS, domain, within)
  if (found !== undefined) return found
  throw failure('broadcastDomainUnknown', { domain: domain.slice(0, 80), ipspace })
}
