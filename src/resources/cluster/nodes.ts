import { define } from '../../core/behaviour.ts'
import { processorFiguresOf } from '../../core/metrics/figures.ts'
import { count, each, name, oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { textAt } from '../../model/value.ts'
import { versionFields, versionOf } from '../cluster.ts'
import { intervalFields, lastSample } from '../metric-readings.ts'

export const nodes = define(
  {
    path: '/cluster/nodes',
    noun: 'node',
    doc: 'The machines that the cluster runs on.',
    key: ['uuid'],
    fields: {
      uuid: { doc: 'The UUID of the node.', kind: uuid() },
      name: { doc: 'The name of the node.', kind: name() },
      state: { doc: 'Whether it serves.', kind: oneOf('up', 'down') },
      membership: { doc: 'Whether it belongs to the cluster.', kind: oneOf('member', 'available') },
      model: { doc: 'What kind of machine it is.', kind: text() },
      cluster_interfaces: {
        doc: 'The addresses at which nodes reach one another. One node needs none.',
        kind: each({
          name: { kind: text(), doc: 'Its name.' },
          uuid: { kind: uuid(), doc: 'Its UUID.' },
        }),
      },
      date: { doc: 'What its clock says.', kind: time() },
      ...versionFields,
      ...intervalFields('metric.'),
      'metric.processor_utilization': {
        doc: 'How much of the time of its processors was used in the last sample, in percent.',
        kind: count(),
        isExpensive: true,
      },
      'statistics.timestamp': { doc: 'When the totals were read.', kind: time(), isExpensive: true },
      'statistics.status': { doc: 'Whether the totals are whole.', kind: oneOf('ok'), isExpensive: true },
      'statistics.processor_utilization_raw': {
        doc: 'Milliseconds that its processors were busy so far.',
        kind: count(),
        isExpensive: true,
      },
      'statistics.processor_utilization_base': {
        doc: 'Milliseconds that its processors had so far.',
        kind: count(),
        isExpensive: true,
      },
    },
  },
  {
    derive: [
      {
        gives: Object.keys(versionFields),
        from: (cluster, rows) => Promise.resolve(rows.map(() => versionOf(cluster))),
      },
      {
        gives: ['date', 'cluster_interfaces'],
        from: (cluster, rows) => Promise.resolve(rows.map(() => ({ date: cluster.now(), cluster_interfaces: [] }))),
      },
      lastSample((node) => textAt(node, 'uuid'), processorFiguresOf),
      {
        gives: ['statistics'],
        from: (cluster, rows) => {
          const { busyMs, wholeMs } = cluster.machine.processors()
          const statistics = {
            'statistics.timestamp': cluster.now(),
            'statistics.status': 'ok',
            'statistics.processor_utilization_raw': busyMs,
            'statistics.processor_utilization_base': wholeMs,
          }
          return Promise.resolve(rows.map(() => statistics))
        },
      },
    ],
  },
)
