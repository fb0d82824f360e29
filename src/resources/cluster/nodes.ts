import { define } from '../../core/behaviour.ts'
import { each, name, oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { versionFields, versionOf } from '../cluster.ts'

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
    ],
  },
)
