import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { countedOf, type Sums } from '../../../../core/metrics/counter-schemas.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { type CountedTable, counterTables } from '../../../../core/metrics/counter-tables.ts'
import { eachInTurns, inTurns } from '../../../../core/time/turns.ts'
import { failure } from '../../../../model/failure.ts'
import { count, each, flag, list, text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import type { Row } from '../../../../model/value.ts'
import { objectsOf } from './objects.ts'

/** Rows of totals read in one turn of the event loop. */
const TOTALS_A_TURN = 200

const counterRowsResource = resource({
  path: '/cluster/counter/tables/{counter_table.name}/rows',
  noun: 'counter row',
  doc: 'Counters of one object. Counters only grow: read a row twice and subtract.',
  since: '9.11.1',
  key: ['id'],
  fields: {
    counter_table: { doc: 'The counter table that the row belongs to.', isGroup: true },
    'counter_table.name': { doc: 'The name of the counter table.' },
    id: { doc: 'The ID of the row, made of the node, the SVM, the name and the UUID of the object.' },
    properties: {
      doc: 'The properties of the object.',
      kind: each({
        name: { kind: text(), doc: 'The name of the property.' },
        value: { kind: text(), doc: 'The value of the property.' },
      }),
    },
    counters: {
      doc: 'The counters of the object.',
      kind: each({
        name: { kind: text(), doc: 'The name of the counter.' },
        value: { kind: count(), doc: 'The number counted so far.' },
        values: { kind: list(count()), doc: 'The numbers counted so far, one for each label.' },
        labels: { kind: list(text()), doc: 'The labels of the values.' },
      }),
    },
    aggregation: { doc: 'How many rows the counters of this row are summed from.', isGroup: true },
    'aggregation.count': { doc: 'The number of objects that the row sums up.', kind: count() },
    'aggregation.complete': { doc: 'Whether the counters of all objects could be read.', kind: flag() },
  },
})

export const counterRows: Behaviour<typeof counterRowsResource> = define(counterRowsResource, {
  async rows(cluster, path) {
    const table = counterTables.find(({ name }) => name === path['counter_table.name'])
    if (table === undefined) throw failure('counterTableNotFound', {}, { target: 'counter_table.name' })
    // Rows of different tables are of different objects, whose UUIDs do not meet.
    const totals = new Map<string, Sums>()
    for (const counted of table.counted) await addTotals(cluster, counted, totals)
    const rows: Row[] = []
    for await (const some of inTurns(cluster.system, await objectsOf(cluster, table))) {
      for (const { id, properties, counted, sums: told = {} } of some) {
        const sums = { ...(await summed(cluster, counted, totals)), ...told }
        rows.push({
          'counter_table.name': table.name,
          id,
          properties: Object.entries(properties).map(([name, value]) => ({ name, value })),
          counters: table.counters.flatMap((counter) => {
            const value = countedOf(counter, sums)
            return value === undefined ? [] : [{ name: counter.name, ...value }]
          }),
          'aggregation.count': Math.max(1, counted.length),
          'aggregation.complete': true,
        })
      }
    }
    return rows
  },
})

async function addTotals(cluster: Cluster, table: CountedTable, totals: Map<string, Sums>): Promise<void> {
  for (let after = ''; ;) {
    const page = await cluster.catalog.counters(table, { after, limit: TOTALS_A_TURN })
    for (const [row, sums] of page) {
      totals.set(row, sums)
      after = row
    }
    if (page.size < TOTALS_A_TURN) return
  }
}

async function summed(cluster: Cluster, counted: readonly string[], totals: ReadonlyMap<string, Sums>): Promise<Sums> {
  if (counted.length === 1) return totals.get(counted[0] ?? '') ?? {}
  const sums: Record<string, number> = {}
  for await (const row of eachInTurns(cluster.system, counted)) {
    for (const [name, value] of Object.entries(totals.get(row) ?? {})) sums[name] = (sums[name] ?? 0) + value
  }
  return sums
}
