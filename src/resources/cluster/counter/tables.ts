import { type Behaviour, define } from '../../../core/behaviour.ts'
import { counterTables } from '../../../core/counter-tables.ts'
import { failures } from '../../../model/failure.ts'
import { each, group, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { TABLE_NOT_FOUND } from './tables/rows.ts'

const tablesResource = resource({
  path: '/cluster/counter/tables',
  noun: 'counter table',
  doc: 'Tables of counters: what is counted, in which unit.',
  since: '9.11.1',
  key: ['name'],
  nameWithin: false,
  fields: {
    name: { doc: 'The name of the table.', kind: text() },
    description: { doc: 'What the table is about.', kind: text() },
    counter_schemas: {
      doc: 'What is counted.',
      kind: each({
        name: { kind: text(), doc: 'The name of the counter.' },
        description: { kind: text(), doc: 'What it counts.' },
        type: {
          kind: oneOf('average', 'rate', 'delta', 'raw', 'percent', 'string'),
          doc: 'How to read two samples.',
        },
        unit: { kind: text(), doc: 'Its unit.' },
        denominator: {
          kind: group({ name: { kind: text(), doc: 'Its name.' } }),
          doc: 'The counter to divide by, for an average.',
        },
      }),
    },
  },
})

export const tables: Behaviour<typeof tablesResource> = define(tablesResource, {
  rows(_cluster, path) {
    const wanted = path['name']
    if (wanted !== undefined && !counterTables.some((table) => table.name === wanted)) {
      throw failures.notFound('counter table', 'name', TABLE_NOT_FOUND)
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
