/**
 * The ports of the node: what the machine has now, each with what was set of it. A port has no record until something is
 * set. Where nothing was, it is in the broadcast domain that comes with the cluster, unless it is a loopback.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { namedUuid } from '../../../records/named-uuid.ts'
import { type Row, textOf } from '../../../model/value.ts'
import type { MachinePort } from '../../../ports/machine.ts'
import { BROADCAST_DOMAINS, PORTS } from '../names.ts'

export async function portRows(cluster: Cluster): Promise<Row[]> {
  const [node] = await cluster.rows('cluster/nodes')
  const domains = await cluster.rows(BROADCAST_DOMAINS)
  const first = domains.find((domain) => domain['$isBuiltIn'] === true)
  const uuidOf = (port: string) => namedUuid(cluster, `port ${node?.['uuid'] ?? ''}/${port}`)
  const member: Member = (port) => ({ name: port, uuid: uuidOf(port), node: { name: node?.['name'] ?? '' } })
  const usually = ({ isLoopback }: MachinePort) => (isLoopback ? undefined : first)
  const rows: Row[] = []
  for (const port of await cluster.machine.ports()) {
    const uuid = uuidOf(port.name)
    const settings = await cluster.find(PORTS, uuid)
    const chosen = settings?.[DOMAIN]
    const domain = chosen === undefined ? usually(port) : await cluster.find(BROADCAST_DOMAINS, textOf(chosen))
    rows.push({
      uuid,
      name: port.name,
      'node.name': node?.['name'] ?? '',
      'node.uuid': node?.['uuid'] ?? '',
      enabled: settings?.['enabled'] ?? true,
      [ADDRESSES]: port.addresses,
      [DOMAIN]: domain?.['uuid'] ?? null,
      'broadcast_domain.ipspace.uuid': domain?.['ipspace.uuid'] ?? null,
      ...told(port, member),
    })
  }
  return rows
}

type Member = (port: string) => {
  readonly name: string
  readonly uuid: string
  readonly node: { readonly name: string }
}

/** Where a port was put; '' for one that was taken out of its broadcast domain. */
export const DOMAIN = 'broadcast_domain.uuid'
/** The addresses that a port has. */
export const ADDRESSES = '$addresses'

function told(port: MachinePort, member: Member): Row {
  const { vlan, lag } = port
  return {
    type: vlan !== undefined ? 'vlan' : lag !== undefined ? 'lag' : 'physical',
    state: port.isUp ? 'up' : 'down',
    mtu: port.mtuBytes,
    ...(port.macAddress === undefined ? {} : { mac_address: port.macAddress }),
    ...(port.megabitsPerSecond === undefined ? {} : { speed: port.megabitsPerSecond }),
    ...(vlan === undefined ? {} : vlanFields(vlan, member)),
    ...(lag === undefined
      ? {}
      : {
          'lag.mode': lag.mode,
          'lag.distribution_policy': lag.distribution,
          'lag.member_ports': lag.members.map(member),
          'lag.active_ports': lag.active.map(member),
        }),
  }
}

function vlanFields(vlan: NonNullable<MachinePort['vlan']>, member: Member): Row {
  const base = member(vlan.base)
  return {
    'vlan.tag': vlan.tag,
    'vlan.base_port.name': vlan.base,
    'vlan.base_port.uuid': base.uuid,
    'vlan.base_port.node.name': base.node.name,
  }
}
