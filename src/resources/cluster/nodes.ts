import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainModify } from '../../core/plain.ts'
import { processorFiguresOf } from '../../core/metrics/figures.ts'
import { count, name, oneOf, text, time, uuid, percent } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import { namesOf } from '../../model/value.ts'
import { versionFields, versionOf } from '../cluster.ts'
import { intervalFields, lastSample } from '../metric-readings.ts'
import { managementInterfaces, managementInterfacesField } from './management.ts'
import { hardwareFields, hardwareReadings } from './nodes/hardware.ts'

const nodesResource = resource({
  path: '/cluster/nodes',
  noun: 'node',
  doc: 'The machines that the cluster runs on.',
  key: ['uuid'],
  columns: ['name', 'state', 'model', 'uptime', 'version.full'],
  fields: {
    ...groups({
      'controller.failed_fan': 'Fans of the node that failed.',
      'controller.failed_fan.message': 'A sentence about the fans of the node.',
      'controller.failed_power_supply': 'Power supplies of the node that failed.',
      'controller.failed_power_supply.message': 'A sentence about the power supplies of the node.',
    }),
    uuid: { doc: 'The UUID of the node.', kind: uuid() },
    name: { doc: 'The name of the node.', kind: name(), set: 'modify' },
    location: { doc: 'The location of the node.', kind: text({ charactersMax: 255 }), set: 'modify' },
    owner: { doc: 'The owner of the node.', kind: text({ charactersMax: 255 }), set: 'modify', since: '9.9.1' },
    state: {
      doc: 'Whether the node serves clients.',
      kind: oneOf({ up: 'The node serves clients.', down: 'The node does not serve clients.' }),
    },
    membership: {
      doc: 'Whether the node belongs to the cluster.',
      kind: oneOf({ member: 'The node belongs to the cluster.', available: 'The node can join the cluster.' }),
    },
    model: { doc: 'The model of the machine.', kind: text() },
    date: { doc: 'The time of the clock of the node.', kind: time() },
    uptime: {
      doc: 'The number of seconds since the cluster was started on the node.',
      kind: count({ unit: 'seconds' }),
    },
    management_interfaces: managementInterfacesField,
    ...hardwareFields,
    ...versionFields,
    ...intervalFields('metric.'),
    metric: { doc: 'Figures of the node over the last interval.', isGroup: true },
    'metric.processor_utilization': {
      doc: 'The utilization of the processors in the last interval, in percent.',
      kind: percent(),
      isExpensive: true,
    },
    statistics: { doc: 'Counters of the node since it started.', isGroup: true },
    'statistics.timestamp': { doc: 'When the totals were read.', kind: time(), isExpensive: true },
    'statistics.status': {
      doc: 'Whether the totals are whole.',
      kind: oneOf({ ok: 'The counters are complete.' }),
      isExpensive: true,
    },
    'statistics.processor_utilization_raw': {
      doc: 'The number of milliseconds that the processors of the node were busy so far.',
      kind: count({ unit: 'milliseconds' }),
      isExpensive: true,
    },
    'statistics.processor_utilization_base': {
      doc: 'The number of milliseconds that the processors of the node were available so far.',
      kind: count({ unit: 'milliseconds' }),
      isExpensive: true,
    },
  },
})

export const nodes: Behaviour<typeof nodesResource> = define(nodesResource, {
  derive: [
    {
      gives: namesOf(versionFields),
      from: (cluster, rows) => Promise.resolve(rows.map(() => versionOf(cluster))),
    },
    {
      gives: ['date', 'uptime'],
      from: (cluster, rows) => Promise.resolve(rows.map(() => ({ date: cluster.now(), uptime: cluster.upSeconds() }))),
    },
    managementInterfaces,
    ...hardwareReadings,
    lastSample(({ uuid }) => uuid, processorFiguresOf),
    {
      gives: ['statistics'],
      from: (cluster, rows) => {
        const { busyMs, wholeMs } = cluster.machine.processors()
        const statistics = {
          'statistics.timestamp': cluster.now(),
          'statistics.status': 'ok' as const,
          'statistics.processor_utilization_raw': busyMs,
          'statistics.processor_utilization_base': wholeMs,
        }
        return Promise.resolve(rows.map(() => statistics))
      },
    },
  ],
  modify: plainModify('cluster/nodes', { exampleChange: { location: 'Rack 7' } }),
})
