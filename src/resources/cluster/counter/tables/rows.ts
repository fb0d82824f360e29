import { define } from '../../../../core/behaviour.ts'
import { counterTables } from '../../../../core/counter-tables.ts'
import { failures } from '../../../../model/failure.ts'
import { count, each, text } from '../../../../model/kinds/index.ts'
import { textAt, textOf } from '../../../../model/value.ts'

export const counterRows = define(
  {
    path: '/cluster/counter/tables/{counter_table.name}/rows',
    noun: 'counter row',
    doc: 'Counters of one object, from real operations. They only grow; read twice and subtract.',
    since: '9.11.1',
    key: ['id'],
    fields: {
      'counter_table.name': { doc: 'The table.' },
      id: { doc: 'What is counted for: node, SVM, name and UUID.' },
      properties: {
        doc: 'What describes the object.',
        kind: each({ name: { kind: text(), doc: 'Its name.' }, value: { kind: text(), doc: 'Its value.' } }),
      },
      counters: {
        doc: 'The values.',
        kind: each({ name: { kind: text(), doc: 'The counter.' }, value: { kind: count(), doc: 'Its total so far.' } }),
      },
    },
  },
  {
    async rows(cluster, path) {
      const table = counterTables.find(({ name }) => name === path['counter_table.name'])
      if (table === undefined) throw failures.notFound('counter table', 'counter_table.name')
      const [node] = await cluster.rows('cluster/nodes')
      const totals = await cluster.catalog.counters(table.name)
      const objects = await cluster.rows(table.rowsOf)
      const svmNames = new Map((await cluster.rows('svm/svms')).map((svm) => [svm['uuid'], textAt(svm, 'name')]))
      return objects.map((object) => {
        const uuid = textAt(object, 'uuid')
        const name = textAt(object, 'name')
        const svm = table.rowsOf === 'svm/svms' ? name : (svmNames.get(object['svm.uuid'] ?? '') ?? '')
        const properties = { node: textOf(node?.['name'] ?? ''), 'svm.name': svm, name, uuid }
        return {
          'counter_table.name': table.name,
          id: Object.values(properties).join(':'),
          properties: Object.entries(properties).map(([property, value]) => ({ name: property, value })),
          counters: table.counters.map((counter) => ({
            name: counter.name,
            value: totals.get(uuid)?.[counter.name] ?? 0,
          })),
        }
      })
    },
  },
)
