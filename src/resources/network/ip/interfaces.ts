import { define } from '../../../core/behaviour.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failures } from '../../../model/failure.ts'
import { address, flag, list, name, netmask, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { textAt, textOf } from '../../../model/value.ts'

const HOME = 'location.home_node.name'

export const interfaces = define(
  {
    path: '/network/ip/interfaces',
    aliases: ['/network/interfaces'],
    noun: 'network interface',
    doc: 'Addresses at which SVMs serve their clients and the cluster is managed.',
    key: ['uuid'],
    parent: 'svm.uuid',
    nameWithin: 'svm.uuid',
    fields: {
      uuid: { doc: 'The UUID of the interface.', kind: uuid() },
      name: { doc: 'The name of the interface.', kind: name(), set: 'always', required: true },
      svm: { doc: 'The SVM it serves.', ref: 'svm/svms', set: 'create', required: true },
      'ip.address': { doc: 'The address.', kind: address(), set: 'create', required: true },
      'ip.netmask': {
        doc: 'The length of the network prefix, or a dotted mask.',
        kind: netmask(),
        set: 'create',
        default: '24',
      },
      'ip.family': { doc: 'The family of the address.', kind: oneOf('ipv4', 'ipv6') },
      enabled: { doc: 'Whether it is to serve.', kind: flag(), set: 'always', default: true },
      state: { doc: 'Whether it serves.', kind: oneOf('up', 'down') },
      scope: { doc: 'Whether it belongs to an SVM or to the cluster.', kind: oneOf('svm', 'cluster') },
      'service_policy.name': {
        doc: 'The name of the policy that says what is served at it. Kept: it serves what its SVM has.',
        kind: name({ charactersMax: 256 }),
        set: 'always',
        default: 'default-data-files',
      },
      services: { doc: 'What is served at it.', kind: list(text()) },
      'location.node.name': { doc: 'The node that has it now.' },
      'location.home_node.name': {
        doc: 'The node it belongs to.',
        kind: text({ charactersMax: 255 }),
        set: 'always',
      },
      'location.is_home': { doc: 'Whether it is where it belongs.', kind: flag() },
    },
  },
  {
    derive: [
      {
        gives: ['state', 'ip.family', 'location.node.name', 'location.home_node.name', 'location.is_home'],
        async from(cluster, rows) {
          const node = (await cluster.rows('cluster/nodes'))[0]?.['name'] ?? null
          return rows.map((row) => ({
            state: row['enabled'] === false ? 'down' : 'up',
            'ip.family': textAt(row, 'ip.address').includes(':') ? 'ipv6' : 'ipv4',
            'location.node.name': node,
            'location.home_node.name': node,
            'location.is_home': true,
          }))
        },
      },
    ],
    ...plainVerbs('network/ip/interfaces', {
      async check(cluster, row) {
        const others = (await cluster.rows('network/ip/interfaces')).filter((other) => other['uuid'] !== row['uuid'])
        const clash = others.find(
          (other) => other['ip.address'] === row['ip.address'] && other['svm.uuid'] !== row['svm.uuid'],
        )
        if (clash !== undefined) throw failures.duplicate('An interface with that address', 'ip.address', 1376963)
        const { [HOME]: home = '', ...kept } = row
        if (home !== '' && !(await cluster.rows('cluster/nodes')).some((node) => node['name'] === home)) {
          throw failures.invalid(HOME, `There is no node "${textOf(home)}".`)
        }
        return { ...kept, scope: 'svm', services: ['data_core', 'data_s3_server'] }
      },
    }),
  },
)
