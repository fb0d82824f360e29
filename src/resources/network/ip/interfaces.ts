import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { familyOf } from '../../../model/addresses.ts'
import { groups, resource } from '../../../model/resource.ts'
import { failure } from '../../../model/failure.ts'
import { address, flag, list, name, netmask, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { lastSample, operationFields, totals } from '../../metric-readings.ts'
import { NETWORK_LOCK } from '../names.ts'
import { locationFields, locationReadings, withHome } from './interfaces/location.ts'
import type { RowOf, DraftOf } from '../../../model/rows.ts'

const uuidOf = (row: DraftOf<'network/ip/interfaces'>) => row['uuid'] ?? ''

/** Holds when the interface was enabled last. */
export const UP_SINCE = '$up_since'

/** Of operations, what can be said of an interface: what went through it. `read` is what was sent. */
const throughputFields = Object.fromEntries(
  Object.entries(operationFields).filter(([path]) => !/\.(?:iops|latency)(?:_raw)?\./.test(path)),
)

/** Services that an interface has where its SVM has settings of their kind. */
const SERVICES = [
  ['protocols/nfs/services', 'data_nfs'],
  ['protocols/cifs/services', 'data_cifs'],
] as const

const services: Derivation<RowOf<'network/ip/interfaces'>> = {
  gives: ['services'],
  async from(cluster, rows) {
    const svms = await Promise.all(
      SERVICES.map(async ([type, service]) => {
        const having = (await cluster.rows(type)).map((row) => row['svm.uuid'])
        return { service, having: new Set(having) }
      }),
    )
    return rows.map((row) => {
      const own = svms.filter(({ having }) => having.has(row['svm.uuid'])).map(({ service }) => service)
      return { services: ['data_core', ...own, 'data_s3_server'] }
    })
  },
}

const interfacesResource = resource({
  path: '/network/ip/interfaces',
  aliases: ['/network/interfaces'],
  noun: 'network interface',
  doc: 'Network interfaces are the addresses at which SVMs serve clients and the cluster is managed.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'ip.address', 'state', 'location.port.name', 'service_policy.name', 'ipspace.name'],
  form: {
    Interface: ['name', 'svm.name', 'ip.address', 'ip.netmask', 'service_policy.name', 'enabled'],
    Location: ['location.home_node.name', 'location.home_port.name', 'location.auto_revert', 'location.failover'],
  },
  removal: 'disruptive',
  fields: {
    ...groups({
      'location.home_node': 'The node that the interface belongs to.',
      'location.home_port': 'The port that the interface belongs to.',
      'location.home_port.node': 'The node of the port that the interface belongs to.',
      metric: 'Throughput of the interface over the last interval.',
      statistics: 'Bytes that the interface carried since it was made.',
    }),
    uuid: { doc: 'The UUID of the interface.', kind: uuid() },
    name: { doc: 'The name of the interface.', kind: name(), set: 'always', required: true },
    svm: { doc: 'The SVM of the network interface.', ref: 'svm/svms', set: 'create', required: true },
    ip: { doc: 'The IP address of the interface.', isGroup: true },
    'ip.address': {
      danger: 'disruptive',
      doc: 'The IP address of the interface.',
      kind: address(),
      set: 'always',
      required: true,
    },
    'ip.netmask': {
      doc: 'The prefix length or the netmask of the network.',
      kind: netmask(),
      set: 'always',
      default: '24',
    },
    'ip.family': { doc: 'The address family of the interface.', kind: oneOf({ ipv4: 'IPv4.', ipv6: 'IPv6.' }) },
    enabled: {
      danger: 'disruptive',
      doc: 'Whether the interface is enabled.',
      kind: flag(),
      set: 'always',
      default: true,
    },
    state: {
      doc: 'Whether the interface serves clients.',
      kind: oneOf({
        up: 'The interface serves clients.',
        down: 'The interface is disabled, or the machine does not have the address.',
      }),
    },
    scope: {
      doc: 'Whether the interface belongs to an SVM or to the cluster.',
      kind: oneOf({
        svm: 'The interface serves an SVM.',
        cluster: 'The interface serves the management of the cluster.',
      }),
    },
    service_policy: { doc: 'Which services the interface offers.', isGroup: true },
    'service_policy.name': {
      doc: 'The name of the service policy. Stored without effect: an interface serves all services of the SVM.',
      kind: name({ charactersMax: 256 }),
      set: 'always',
      default: 'default-data-files',
    },
    services: {
      doc: 'The services of the SVM: S3, and the protocols with settings. Only S3 is served.',
      kind: list(text()),
    },
    ...locationFields,
    ...throughputFields,
  },
})

const verbs = plainVerbs('network/ip/interfaces', {
  example: { name: 'lif_example', 'svm.name': 'svm1', 'ip.address': '127.0.0.9', 'ip.netmask': '8' },
  goesWith: (key) => [{ do: 'drop-counters', table: 'lif', row: key }],
  async check(cluster, row) {
    const others = (await cluster.rows('network/ip/interfaces')).filter((other) => other['uuid'] !== row['uuid'])
    const clash = others.find(
      (other) => other['ip.address'] === row['ip.address'] && other['svm.uuid'] !== row['svm.uuid'],
    )
    if (clash !== undefined) throw failure('interfaceAddressTaken')
    const upSince = row['enabled'] === false ? null : (row[UP_SINCE] ?? cluster.now())
    return { ...(await withHome(cluster, row)), scope: 'svm', [UP_SINCE]: upSince }
  },
})

export const interfaces: Behaviour<typeof interfacesResource> = define(interfacesResource, {
  derive: [
    {
      gives: ['state', 'ip.family'],
      from: (_cluster, rows) =>
        Promise.resolve(
          rows.map((row) => ({
            state: row['enabled'] === false ? 'down' : 'up',
            'ip.family': familyOf(row['ip.address']),
          })),
        ),
    },
    services,
    ...locationReadings,
    lastSample(uuidOf),
    totals('lif', uuidOf),
  ],
  ...verbs,
  create: { ...verbs.create, alone: () => [NETWORK_LOCK] },
  modify: { ...verbs.modify, alone: () => [NETWORK_LOCK] },
})
