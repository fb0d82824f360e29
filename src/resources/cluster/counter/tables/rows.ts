import { aggregateOf } from '../../../../core/aggregate-of.ts'
import { define } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { counterTables, valueOf } from '../../../../core/counter-tables.ts'
import type { CounterTable } from '../../../../core/counter-tables.ts'
import { failures } from '../../../../model/failure.ts'
import { count, each, flag, text } from '../../../../model/kinds/index.ts'
import { type Row, textAt } from '../../../../model/value.ts'

/** ONTAP's code for a table that is not there; tools tell by it that there is nothing to poll. */
const tableNotFound = 8585320

export const counterRows = define(
  {
    path: '/cluster/counter/tables/{counter_table.name}/rows',
    noun: 'counter row',
    doc: 'Counters of one object, from real operations. They only grow; read twice and subtract.',
    since: '9.11.1',
    key: ['id'],
    fields: {
      'counter_table.name': { doc: 'The table.' },
      id: { doc: 'What is counted for: node, SVM, name and UUID, as far as it has them.' },
      properties: {
        doc: 'What describes the object.',
        kind: each({ name: { kind: text(), doc: 'Its name.' }, value: { kind: text(), doc: 'Its value.' } }),
      },
      counters: {
        doc: 'The values.',
        kind: each({ name: { kind: text(), doc: 'The counter.' }, value: { kind: count(), doc: 'Its total so far.' } }),
      },
      'aggregation.count': { doc: 'Of how many objects it is the sum.', kind: count() },
      'aggregation.complete': { doc: 'Whether all of them could be read.', kind: flag() },
    },
  },
  {
    async rows(cluster, path) {
      const table = counterTables.find(({ name }) => name === path['counter_table.name'])
      if (table === undefined) throw failures.notFound('counter table', 'counter_table.name', tableNotFound)
      const totals = await cluster.catalog.counters(table.counted)
      return (await objectsOf(cluster, table)).map(({ id, properties, counted }) => {
        const sums = counted.length === 1 ? (totals.get(counted[0] ?? '') ?? {}) : summed(counted, totals)
        return {
          'counter_table.name': table.name,
          id,
          properties: Object.entries(properties).map(([name, value]) => ({ name, value })),
          counters: table.counters.map((counter) => ({ name: counter.name, value: valueOf(counter, sums) })),
          'aggregation.count': counted.length,
          'aggregation.complete': true,
        }
      })
    },
  },
)

type Sums = Readonly<Record<string, number>>

interface CountedObject {
  readonly id: string
  readonly properties: Readonly<Record<string, string>>
  /** Whose counters it shows, summed. */
  readonly counted: readonly string[]
}

function summed(counted: readonly string[], totals: ReadonlyMap<string, Sums>): Sums {
  const sums: Record<string, number> = {}
  for (const row of counted) {
    for (const [name, value] of Object.entries(totals.get(row) ?? {})) sums[name] = (sums[name] ?? 0) + value
  }
  return sums
}

async function objectsOf(cluster: Cluster, { rowsOf }: CounterTable): Promise<readonly CountedObject[]> {
  const node = textAt((await cluster.rows('cluster/nodes'))[0], 'name')
  switch (rowsOf) {
    case 'volumes':
      return volumeObjects(cluster, node)
    case 'interfaces':
      return interfaceObjects(cluster, node)
    case 'node': {
      const volumes = await cluster.rows('storage/volumes')
      return [{ id: node, properties: { name: node, 'node.name': node }, counted: volumes.map(uuidOf) }]
    }
    case 'svm': {
      const volumes = Map.groupBy(await cluster.rows('storage/volumes'), svmUuidOf)
      return (await cluster.rows('svm/svms')).map((svm) => ({
        id: textAt(svm, 'name'),
        properties: { name: textAt(svm, 'name'), 'svm.name': textAt(svm, 'name') },
        counted: (volumes.get(uuidOf(svm)) ?? []).map(uuidOf),
      }))
    }
    case 'servers':
      return (await cluster.rows('svm/svms')).map((svm) => {
        const [name, uuid] = [textAt(svm, 'name'), uuidOf(svm)]
        const properties = { name, uuid, 'node.name': node, 'svm.name': name }
        return { id: `${node}:${name}:${name}:${uuid}`, properties, counted: [uuid] }
      })
  }
}

async function volumeObjects(cluster: Cluster, node: string): Promise<readonly CountedObject[]> {
  const svms = await namesOf(cluster, 'svm/svms')
  const aggregates = await namesOf(cluster, 'storage/aggregates')
  return (await cluster.rows('storage/volumes')).map((volume) => {
    const [name, uuid, svm] = [textAt(volume, 'name'), uuidOf(volume), svms.get(svmUuidOf(volume)) ?? '']
    const aggregate = aggregates.get(aggregateOf(volume)) ?? ''
    const properties = { name, uuid, 'node.name': node, 'svm.name': svm, parent_aggregate: aggregate }
    return { id: `${node}:${svm}:${name}:${uuid}`, properties, counted: [uuid] }
  })
}

async function interfaceObjects(cluster: Cluster, node: string): Promise<readonly CountedObject[]> {
  const svms = await namesOf(cluster, 'svm/svms')
  return (await cluster.rows('network/ip/interfaces')).map((one) => {
    const [name, uuid, svm] = [textAt(one, 'name'), uuidOf(one), svms.get(svmUuidOf(one)) ?? '']
    const properties = { name, uuid, 'node.name': node, 'svm.name': svm }
    return { id: `${node}:${svm}:${name}:${uuid}`, properties, counted: [uuid] }
  })
}

const uuidOf = (row: Row): string => textAt(row, 'uuid')
const svmUuidOf = (row: Row): string => textAt(row, 'svm.uuid')

async function namesOf(cluster: Cluster, type: string): Promise<ReadonlyMap<string, string>> {
  return new Map((await cluster.rows(type)).map((row) => [uuidOf(row), textAt(row, 'name')]))
}
