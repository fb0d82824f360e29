import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { failures } from '../../../model/failure.ts'
import { count, each, flag, group, list, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type Row, textAt, textOf } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { BROADCAST_DOMAINS, DEFAULT, INTERFACES, IPSPACES, NETWORK_LOCK, PORTS } from '../names.ts'
import { ADDRESSES, DOMAIN, portRows } from './port-rows.ts'

export const qualifiedPorts = each({
  name: { kind: text(), doc: 'The name of the port.' },
  uuid: { kind: uuid(), doc: 'Its UUID.' },
  node: { kind: group({ name: { kind: text(), doc: 'The name of the node.' } }), doc: 'The node that has it.' },
})

const portsResource = resource({
  path: '/network/ethernet/ports',
  noun: 'port',
  doc: 'The network interfaces of the machine. They are made, joined and given addresses there; here they are seen.',
  key: ['uuid'],
  nameWithin: false,
  order: [
    { path: 'node.name', isDescending: false },
    { path: 'name', isDescending: false },
  ],
  columns: ['name', 'node.name', 'state', 'type', 'speed', 'mtu', 'broadcast_domain.name'],
  fields: {
    uuid: { doc: 'The UUID of the port. It stays the same as long as its name does.', kind: uuid() },
    name: { doc: 'The name that the machine gives it.', kind: text() },
    node: { doc: 'The node that has the port.', isGroup: true },
    'node.name': { doc: 'The node that has it.', kind: text() },
    'node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
    type: { doc: 'Whether it stands for several ports, or for a VLAN.', kind: oneOf('vlan', 'physical', 'lag') },
    state: { doc: 'Whether the machine says that it is up.', kind: oneOf('up', 'down') },
    enabled: { doc: 'Whether it is to be used. A record.', kind: flag(), set: 'modify' },
    mtu: { doc: 'Bytes that a frame of it may carry.', kind: count({ unit: 'bytes' }) },
    speed: { doc: 'Its speed in megabits per second, where there is one.', kind: count() },
    mac_address: { doc: 'Its hardware address.', kind: text() },
    interface_count: { doc: 'How many network interfaces have an address of it.', kind: count() },
    rdma_protocols: { doc: 'None: nothing is served by RDMA.', kind: list(text()), since: '9.10.1' },
    reachability: {
      doc: 'Whether it is where it can be reached: a port in a broadcast domain is taken to be. Nothing is tried.',
      kind: oneOf('ok', 'not_repairable'),
    },
    broadcast_domain: { doc: 'The broadcast domain that the port belongs to.', isGroup: true },
    'broadcast_domain.name': { doc: 'The broadcast domain that it is in.', kind: text(), set: 'modify' },
    [DOMAIN]: { doc: 'The UUID of that broadcast domain.', kind: uuid(), set: 'modify' },
    'broadcast_domain.ipspace': { doc: 'The IPspace of the broadcast domain.', isGroup: true },
    'broadcast_domain.ipspace.name': { doc: 'The IPspace of that.', kind: text(), set: 'modify' },
    'broadcast_domain.ipspace.uuid': { doc: 'The UUID of that IPspace.', kind: uuid() },
    vlan: { doc: 'The VLAN that the port carries.', isGroup: true },
    'vlan.tag': { doc: 'For a VLAN: its tag.', kind: count({ min: 1, max: 4094 }) },
    'vlan.base_port': { doc: 'The port that the VLAN is on.', isGroup: true },
    'vlan.base_port.name': { doc: 'For a VLAN: the port that carries it.', kind: text() },
    'vlan.base_port.uuid': { doc: 'The UUID of that port.', kind: uuid() },
    'vlan.base_port.node': { doc: 'The node of the port that the VLAN is on.', isGroup: true },
    'vlan.base_port.node.name': { doc: 'The node of that port.', kind: text() },
    lag: { doc: 'The link aggregation group that the port is.', isGroup: true },
    'lag.mode': {
      doc: 'For several ports in one: who of them carries.',
      kind: oneOf('multimode_lacp', 'multimode', 'singlemode'),
    },
    'lag.distribution_policy': {
      doc: 'By what a frame chooses its port.',
      kind: oneOf('port', 'ip', 'mac', 'sequential'),
    },
    'lag.member_ports': { doc: 'The ports that it stands for.', kind: qualifiedPorts },
    'lag.active_ports': { doc: 'Those of them that carry now.', kind: qualifiedPorts },
  },
})

export const ports: Behaviour<typeof portsResource> = define(portsResource, {
  rows: (cluster) => portRows(cluster),
  derive: [
    {
      gives: ['interface_count', 'rdma_protocols', 'reachability'],
      async from(cluster, rows) {
        const used = (await cluster.rows(INTERFACES)).map((row) => textAt(row, 'ip.address'))
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
      const input: Row = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(domain === undefined ? {} : { [DOMAIN]: domain }),
      }
      return { key: textAt(row, 'uuid'), input, locks: [NETWORK_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const domain = textAt(input, DOMAIN)
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
async function chosenDomain(cluster: Cluster, draft: Row): Promise<string | undefined> {
  const given = draft[DOMAIN]
  const domainName = draft['broadcast_domain.name']
  const space = draft['broadcast_domain.ipspace.name']
  if (typeof given === 'string') {
    const found = await cluster.find(BROADCAST_DOMAINS, given)
    if (found === undefined) throw failures.invalid(DOMAIN, `There is no broadcast domain "${given}".`, 262185)
    if (typeof domainName === 'string' && domainName !== found['name']) {
      throw failures.invalid('broadcast_domain.name', 'The name and the UUID are those of different broadcast domains.')
    }
    return given
  }
  if (typeof domainName !== 'string') {
    if (space === undefined) return undefined
    throw failures.missing('broadcast_domain.name')
  }
  return domainNamed(cluster, domainName, typeof space === 'string' ? space : DEFAULT)
}

/** The UUID of a broadcast domain by its name and that of its IPspace. */
export async function domainNamed(cluster: Cluster, domain: string, ipspace: string): Promise<string> {
  const within = await cluster.keyOfName(IPSPACES, ipspace)
  if (within === undefined) {
    throw failures.invalid('broadcast_domain.ipspace.name', `There is no IPspace "${ipspace.slice(0, 80)}".`, 262185)
  }
  const found = await cluster.keyOfName(BROADCAST_DOMAINS, domain, within)
  if (found !== undefined) return found
  const message = `There is no broadcast domain "${domain.slice(0, 80)}" in the IPspace "${ipspace}".`
  throw failures.invalid('broadcast_domain.name', message, 262185)
}
