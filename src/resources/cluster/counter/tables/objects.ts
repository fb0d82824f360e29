/** What the rows of counter tables are about: who it is, and what was counted of it. */
import { aggregateOf } from '../../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import type { CounterTable } from '../../../../core/metrics/counter-tables.ts'
import type { Sums } from '../../../../core/metrics/counter-schemas.ts'
import { interfaceSums, nodeSums, portSums, processorSums } from '../../../../core/metrics/machine-counters.ts'
import type { RowOf } from '../../../../model/rows.ts'
import type { MachinePort } from '../../../../ports/machine.ts'
import { eachInTurns } from '../../../../core/time/turns.ts'
import { UP_SINCE } from '../../../network/ip/interfaces.ts'
import { type Workload, workloadsOf } from '../../../storage/qos/workloads.ts'

type Interface = RowOf<'network/ip/interfaces'>

export interface CountedObject {
  readonly id: string
  readonly properties: Readonly<Record<string, string>>
  /** The rows of the catalog whose counters it shows, summed. */
  readonly counted: readonly string[]
  /** What the machine counted of it. */
  readonly sums?: Sums
}

export async function objectsOf(cluster: Cluster, { rowsOf }: CounterTable): Promise<readonly CountedObject[]> {
  const [self] = await cluster.rows('cluster/nodes')
  const node = self?.['name'] ?? ''
  switch (rowsOf) {
    case 'volumes':
      return volumeObjects(cluster, node)
    case 'interfaces':
      return interfaceObjects(cluster, node)
    case 'node': {
      const volumes = await cluster.shortRows('storage/volumes')
      return [{ id: node, properties: { name: node, 'node.name': node }, counted: volumes.map(uuidOf) }]
    }
    case 'svm': {
      const volumes = Map.groupBy(await cluster.shortRows('storage/volumes'), svmUuidOf)
      return (await cluster.rows('svm/svms')).map((svm) => ({
        id: svm['name'],
        properties: { name: svm['name'], 'svm.name': svm['name'] },
        counted: (volumes.get(uuidOf(svm)) ?? []).map(uuidOf),
      }))
    }
    case 'servers':
      return (await cluster.rows('svm/svms')).map((svm) => {
        const [name, uuid] = [svm['name'], uuidOf(svm)]
        const properties = { name, uuid, 'node.name': node, 'svm.name': name }
        return { id: `${node}:${name}:${name}:${uuid}`, properties, counted: [uuid] }
      })
    case 'workloads': {
      // Of buckets and qtrees it is not counted by itself what they do.
      const workloads = (await workloadsOf(cluster)).filter(({ isUserDefined }) => isUserDefined)
      return workloads
        .filter(({ type }) => type === 'storage/volumes' || type === 'svm/svms')
        .map((workload) => workloadObject(workload))
    }
    case 'volume workloads': {
      const workloads = await workloadsOf(cluster)
      return workloads.filter(({ type }) => type === 'storage/volumes').map((workload) => workloadObject(workload))
    }
    case 'system': {
      return machineObjects(cluster, node, `${node}:${self?.['uuid'] ?? ''}`)
    }
    case 'machine':
      return machineObjects(cluster, node)
    case 'processors':
      return processorObjects(cluster, node)
    case 'ports':
      return portObjects(cluster, node)
  }
}

async function volumeObjects(cluster: Cluster, node: string): Promise<readonly CountedObject[]> {
  const svms = await namesOf(cluster, 'svm/svms')
  const aggregates = await namesOf(cluster, 'storage/aggregates')
  return mapped(cluster, await cluster.shortRows('storage/volumes'), (volume) => {
    const [name, uuid, svm] = [volume['name'], uuidOf(volume), svms.get(svmUuidOf(volume)) ?? '']
    const aggregate = aggregates.get(aggregateOf(volume)) ?? ''
    const properties = { name, uuid, 'node.name': node, 'svm.name': svm, parent_aggregate: aggregate }
    return { id: `${node}:${svm}:${name}:${uuid}`, properties, counted: [uuid] }
  })
}

async function interfaceObjects(cluster: Cluster, node: string): Promise<readonly CountedObject[]> {
  const svms = await namesOf(cluster, 'svm/svms')
  const ports = await cluster.machine.ports()
  const traffic = await cluster.machine.traffic?.()
  const portWith = new Map(ports.toReversed().flatMap((port) => port.addresses.map((address) => [address, port])))
  const portOf = (one: Interface) => portWith.get(one['ip.address'] ?? '')
  const rows = await cluster.shortRows('network/ip/interfaces')
  const onPort = new Map<string | undefined, number>()
  for await (const one of eachInTurns(cluster.system, rows)) {
    const name = portOf(one)?.name
    onPort.set(name, (onPort.get(name) ?? 0) + 1)
  }
  return mapped(cluster, rows, (one) => {
    const [name, uuid, svm] = [one['name'], uuidOf(one), svms.get(svmUuidOf(one)) ?? '']
    const port = portOf(one)
    const properties = { name, uuid, 'node.name': node, 'svm.name': svm, current_port: port?.name ?? '' }
    const isAlone = port !== undefined && port.addresses.length === 1 && onPort.get(port.name) === 1
    return {
      id: `${node}:${svm}:${name}:${uuid}`,
      properties,
      counted: [uuid],
      sums: {
        ...interfaceSums(port === undefined ? undefined : traffic?.ports.get(port.name), isAlone),
        up_time: upTimeMs(cluster, one),
      },
    }
  })
}

/** Since the interface was enabled, or since the start of the cluster where that is later. */
function upTimeMs(cluster: Cluster, one: Interface): number {
  if (one['enabled'] === false) return 0
  const enabledMs = cluster.now() - Number(one[UP_SINCE] ?? 0)
  return Math.max(0, Math.min(enabledMs, cluster.upSeconds() * 1000))
}

function workloadObject({ uuid, name, key }: Workload): CountedObject {
  return { id: `${name}:${uuid}`, properties: { name, uuid }, counted: [key] }
}

async function machineObjects(cluster: Cluster, node: string, id = node): Promise<readonly CountedObject[]> {
  const traffic = await cluster.machine.traffic?.()
  if (traffic === undefined) return []
  const carriers = new Set((await cluster.machine.ports()).filter(carries).map(({ name }) => name))
  const volumes = await cluster.shortRows('storage/volumes')
  return [
    {
      id,
      properties: { name: node, 'node.name': node },
      counted: volumes.map(uuidOf),
      sums: nodeSums(traffic, await cluster.machine.facts(), (port) => carriers.has(port)),
    },
  ]
}

/** What passes one that stands for others, or a VLAN, passes one of these too. */
function carries({ isLoopback, vlan, lag }: MachinePort): boolean {
  return !isLoopback && vlan === undefined && lag === undefined
}

async function processorObjects(cluster: Cluster, node: string): Promise<readonly CountedObject[]> {
  const { processors = [] } = (await cluster.machine.traffic?.()) ?? {}
  return processors.map((time, at) => {
    const name = `processor${at}`
    return { id: `${node}:${name}`, properties: { name, 'node.name': node }, counted: [], sums: processorSums(time) }
  })
}

async function portObjects(cluster: Cluster, node: string): Promise<readonly CountedObject[]> {
  const traffic = await cluster.machine.traffic?.()
  return (await cluster.machine.ports()).flatMap((port) => {
    const counted = traffic?.ports.get(port.name)
    if (counted === undefined) return []
    const properties = {
      name: port.name,
      'node.name': node,
      link_current_state: port.isUp ? 'up' : 'down',
      link_speed: port.megabitsPerSecond === undefined ? '' : `${port.megabitsPerSecond}M`,
      type: port.vlan !== undefined ? 'vlan' : port.lag !== undefined ? 'lag' : 'physical',
    }
    return [{ id: `${node}:${port.name}`, properties, counted: [], sums: portSums(counted) }]
  })
}

/** Some at a time: there may be ten thousand. */
async function mapped<Of>(
  cluster: Cluster,
  rows: readonly Of[],
  objectOf: (row: Of) => CountedObject,
): Promise<readonly CountedObject[]> {
  const objects: CountedObject[] = []
  for await (const row of eachInTurns(cluster.system, rows)) objects.push(objectOf(row))
  return objects
}

const uuidOf = (row: { readonly uuid: string }) => row.uuid
const svmUuidOf = (row: { readonly 'svm.uuid'?: string }) => row['svm.uuid'] ?? ''

async function namesOf(
  cluster: Cluster,
  type: 'svm/svms' | 'storage/aggregates',
): Promise<ReadonlyMap<string, string>> {
  return new Map((await cluster.shortRows(type)).map((row) => [row['uuid'], row['name']]))
}
