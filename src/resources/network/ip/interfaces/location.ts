/**
 * Where a network interface is: on the port that has its address, as the machine tells. A home port may be named; without
 * one, it is at home where it is. There is one node, so nothing ever moves between nodes.
 */
import type { Derivation } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { failure } from '../../../../model/failure.ts'
import { flag, oneOf, text, uuid } from '../../../../model/kinds/index.ts'
import type { Fields } from '../../../../model/resource.ts'
import { namesOf, type Row, textOf } from '../../../../model/value.ts'
import { ADDRESSES, DOMAIN, portRows } from '../../ethernet/port-rows.ts'
import { BROADCAST_DOMAINS, IPSPACES, SUBNETS } from '../../names.ts'
import { type AddressRange, numbered, takenIn } from '../ranges.ts'
import type { RowOf } from '../../../../model/rows.ts'

const HOME_NODE = 'location.home_node'
const HOME_PORT = 'location.home_port'

export const locationFields = {
  [`${HOME_NODE}.name`]: {
    doc: 'The name of the home node of the interface.',
    kind: text({ charactersMax: 255 }),
    set: 'always',
  },
  [`${HOME_NODE}.uuid`]: { doc: 'The UUID of the node.', kind: uuid(), set: 'always' },
  location: { doc: 'Where the interface is and where it belongs.', isGroup: true },
  'location.node': { doc: 'The node that the interface is on now.', isGroup: true },
  'location.node.name': { doc: 'The name of the node that has the interface now.' },
  'location.node.uuid': { doc: 'The UUID of the node that has the interface now.', kind: uuid() },
  [`${HOME_PORT}.name`]: {
    doc: 'The name of the home port of the interface. Default: the port with the address.',
    kind: text({ charactersMax: 255 }),
    set: 'always',
  },
  [`${HOME_PORT}.uuid`]: { doc: 'The UUID of the port.', kind: uuid(), set: 'always' },
  [`${HOME_PORT}.node.name`]: {
    doc: 'The name of the node of the port.',
    kind: text({ charactersMax: 255 }),
    set: 'always',
  },
  'location.port': { doc: 'The port that the interface is on now.', isGroup: true },
  'location.port.name': { doc: 'The name of the port that has the address now.' },
  'location.port.uuid': { doc: 'The UUID of the port that has the address now.', kind: uuid() },
  'location.port.node': { doc: 'The node of the port that the interface is on now.', isGroup: true },
  'location.port.node.name': { doc: 'The name of the node of the port that has the address now.' },
  'location.broadcast_domain': { doc: 'The broadcast domain that the interface may use.', isGroup: true },
  'location.broadcast_domain.name': { doc: 'The name of the broadcast domain of the current port.' },
  'location.broadcast_domain.uuid': { doc: 'The UUID of the broadcast domain of the current port.', kind: uuid() },
  'location.is_home': { doc: 'Whether the interface is on its home port.', kind: flag() },
  'location.failover': {
    doc: 'Where the interface may move if its port fails. Stored without effect: the machine keeps its addresses.',
    kind: oneOf({
      default: 'As the service policy says.',
      home_port_only: 'Nowhere.',
      home_node_only: 'To ports of the home node.',
      sfo_partners_only: 'To the home node and its partner.',
      broadcast_domain_only: 'To ports of the broadcast domain.',
    }),
    set: 'always',
    default: 'default',
  },
  'location.auto_revert': {
    doc: 'Whether the interface returns to its home port automatically. Stored without effect.',
    kind: flag(),
    set: 'always',
    default: true,
  },
  ipspace: { doc: 'The IPspace of the interface.', isGroup: true },
  'ipspace.name': { doc: 'The name of the IPspace of the interface.' },
  'ipspace.uuid': { doc: 'The UUID of the IPspace of the interface.', kind: uuid() },
  subnet: { doc: 'The subnet that the interface has its address from.', isGroup: true },
  'subnet.name': { doc: 'The name of the subnet whose ranges contain the address.', since: '9.11.1' },
  'subnet.uuid': { doc: 'The UUID of the subnet whose ranges contain the address.', kind: uuid(), since: '9.11.1' },
} as const satisfies Fields

const location: Derivation<RowOf<'network/ip/interfaces'>> = {
  gives: namesOf(locationFields).filter((path) => path.startsWith('location.')),
  async from(cluster, rows) {
    const [node] = await cluster.rows('cluster/nodes')
    const ports = await portRows(cluster)
    const addresses = new Map<string, Row>()
    for (const port of ports) for (const one of port[ADDRESSES] as readonly string[]) addresses.set(one, port)
    const domains = new Map((await cluster.rows(BROADCAST_DOMAINS)).map((row) => [row['uuid'], row['name'] ?? null]))
    return rows.map((row): Row => {
      const named = row[`${HOME_PORT}.name`]
      const port = addresses.get(row['ip.address'])
      const home = named === undefined || named === null ? port : ports.find(({ name }) => name === named)
      const domain = port?.[DOMAIN] ?? null
      return {
        [`${HOME_NODE}.name`]: node?.['name'] ?? null,
        [`${HOME_NODE}.uuid`]: node?.['uuid'] ?? null,
        'location.node.name': node?.['name'] ?? null,
        'location.node.uuid': node?.['uuid'] ?? null,
        ...portAt(HOME_PORT, home),
        ...portAt('location.port', port),
        'location.broadcast_domain.name': domains.get(textOf(domain)) ?? null,
        'location.broadcast_domain.uuid': domain,
        'location.is_home': home?.['uuid'] === port?.['uuid'],
        'location.failover': row['location.failover'] ?? 'default',
        'location.auto_revert': row['location.auto_revert'] ?? true,
      }
    })
  },
}

function portAt(base: string, port: Row | undefined): Row {
  if (port === undefined) return {}
  return {
    [`${base}.name`]: port['name'] ?? null,
    [`${base}.uuid`]: port['uuid'] ?? null,
    [`${base}.node.name`]: port['node.name'] ?? null,
  }
}

const network: Derivation<RowOf<'network/ip/interfaces'>> = {
  gives: ['ipspace', 'subnet'],
  async from(cluster, rows) {
    const spaces = await cluster.rows(IPSPACES)
    const svms = new Map((await cluster.rows('svm/svms')).map((svm) => [svm['uuid'], svm['ipspace.uuid']]))
    const subnets = await cluster.rows(SUBNETS)
    return rows.map((row): Row => {
      const space = spaces.find(({ uuid }) => uuid === svms.get(row['svm.uuid']))
      const own = numbered([row['ip.address']])
      const subnet = subnets.find(({ ip_ranges: ranges }) =>
        ((ranges ?? []) as unknown as readonly AddressRange[]).some((range) => takenIn(range, own).length > 0),
      )
      return {
        'ipspace.name': space?.['name'] ?? null,
        'ipspace.uuid': space?.['uuid'] ?? null,
        'subnet.name': subnet?.['name'] ?? null,
        'subnet.uuid': subnet?.['uuid'] ?? null,
      }
    })
  },
}

export const locationReadings: readonly Derivation<RowOf<'network/ip/interfaces'>>[] = [location, network]

/** A row as it is kept: its home node is the one there is, its home port is kept by name. */
export async function withHome(cluster: Cluster, row: Row): Promise<Row> {
  const {
    [`${HOME_NODE}.name`]: nodeName,
    [`${HOME_NODE}.uuid`]: nodeUuid,
    [`${HOME_PORT}.name`]: portName,
    [`${HOME_PORT}.uuid`]: portUuid,
    [`${HOME_PORT}.node.name`]: portNode,
    ...rest
  } = row
  const nodes = await cluster.rows('cluster/nodes')
  insistOn(nodes, 'name', `${HOME_NODE}.name`, nodeName)
  insistOn(nodes, 'uuid', `${HOME_NODE}.uuid`, nodeUuid)
  insistOn(nodes, 'name', `${HOME_PORT}.node.name`, portNode)
  if (isSaid(portName) || isSaid(portUuid)) {
    const ports = await portRows(cluster)
    insistOn(ports, 'name', `${HOME_PORT}.name`, portName)
    insistOn(ports, 'uuid', `${HOME_PORT}.uuid`, portUuid)
    // The name is kept and the UUID is not: one that is here was given just now.
    const port = ports.find((one) => one['uuid'] === portUuid || (!isSaid(portUuid) && one['name'] === portName))
    return { ...rest, [`${HOME_PORT}.name`]: port?.['name'] ?? null }
  }
  return rest
}

function isSaid(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function insistOn(rows: readonly Row[], by: 'name' | 'uuid', field: string, given: unknown): void {
  if (!isSaid(given) || rows.some((row) => row[by] === given)) return
  const noun = field.startsWith(HOME_PORT) && !field.includes('.node.') ? 'port' : 'node'
  throw failure('locationUnknown', { noun, name: given, field })
}
