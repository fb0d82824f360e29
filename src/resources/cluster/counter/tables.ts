import { type Behaviour, define } from '../../../core/behaviour.ts'
import { counterTables } from '../../../core/metrics/counter-tables.ts'
import { failure } from '../../../model/failure.ts'
import { each, group, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'

const tablesResource = resource({
  path: '/cluster/counter/tables',
  noun: 'counter table',
  doc: 'Counter tables describe counters and their units.',
  since: '9.11.1',
  key: ['name'],
  nameWithin: false,
  fields: {
    name: { doc: 'The name of the table.', kind: text() },
    description: { doc: 'A sentence that describes the table.', kind: text() },
    counter_schemas: {
      doc: 'The counters of the table.',
      kind: each({
        name: { kind: text(), doc: 'The name of the counter.' },
        description: { kind: text(), doc: 'A sentence that describes the counter.' },
        type: {
          kind: oneOf({
            average: 'The difference of two samples, divided by the difference of the denominator.',
            rate: 'The difference of two samples, divided by the time between them.',
            delta: 'The difference of two samples.',
            raw: 'The value itself.',
            percent: 'The difference of two samples as a percentage of the denominator.',
            string: 'A text.',
          }),
          doc: 'How to evaluate two samples of the counter.',
        },
        unit: { kind: text(), doc: 'The unit of the counter.' },
        denominator: {
          kind: group({ name: { kind: text(), doc: 'The name of the counter that is the denominator.' } }),
          doc: 'The denominator of an average.',
        },
      }),
    },
  },
})

export const tables: Behaviour<typeof tablesResource> = define(tablesResource, {
  rows(_cluster, path) {
    const wanted = path['name']
    if (wanted !== undefined && !counterTables.some((table) => table.name === wanted)) {
      throw failure('counterTableNotFound')
    }
    return Promise.resolve(
      counterTables.map((table) => ({
        name: table.name,
        description: table.description,
        counter_schemas: table.counters.map(({ name: counter, description, type, unit, denominator }) => ({
          name: counter,
          description,
          type,
          unit,
          ...(denominator === undefined ? {} : { denominator: { name: denominator } }),
        })),
      })),
    )
  },
})
